import openIcon from 'virtual:icon/chevron-down';
import closedIcon from 'virtual:icon/chevron-right';
import shelvedIcon from 'virtual:icon/clock-pause';
import personIcon from 'virtual:icon/user-check';
import { memo, type ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { labelPair } from '#contract/history/labels.ts';
import type { AlarmRow } from '#web/dashboard/api/alarm-list.ts';
import { Icon } from '#web/dashboard/components/icon.tsx';
import { LevelMark, useLevelLook } from '#web/dashboard/components/level-mark.tsx';
import { actorText } from '#web/dashboard/formats/formats.ts';
import { useFormats } from '#web/dashboard/formats/use-formats.tsx';
import { type OnRefine, RefineChip, type RowLayout } from '#web/dashboard/notifications/notification-row.tsx';
import { type AlarmGroup, type Grouping, type ListLine, rowsOf, summaryOf } from './alarm-groups.ts';
import styles from './alarm-rows.module.css';

/** A row shows the beginning of the message. */
const messageChars = 240;
const mostLabels = 3;

export interface LineProps {
  readonly line: ListLine;
  readonly index: number;
  readonly top: number;
  readonly layout: RowLayout;
  readonly grouping: Grouping;
  readonly isActive: boolean;
  readonly selected: 'all' | 'some' | 'none';
  readonly maySelect: boolean;
  readonly now: number;
  readonly onRefine: OnRefine;
}

export const lineId = (key: string): string => `alarm-${key.replaceAll(/\s/g, '-')}`;

/** One line of the list: an alarm, or a group. */
export const Line = memo(function Line(props: LineProps) {
  const { line, index, top, layout, isActive, selected } = props;
  const isGroup = 'group' in line;
  const classes = [
    styles.row,
    styles[layout],
    isGroup && styles.group,
    !isGroup && line.isInGroup && styles.inside,
    !isGroup && line.row.hasLeft && styles.left,
    selected === 'all' && styles.selected,
    isActive && styles.active,
  ];
  return (
    <div
      role="row"
      id={lineId(line.key)}
      data-line={index}
      aria-rowindex={index + 2}
      aria-level={!isGroup && line.isInGroup ? 2 : 1}
      aria-selected={selected === 'all'}
      {...(isGroup && { 'aria-expanded': line.isOpen })}
      className={classes.filter(Boolean).join(' ')}
      style={{ transform: `translateY(${top}px)` }}
    >
      {props.maySelect && <SelectCell {...props} />}
      {isGroup ? (
        <GroupCells {...props} group={line.group} isOpen={line.isOpen} />
      ) : (
        <AlarmCells {...props} row={line.row} />
      )}
    </div>
  );
});

function SelectCell({ line, selected }: LineProps) {
  const { t } = useTranslation('alarms');
  const title = 'group' in line ? line.group.title : line.row.alarm.title;
  return (
    <div role="gridcell" className={styles.select}>
      <input
        type="checkbox"
        data-select
        tabIndex={-1}
        className={styles.box}
        aria-label={t('selectOne', { title })}
        ref={(box) => {
          if (box) box.indeterminate = selected === 'some';
        }}
        checked={selected === 'all'}
        // The list selects: it knows the range of a Shift-click.
        onChange={() => undefined}
      />
    </div>
  );
}

function AlarmCells({ row, layout, now, onRefine }: LineProps & { row: AlarmRow }) {
  const { alarm } = row;
  const { level, title, message, host, labels } = alarm;
  const what = (
    <>
      <strong dir="auto">{title}</strong>
      <Times count={alarm.count} />
      <bdi className={styles.message}>{message.slice(0, messageChars)}</bdi>
    </>
  );
  if (layout === 'card')
    return (
      <CardCells
        level={level}
        title={<strong dir="auto">{title}</strong>}
        age={<Age since={alarm.since} now={now} />}
      >
        <span dir="auto">
          {host !== null && <bdi className={styles.cardHost}>{host}</bdi>} <Times count={alarm.count} />{' '}
          {message.slice(0, messageChars)}
        </span>
        <Who row={row} short />
      </CardCells>
    );
  return (
    <>
      <div role="gridcell" className={styles.level}>
        <LevelMark name={level} />
      </div>
      <div role="gridcell" className={styles.what}>
        {what}
      </div>
      <div role="gridcell" className={styles.mono}>
        {host !== null && <RefineChip inRow refineKey="host" value={host} onRefine={onRefine} />}
      </div>
      <LabelsCell labels={labels} layout={layout} onRefine={onRefine} />
      <div role="gridcell" className={styles.who}>
        <Who row={row} />
      </div>
      <div role="gridcell" className={styles.quiet}>
        <Age since={alarm.since} now={now} />
      </div>
    </>
  );
}

function GroupCells({
  group,
  isOpen,
  layout,
  now,
  grouping,
  onRefine,
}: LineProps & { group: AlarmGroup; isOpen: boolean }) {
  const { t } = useTranslation('alarms');
  const formats = useFormats();
  const look = useLevelLook();
  const { hosts, labels, acknowledged, shelvedUntil, since } = summaryOf(group);
  const { rows } = group;
  const level = rows[0]?.alarm.level ?? '';
  const total = formats.number(rows.length);
  const byHost = grouping === 'similar' && hosts.length > 1;
  const size = byHost
    ? t('hosts', { count: hosts.length, number: formats.number(hosts.length) })
    : t('alarmCount', { count: rows.length, number: total });
  const title = (
    <>
      <Icon paths={isOpen ? openIcon : closedIcon} size={15} />
      <strong dir="auto">{group.title || <Without grouping={grouping} />}</strong>
      <span className={styles.size} style={{ color: look(level).color }}>
        {size}
      </span>
    </>
  );
  const range = hosts.length < 2 ? (hosts[0] ?? '') : `${hosts[0]} … ${hosts.at(-1)}`;
  const who =
    shelvedUntil !== undefined ? (
      <span className={styles.person}>
        <Icon paths={shelvedIcon} size={14} />
        <span>{t('shelvedUntil', { time: formats.dayTime(shelvedUntil) })}</span>
      </span>
    ) : acknowledged === 0 ? (
      <span className={styles.quiet}>{t('nobody')}</span>
    ) : (
      <span className={styles.quiet} title={t('acknowledgedOfHint', { acknowledged, total })}>
        {t('acknowledgedOf', { acknowledged: formats.number(acknowledged), total })}
      </span>
    );
  if (layout === 'card')
    return (
      <CardCells
        level={level}
        title={<span className={styles.cardGroup}>{title}</span>}
        age={<Age since={since} now={now} />}
      >
        <span className={styles.mono}>{range}</span>
        {who}
      </CardCells>
    );
  return (
    <>
      <div role="gridcell" className={styles.level}>
        <LevelMark name={level} />
      </div>
      <div role="gridcell" className={styles.what}>
        {title}
      </div>
      <div role="gridcell" className={`${styles.mono} ${styles.quiet}`} title={range}>
        {range}
      </div>
      <LabelsCell labels={labels} layout={layout} onRefine={onRefine} />
      <div role="gridcell" className={styles.who}>
        {who}
      </div>
      <div role="gridcell" className={styles.quiet}>
        <Age since={since} now={now} />
      </div>
    </>
  );
}

function Without({ grouping }: { grouping: Grouping }) {
  const { t } = useTranslation('alarms');
  return grouping === 'host' ? t('noHost') : t('noLabel', { name: grouping.slice('label:'.length) });
}

/** Two lines on a narrow screen: the title with its age, and where it is with who takes care of it. */
function CardCells({
  level,
  title,
  age,
  children,
}: {
  level: string;
  title: ReactNode;
  age: ReactNode;
  children: ReactNode;
}) {
  return (
    <>
      <div role="gridcell" className={styles.cardIcon}>
        <LevelMark name={level} iconOnly />
      </div>
      <div role="gridcell" className={styles.cardBody}>
        <div className={styles.cardLine}>
          {title}
          <span className={styles.quiet}>{age}</span>
        </div>
        <div className={`${styles.cardLine} ${styles.quiet}`}>{children}</div>
      </div>
    </>
  );
}

function LabelsCell({
  labels,
  layout,
  onRefine,
}: {
  labels: Readonly<Record<string, string>>;
  layout: RowLayout;
  onRefine: OnRefine;
}) {
  if (layout === 'narrow' || layout === 'card') return null;
  const pairs = Object.entries(labels).map(([name, value]) => labelPair(name, value));
  return (
    <div role="gridcell" className={styles.labels} title={pairs.join('\n')}>
      {pairs.slice(0, mostLabels).map((pair) => (
        <span key={pair} className={styles.tag}>
          <RefineChip inRow quiet refineKey="label" value={pair} onRefine={onRefine} />
        </span>
      ))}
    </div>
  );
}

/** How many notifications it has. */
function Times({ count }: { count: number }) {
  const { t } = useTranslation('alarms');
  const formats = useFormats();
  if (count === 1) return null;
  const number = formats.number(count);
  return (
    <span className={styles.times} title={t('timesHint', { number })}>
      {t('times', { number })}
    </span>
  );
}

/** Who takes care of it, or until when it is shelved. */
function Who({ row: { alarm }, short = false }: { row: AlarmRow; short?: boolean }) {
  const { t } = useTranslation('alarms');
  const formats = useFormats();
  const { state, acknowledged, shelved } = alarm;
  if (state === 'ended') return <span className={styles.quiet}>{t('ended')}</span>;
  if (state === 'shelved' && shelved)
    return (
      <span
        className={styles.person}
        title={[
          t('shelvedBy', { by: actorText(shelved.by), time: formats.dateTime(shelved.until) }),
          shelved.note,
        ].join('\n')}
      >
        <Icon paths={shelvedIcon} size={14} />
        <span>{t('shelvedUntil', { time: formats.dayTime(shelved.until) })}</span>
        {!short && shelved.note !== null && <bdi className={styles.note}>{shelved.note}</bdi>}
      </span>
    );
  if (acknowledged) {
    const by = actorText(acknowledged.by);
    return (
      <span className={styles.person} title={acknowledged.note === null ? by : `${by}: ${acknowledged.note}`}>
        <Icon paths={personIcon} size={14} />
        <bdi>{by}</bdi>
        {!short && acknowledged.note !== null && <bdi className={styles.note}>{acknowledged.note}</bdi>}
      </span>
    );
  }
  return <span className={styles.quiet}>{t('nobody')}</span>;
}

const dayMs = 86_400_000;
const hourMs = 3_600_000;
const minuteMs = 60_000;

/** Without seconds once it is a minute, and without minutes once it is a day. */
export function ageMs(since: string, now: number): number {
  const age = Math.max(0, now - Date.parse(since));
  const unit = age >= dayMs ? hourMs : age >= minuteMs ? minuteMs : 1_000;
  return Math.floor(age / unit) * unit;
}

function Age({ since, now }: { since: string; now: number }) {
  const formats = useFormats();
  return (
    <time dateTime={since} title={formats.dateTime(since)}>
      {formats.duration(ageMs(since, now))}
    </time>
  );
}

/** How much of a line is selected. */
export function selectedOf(line: ListLine, keys: ReadonlySet<string>): LineProps['selected'] {
  if (keys.size === 0) return 'none';
  const rows = rowsOf(line);
  const count = rows.filter(({ key }) => keys.has(key)).length;
  if (count === 0) return 'none';
  return count === rows.length ? 'all' : 'some';
}
