import openIcon from 'virtual:icon/chevron-down';
import closedIcon from 'virtual:icon/chevron-right';
import shelvedIcon from 'virtual:icon/clock-pause';
import { memo } from 'react';
import { useTranslation } from 'react-i18next';
import type { AlarmRow } from '#web/dashboard/api/alarm-list.ts';
import { Icon } from '#web/dashboard/components/icon.tsx';
import { LevelMark, useLevelLook } from '#web/dashboard/components/level-mark.tsx';
import { useFormats } from '#web/dashboard/formats/use-formats.tsx';
import { type OnRefine, RefineChip, type RowLayout } from '#web/dashboard/notifications/notification-row.tsx';
import { Age, CardCells, LabelsCell, Times, Who } from './alarm-cells.tsx';
import { type AlarmGroup, type Grouping, type ListLine, rowsOf, summaryOf } from './alarm-groups.ts';
import styles from './alarm-rows.module.css';

/** A row shows the beginning of the message. */
const messageChars = 240;

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

/** How much of a line is selected. */
export function selectedOf(line: ListLine, keys: ReadonlySet<string>): LineProps['selected'] {
  if (keys.size === 0) return 'none';
  const rows = rowsOf(line);
  const count = rows.filter(({ key }) => keys.has(key)).length;
  if (count === 0) return 'none';
  return count === rows.length ? 'all' : 'some';
}
