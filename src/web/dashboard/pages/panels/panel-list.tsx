import onlineIcon from 'virtual:icon/circle-check';
import neverIcon from 'virtual:icon/clock';
import offlineIcon from 'virtual:icon/plug-connected-x';
import { iconPaths } from 'virtual:icons';
import { Button, SegmentedControl } from '@mantine/core';
import { useIntersection } from '@mantine/hooks';
import { useQuery } from '@tanstack/react-query';
import { memo, useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { Panel, PanelShowing } from '#contract/panel.ts';
import { panelShowingQuery } from '#web/dashboard/api/queries.ts';
import { useTenant } from '#web/dashboard/api/tenant.tsx';
import { Ago } from '#web/dashboard/components/ago.tsx';
import { StateMark } from '#web/dashboard/components/facts.tsx';
import { useFormats } from '#web/dashboard/components/formats.ts';
import { Icon } from '#web/dashboard/components/icon.tsx';
import { useLevelLook } from '#web/dashboard/components/level-mark.tsx';
import {
  FilterField,
  OpeningRow,
  RowButton,
  RowTable,
  useRowKeys,
} from '#web/dashboard/components/row-table.tsx';
import { CommandButtons, useCommandToast } from './panel-commands.tsx';
import styles from './panel-list.module.css';

const states = ['all', 'online', 'offline'] as const;
/** Thousands of rows would make the page slow. */
const pageRows = 200;

/** @param props.panels undefined until they have been read. */
export function PanelList({
  panels,
  onOpen,
}: {
  panels: readonly Panel[] | undefined;
  onOpen: (id: string) => void;
}) {
  const { t } = useTranslation('panels');
  const [filter, setFilter] = useState('');
  const [state, setState] = useState<(typeof states)[number]>('all');
  const [most, setMost] = useState(pageRows);
  const rows = useRowKeys<HTMLTableElement>();
  const wanted = filter.trim().toLowerCase();
  const all = panels ?? [];
  const online = all.filter((panel) => panel.online).length;
  const counts = { all: all.length, online, offline: all.length - online };
  const shown = all.filter(
    (panel) => (state === 'all' || panel.online === (state === 'online')) && matches(panel, wanted),
  );
  return (
    <>
      <div className={styles.tools}>
        <FilterField label={t('filter')} value={filter} onChange={setFilter} onEnterList={rows.enter} />
        <SegmentedControl
          size="xs"
          aria-label={t('state')}
          value={state}
          onChange={setState}
          data={states.map((each) => ({
            value: each,
            label: panels ? `${t(`only.${each}`)} ${counts[each]}` : t(`only.${each}`),
          }))}
        />
      </div>
      <PanelTable rows={rows} panels={panels && shown.slice(0, most)} onOpen={onOpen} />
      {shown.length > most && (
        <Button mt="sm" onClick={() => setMost(most + pageRows)}>
          {t('showMore', { count: shown.length - most })}
        </Button>
      )}
    </>
  );
}

function PanelTable({
  rows,
  panels,
  onOpen,
}: {
  rows: ReturnType<typeof useRowKeys<HTMLTableElement>>;
  panels: readonly Panel[] | undefined;
  onOpen: (id: string) => void;
}) {
  const { t } = useTranslation('panels');
  const { may } = useTenant();
  return (
    <RowTable
      rows={rows}
      caption={t('panels')}
      className={styles.table}
      isWaiting={!panels}
      nothing={panels?.length === 0 && t('noneMatch')}
      hint={[t('keys'), may('member') && t('keys.member'), may('admin') && t('keys.admin')]
        .filter(Boolean)
        .join(' · ')}
      head={
        <>
          <th className={styles.state}>
            <span className={styles.word}>{t('state')}</span>
          </th>
          <th>{t('name')}</th>
          <th className={styles.shows}>{t('shows')}</th>
          <th className={styles.tags}>{t('tags')}</th>
          <th className={styles.seen}>{t('seen')}</th>
          <th className={styles.lag} title={t('lagHint')}>
            {t('lag')}
          </th>
          <th className={styles.version}>{t('version')}</th>
          <th className={styles.address}>{t('address')}</th>
          {may('member') && (
            <th className={styles.actions}>
              <span className="hidden">{t('actions')}</span>
            </th>
          )}
        </>
      }
    >
      {panels?.map((panel) => (
        <PanelTableRow key={panel.id} panel={panel} onOpen={onOpen} />
      ))}
    </RowTable>
  );
}

const matches = ({ name, location, tags, address }: Panel, wanted: string) =>
  wanted === '' ||
  [name, location ?? '', address ?? '', ...tags].some((text) => text.toLowerCase().includes(wanted));

const PanelTableRow = memo(function PanelTableRow({
  panel,
  onOpen,
}: {
  panel: Panel;
  onOpen: (id: string) => void;
}) {
  const formats = useFormats();
  const { may } = useTenant();
  const { ref, entry } = useIntersection<HTMLTableRowElement>({ rootMargin: '200px' });
  const command = useCommandToast(panel);
  const open = () => onOpen(panel.id);
  return (
    <OpeningRow ref={ref} onOpen={open}>
      <td className={styles.state}>
        <PanelMark panel={panel} />
      </td>
      <td>
        <RowButton
          onOpen={open}
          onKeyDown={(event) => {
            if (event.key === 'i' && may('member')) command('identify');
          }}
        >
          <strong>
            <bdi>{panel.name}</bdi>
          </strong>{' '}
          {panel.location !== null && <bdi className={styles.location}>{panel.location}</bdi>}
        </RowButton>
      </td>
      <td className={styles.shows}>{entry?.isIntersecting && <ShowingCounts id={panel.id} />}</td>
      <td className={styles.tags} title={panel.tags.join(', ')}>
        {panel.tags.map((tag) => (
          <span key={tag} className="chip">
            {tag}
          </span>
        ))}
      </td>
      <td className={styles.seen}>{panel.lastSeenAt !== null && <Ago at={panel.lastSeenAt} />}</td>
      <td className={`${styles.lag} ${panel.lag === 0 ? 'muted' : ''}`}>{formats.number(panel.lag)}</td>
      <td className={`${styles.version} mono`} title={panel.version ?? undefined}>
        {panel.version}
      </td>
      <td className={`${styles.address} mono`} title={panel.address ?? undefined}>
        {panel.address}
      </td>
      {may('member') && (
        <td className={`${styles.actions} ${styles.actionsCell}`}>
          <CommandButtons panel={panel} onCommand={command} />
        </td>
      )}
    </OpeningRow>
  );
});

const mostLevels = 4;

/** What a panel shows now: a count for each level, the most serious first. */
function ShowingCounts({ id }: { id: string }) {
  const { t } = useTranslation('panels');
  const lookOf = useLevelLook();
  const { data } = useQuery(panelShowingQuery(useTenant(), id));
  if (!data) return null;
  const counts = countByLevel(data);
  const rest = counts.slice(mostLevels).reduce((sum, { count }) => sum + count, data.more);
  if (counts.length === 0) return <span className="muted">{t('quiet')}</span>;
  return (
    <span className={styles.counts}>
      {counts.slice(0, mostLevels).map(({ level, count }) => {
        const { word, icon, color } = lookOf(level);
        return (
          <span key={level} className={styles.count} style={{ color }} title={`${count} ${word}`}>
            <Icon paths={iconPaths[icon] ?? iconPaths.bell ?? []} size={15} />
            {count}
            <span className="hidden"> {word}</span>
          </span>
        );
      })}
      {rest > 0 && <span className="muted">+{rest}</span>}
    </span>
  );
}

function countByLevel({ notifications }: Pick<PanelShowing, 'notifications'>) {
  const counts = new Map<string, { level: string; rank: number; count: number }>();
  for (const { level, rank } of notifications) {
    const entry = counts.get(level) ?? { level, rank, count: 0 };
    entry.count += 1;
    counts.set(level, entry);
  }
  return [...counts.values()].sort((a, b) => b.rank - a.rank);
}

const looks = {
  online: { icon: onlineIcon, tone: 'good' },
  offline: { icon: offlineIcon, tone: 'doubtful' },
  never: { icon: neverIcon, tone: 'quiet' },
} as const;

function stateOf({ online, lastSeenAt }: Pick<Panel, 'online' | 'lastSeenAt'>): keyof typeof looks {
  if (online) return 'online';
  return lastSeenAt === null ? 'never' : 'offline';
}

/** Whether a panel is connected: word, icon and colour. */
export function PanelMark({ panel }: { panel: Panel }) {
  const { t } = useTranslation('panels');
  const state = stateOf(panel);
  return (
    <StateMark {...looks[state]} title={t(`state.${state}.hint`)}>
      <span className={styles.word}>{t(`state.${state}`)}</span>
    </StateMark>
  );
}
