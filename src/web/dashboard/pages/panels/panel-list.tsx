import identifyIcon from 'virtual:icon/bulb';
import onlineIcon from 'virtual:icon/circle-check';
import neverIcon from 'virtual:icon/clock';
import testIcon from 'virtual:icon/device-tv-old';
import offlineIcon from 'virtual:icon/plug-connected-x';
import reloadIcon from 'virtual:icon/refresh';
import { iconPaths } from 'virtual:icons';
import { ActionIcon, Button, Group, SegmentedControl } from '@mantine/core';
import { useIntersection } from '@mantine/hooks';
import { type UseQueryResult, useMutation, useQuery } from '@tanstack/react-query';
import { memo, type ReactNode, useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { Panel, PanelCommand, PanelShowing } from '#contract/panels/panel.ts';
import { sentenceOf } from '#web/dashboard/api/call.ts';
import { panelPath, panelShowingQuery } from '#web/dashboard/api/queries.ts';
import { useTenant } from '#web/dashboard/api/tenant.tsx';
import { StateMark } from '#web/dashboard/components/facts.tsx';
import { Icon } from '#web/dashboard/components/icon.tsx';
import { useLevelLook } from '#web/dashboard/components/level-mark.tsx';
import { showFailure, showToast } from '#web/dashboard/components/notice.tsx';
import { type Column, RowButton, RowTable } from '#web/dashboard/components/row-table.tsx';
import { Ago, useFormats } from '#web/dashboard/formats/use-formats.tsx';
import styles from './panels.module.css';

const states = ['all', 'online', 'offline'] as const;
export function PanelList({
  query,
  empty,
  onOpen,
}: {
  query: UseQueryResult<Panel[]>;
  empty: ReactNode;
  onOpen: (id: string) => void;
}) {
  const { t } = useTranslation('panels');
  const formats = useFormats();
  const { may } = useTenant();
  const [state, setState] = useState<(typeof states)[number]>('all');
  const all = query.data ?? [];
  const online = all.filter((panel) => panel.online).length;
  const counts = { all: all.length, online, offline: all.length - online };
  const word = <span className={styles.word}>{t('state')}</span>;
  return (
    <RowTable
      query={query}
      empty={empty}
      caption={t('panels')}
      className={styles.table}
      filter={{
        label: t('filter'),
        textsOf: ({ name, topic, location, tags, address }) => [name, topic, location, address, ...tags],
        noneMatch: t('noneMatch'),
      }}
      tools={
        <SegmentedControl
          size="xs"
          aria-label={t('state')}
          value={state}
          onChange={setState}
          data={states.map((each) => ({
            value: each,
            label: query.data ? `${t(`only.${each}`)} ${counts[each]}` : t(`only.${each}`),
          }))}
        />
      }
      where={(panel) => state === 'all' || panel.online === (state === 'online')}
      keys={[may('member') && t('keys.member'), may('admin') && t('keys.admin')]}
      keyOf={({ id }) => id}
      onOpen={onOpen}
      columns={[
        [word, (panel) => <PanelMark panel={panel} />, styles.state],
        [t('name'), (panel) => <PanelName panel={panel} />],
        [t('shows'), ({ id }) => <ShowingCounts id={id} />, styles.shows],
        [t('tags'), ({ tags }) => <Tags tags={tags} />, styles.tags, ({ tags }) => tags.join(', ')],
        [t('seen'), ({ lastSeenAt }) => <Ago at={lastSeenAt} />, styles.seen],
        [
          <span key="lag" title={t('lagHint')}>
            {t('lag')}
          </span>,
          ({ lag }) => <span className={lag === 0 ? 'muted' : ''}>{formats.number(lag)}</span>,
          styles.lag,
        ],
        [t('version'), ({ version }) => <Mono text={version} />, styles.version, ({ version }) => version],
        [t('address'), ({ address }) => <Mono text={address} />, styles.address, ({ address }) => address],
        ...(may('member') ? [commands(t('actions'))] : []),
      ]}
    />
  );
}

const commands = (title: string): Column<Panel> => [
  <span key="actions" className="hidden">
    {title}
  </span>,
  (panel) => panel.kind === 'screen' && <CommandButtons panel={panel} />,
  styles.actions,
];

const Mono = ({ text }: { text: string | null }) => <span className="mono">{text}</span>;

const Tags = ({ tags }: { tags: readonly string[] }) =>
  tags.map((tag) => (
    <span key={tag} className="chip">
      {tag}
    </span>
  ));

/** The cells are memoized: a key in the filter draws the table anew, and a table can have hundreds of rows. */
const PanelName = memo(function PanelName({ panel }: { panel: Panel }) {
  const { t } = useTranslation('panels');
  const { may } = useTenant();
  const command = useCommandToast(panel);
  return (
    <RowButton
      name={panel.name}
      onKeyDown={({ key }) => {
        if (key === 'i' && may('member') && panel.kind === 'screen') command('identify');
      }}
    >
      {panel.kind !== 'screen' && (
        <span className={styles.location}>
          {t(`kind.${panel.kind}`)} · <span className="mono">{panel.topic}</span>
        </span>
      )}
      {panel.location !== null && <bdi className={styles.location}>{panel.location}</bdi>}
    </RowButton>
  );
});

const mostLevels = 4;

/** What a panel shows now: a count for each level, the most serious first. Only of rows in sight. */
const ShowingCounts = memo(function ShowingCounts({ id }: { id: string }) {
  const { t } = useTranslation('panels');
  const lookOf = useLevelLook();
  const { ref, entry } = useIntersection<HTMLSpanElement>({ rootMargin: '200px' });
  const { data } = useQuery({
    ...panelShowingQuery(useTenant(), id),
    enabled: entry?.isIntersecting === true,
  });
  const counts = data ? countByLevel(data) : [];
  const rest = counts.slice(mostLevels).reduce((sum, { count }) => sum + count, data?.more ?? 0);
  return (
    <span ref={ref} className={styles.counts}>
      {data && counts.length === 0 && <span className="muted">{t('quiet')}</span>}
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
      {rest > 0 && counts.length > 0 && <span className="muted">+{rest}</span>}
    </span>
  );
});

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
export const PanelMark = memo(function PanelMark({ panel }: { panel: Panel }) {
  const { t } = useTranslation('panels');
  const state = stateOf(panel);
  return (
    <StateMark {...looks[state]} title={t(`state.${state}.hint`)}>
      <span className={styles.word}>{t(`state.${state}`)}</span>
    </StateMark>
  );
});

const commandIcons: Readonly<Record<PanelCommand, readonly string[]>> = {
  identify: identifyIcon,
  test: testIcon,
  reload: reloadIcon,
};
const commandsInOrder: readonly PanelCommand[] = ['identify', 'test', 'reload'];

/** Sends a command to a panel; resolves with a sentence about the result. Never throws. */
function useCommand({ id, name }: Panel) {
  const { t } = useTranslation('panels');
  const { api } = useTenant();
  const { mutateAsync, isPending } = useMutation({
    mutationFn: (command: PanelCommand) => api.post<{ reached: boolean }>(`${panelPath(id)}/${command}`),
  });
  const run = async (command: PanelCommand): Promise<{ ok: boolean; text: string }> => {
    try {
      const { reached } = await mutateAsync(command);
      return { ok: reached, text: t(reached ? `reached.${command}` : 'notReached', { name }) };
    } catch (error) {
      return { ok: false, text: sentenceOf(error) };
    }
  };
  return { run, busy: isPending };
}

/** As {@link useCommand}, with a toast. */
function useCommandToast(panel: Panel): (command: PanelCommand) => void {
  const { run } = useCommand(panel);
  return (command) =>
    void run(command).then(({ ok, text }) =>
      ok ? showToast({ message: text, autoClose: 5_000 }) : showFailure({ message: text }),
    );
}

const CommandButtons = memo(function CommandButtons({ panel }: { panel: Panel }) {
  const { t } = useTranslation('panels');
  const onCommand = useCommandToast(panel);
  return (
    <div className={styles.buttons}>
      {commandsInOrder.map((command) => (
        <ActionIcon
          key={command}
          size="md"
          aria-label={`${t(`command.${command}`)}: ${panel.name}`}
          title={t(`command.${command}.hint`)}
          onClick={() => onCommand(command)}
        >
          <Icon paths={commandIcons[command]} />
        </ActionIcon>
      ))}
    </div>
  );
});

/** The commands for a panel, and the result of the last. */
export function CommandRow({ panel }: { panel: Panel }) {
  const { t } = useTranslation('panels');
  const { run, busy } = useCommand(panel);
  const [outcome, setOutcome] = useState<{ ok: boolean; text: string }>();
  return (
    <div className={styles.commands}>
      <Group gap="xs">
        {commandsInOrder.map((command) => (
          <Button
            key={command}
            size="xs"
            disabled={busy}
            title={t(`command.${command}.hint`)}
            leftSection={<Icon paths={commandIcons[command]} />}
            onClick={() => void run(command).then(setOutcome)}
          >
            {t(`command.${command}`)}
          </Button>
        ))}
      </Group>
      <p role="status" className={outcome && !outcome.ok ? styles.refused : styles.outcome}>
        {outcome?.text}
      </p>
    </div>
  );
}
