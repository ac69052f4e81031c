import { useTranslation } from 'react-i18next';
import type { Level } from '#contract/level.ts';
import { useTenant } from '#web/dashboard/api/tenant.tsx';
import { useFormats } from '#web/dashboard/pieces/formats.ts';
import { LevelMark } from '#web/dashboard/pieces/level-mark.tsx';
import { useRowKeys } from '#web/dashboard/pieces/rows/row-keys.ts';
import { OpeningRow, RowButton, RowTable } from '#web/dashboard/pieces/rows/row-table.tsx';
import { LevelStub } from './card-preview.tsx';
import styles from './levels.module.css';
import { SoundButton } from './sound-button.tsx';

/** @param props.levels the highest in rank first; undefined until they are here. */
export function LevelList({
  levels,
  onOpen,
}: {
  levels: readonly Level[] | undefined;
  onOpen: (name: string) => void;
}) {
  const { t } = useTranslation('levels');
  const { may } = useTenant();
  const rows = useRowKeys<HTMLTableElement>();
  return (
    <RowTable
      rows={rows}
      caption={t('title')}
      isWaiting={!levels}
      hint={may('admin') ? `${t('keys')} · ${t('keys.admin')}` : t('keys')}
      head={
        <>
          <th className={styles.rank}>{t('rank')}</th>
          <th>{t('level')}</th>
          <th className={styles.preview}>{t('onPanels')}</th>
          <th className={styles.duration}>{t('duration')}</th>
          <th className={styles.sound}>{t('sound')}</th>
          <th className={styles.kind}>{t('kind')}</th>
        </>
      }
    >
      {levels?.map((level) => (
        <Row key={level.name} level={level} onOpen={() => onOpen(level.name)} />
      ))}
    </RowTable>
  );
}

function Row({ level, onOpen }: { level: Level; onOpen: () => void }) {
  const { t } = useTranslation('levels');
  const formats = useFormats();
  return (
    <OpeningRow onOpen={onOpen}>
      <td className={`${styles.rank} mono muted`}>{level.rank}</td>
      <td>
        <RowButton onOpen={onOpen}>
          <LevelMark name={level.name} as={level} />
        </RowButton>
      </td>
      <td className={styles.preview}>
        <span className={styles.stubs} aria-hidden="true">
          <LevelStub level={level} scheme="dark" />
          <LevelStub level={level} scheme="light" />
        </span>
      </td>
      <td className={styles.duration}>
        {level.durationMs === 0 ? t('untilCleared') : formats.duration(level.durationMs)}
      </td>
      <td className={styles.sound}>
        <SoundButton sound={level.sound} level={level.name} />
      </td>
      <td className={`${styles.kind} muted`}>{t(level.builtIn ? 'builtIn' : 'custom')}</td>
    </OpeningRow>
  );
}
