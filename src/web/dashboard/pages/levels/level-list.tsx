import { useTranslation } from 'react-i18next';
import type { Level } from '../../../../contract/level.ts';
import { useTenant } from '../../api/tenant.tsx';
import { useFormats } from '../../pieces/formats.ts';
import { LevelMark } from '../../pieces/level-mark.tsx';
import { useRowKeys } from '../../pieces/row-keys.ts';
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
    <>
      <table className={`table ${styles.table}`} ref={rows.ref} onKeyDown={rows.onKeyDown}>
        <caption className="hidden">{t('title')}</caption>
        <thead>
          <tr>
            <th className={styles.rank}>{t('rank')}</th>
            <th>{t('level')}</th>
            <th className={styles.preview}>{t('onPanels')}</th>
            <th className={styles.duration}>{t('duration')}</th>
            <th className={styles.sound}>{t('sound')}</th>
            <th className={styles.kind}>{t('kind')}</th>
          </tr>
        </thead>
        <tbody>
          {levels?.map((level) => (
            <Row key={level.name} level={level} onOpen={() => onOpen(level.name)} />
          ))}
          {!levels &&
            [1, 2, 3, 4, 5].map((row) => (
              <tr key={row}>
                <td colSpan={6}>
                  <div className={styles.skeleton} />
                </td>
              </tr>
            ))}
        </tbody>
      </table>
      <p className={styles.hint} aria-hidden="true">
        {t('keys')}
        {may('admin') && ` · ${t('keys.admin')}`}
      </p>
    </>
  );
}

function Row({ level, onOpen }: { level: Level; onOpen: () => void }) {
  const { t } = useTranslation('levels');
  const formats = useFormats();
  return (
    <tr onClick={onOpen}>
      <td className={`${styles.rank} mono muted`}>{level.rank}</td>
      <td>
        <button
          type="button"
          data-row
          className={styles.open}
          onClick={(event) => {
            event.stopPropagation();
            onOpen();
          }}
        >
          <LevelMark name={level.name} as={level} />
        </button>
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
      {/* biome-ignore lint/a11y/useKeyWithClickEvents: it only keeps a click on the button from opening the row */}
      <td className={styles.sound} onClick={(event) => event.stopPropagation()}>
        <SoundButton sound={level.sound} level={level.name} />
      </td>
      <td className={`${styles.kind} muted`}>{t(level.builtIn ? 'builtIn' : 'custom')}</td>
    </tr>
  );
}
