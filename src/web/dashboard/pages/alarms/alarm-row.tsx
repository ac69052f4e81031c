import openIcon from 'virtual:icon/chevron-down';
import closedIcon from 'virtual:icon/chevron-right';
import shelvedIcon from 'virtual:icon/clock-pause';
import ownerIcon from 'virtual:icon/user';
import personIcon from 'virtual:icon/user-check';
import { memo, type ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import type { Alarm } from '#contract/history/alarm.ts';
import type { AlarmRow } from '#web/dashboard/api/alarm-list.ts';
import { Icon } from '#web/dashboard/components/icon.tsx';
import { LevelMark, useLevelLook } from '#web/dashboard/components/level-mark.tsx';
import { actorText } from '#web/dashboard/formats/formats.ts';
import { useFormats } from '#web/dashboard/formats/use-formats.tsx';
import shared from '#web/dashboard/notifications/list-frame.module.css';
import { CardCells, type RowLayout } from '#web/dashboard/notifications/list-frame.tsx';
import { type OnRefine, RefineChip } from '#web/dashboard/notifications/notification-row.tsx';
import { Age, Cause, LabelsCell, ShownOn, Suppresses, Times, Who } from './alarm-cells.tsx';
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
  readonly onShow: (id: string) => void;
}

export const lineId = (key: string): string => `alarm-${key.replaceAll(/\s/g, '-')}`;

/** One line of the list: an alarm, or a group. */
export const Line = memo(function Line(props: LineProps) {
  const { line, index, top, layout, isActive, selected } = props;
  const isGroup = 'group' in line;
  const classes = [
    shared.row,
    styles.row,
    layout === 'card' && shared.card,
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

interface CellsProps {
  readonly level: string;
  readonly title: ReactNode;
  /** Beside the title where there is room. */
  readonly details?: ReactNode;
  readonly host: ReactNode;
  /** On a narrow screen, below the title, in the place of host and details. */
  readonly place: ReactNode;
  readonly labels: Readonly<Record<string, string>>;
  readonly who: ReactNode;
  readonly shownOn: Alarm['shownOn'];
  readonly since: string;
}

/** The cells of an alarm or a group, each in a column, or in two lines on a narrow screen. */
function Cells({
  layout,
  now,
  onRefine,
  level,
  title,
  details,
  host,
  place,
  labels,
  who,
  shownOn,
  since,
}: CellsProps & Pick<LineProps, 'layout' | 'now' | 'onRefine'>) {
  const age = <Age since={since} now={now} />;
  if (layout === 'card')
    return (
      <CardCells level={level} title={title} time={age}>
        {place}
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
        {details}
      </div>
      <div role="gridcell" className={shared.mono}>
        {host}
      </div>
      <LabelsCell labels={labels} layout={layout} onRefine={onRefine} />
      <div role="gridcell">{who}</div>
      {layout === 'roomy' && (
        <div role="gridcell">
          <ShownOn shownOn={shownOn} />
        </div>
      )}
      <div role="gridcell" className={shared.quiet}>
        {age}
      </div>
    </>
  );
}

function AlarmCells({ row, ...props }: LineProps & { row: AlarmRow }) {
  const { level, title, message, host, labels, count, since, suppresses, shownOn } = row.alarm;
  const text = message.slice(0, messageChars);
  return (
    <Cells
      {...props}
      {...{ level, labels, since, shownOn }}
      title={<strong dir="auto">{title}</strong>}
      details={
        <>
          <Times count={count} />
          <Suppresses count={suppresses} />
          <bdi className={styles.message}>{text}</bdi>
        </>
      }
      host={host !== null && <RefineChip inRow refineKey="host" value={host} onRefine={props.onRefine} />}
      place={
        <span dir="auto">
          {host !== null && <bdi className={styles.cardHost}>{host}</bdi>} <Times count={count} />{' '}
          <Suppresses count={suppresses} /> {text}
        </span>
      }
      who={<Who row={row} now={props.now} short={props.layout === 'card'} onShow={props.onShow} />}
    />
  );
}

function GroupCells({ group, isOpen, ...props }: LineProps & { group: AlarmGroup; isOpen: boolean }) {
  const { t } = useTranslation('alarms');
  const formats = useFormats();
  const look = useLevelLook();
  const { layout, grouping } = props;
  const summary = summaryOf(group);
  const { level, hosts, labels, since, shownOn } = summary;
  const count = group.rows.length;
  const size =
    grouping === 'similar' && hosts.length > 1
      ? t('hosts', { count: hosts.length, number: formats.number(hosts.length) })
      : t('alarmCount', { count, number: formats.number(count) });
  const range = hosts.length < 2 ? (hosts[0] ?? '') : `${hosts[0]} … ${hosts.at(-1)}`;
  const title = (
    <>
      <Icon paths={isOpen ? openIcon : closedIcon} size={15} />
      <strong dir="auto">{group.title || <Without grouping={grouping} />}</strong>
      <span className={styles.size} style={{ color: look(level).color }}>
        {size}
      </span>
    </>
  );
  return (
    <Cells
      {...props}
      {...{ level, labels, since, shownOn }}
      title={layout === 'card' ? <span className={styles.cardGroup}>{title}</span> : title}
      host={
        <span className={shared.quiet} title={range}>
          {range}
        </span>
      }
      place={<span className={shared.mono}>{range}</span>}
      who={<GroupWho summary={summary} count={count} onShow={props.onShow} />}
    />
  );
}

type Summary = ReturnType<typeof summaryOf>;
interface GroupWhoProps {
  readonly summary: Summary;
  /** Of alarms. */
  readonly count: number;
  readonly onShow: (id: string) => void;
}

/** The state of a group, then who its owners are. */
function GroupWho(props: GroupWhoProps) {
  const { t } = useTranslation('alarms');
  const { shelvedUntil, causes, acknowledged, acknowledgedBy, owners } = props.summary;
  // What somebody has acknowledged in a group names its owners only if they are others.
  const areOthers = owners.some((name) => !acknowledgedBy.map(actorText).includes(name));
  const isOpen = shelvedUntil === undefined && causes.length === 0 && acknowledged === 0;
  if (isOpen && owners.length === 0) return <span className={shared.quiet}>{t('nobody')}</span>;
  return (
    <span className={styles.person}>
      {isOpen ? <Icon paths={ownerIcon} size={14} /> : <GroupState {...props} />}
      {areOthers && <GroupOwners {...props} isNote={!isOpen} />}
    </span>
  );
}

/** When the first of a group comes back from the shelf, by what all are suppressed, or who has acknowledged them. */
function GroupState({ summary, count, onShow }: GroupWhoProps) {
  const { t } = useTranslation('alarms');
  const formats = useFormats();
  const { shelvedUntil, causes, acknowledged, acknowledgedBy } = summary;
  const [cause, ...otherCauses] = causes;
  if (shelvedUntil !== undefined)
    return (
      <>
        <Icon paths={shelvedIcon} size={14} />
        <span>{t('shelvedUntil', { time: formats.dayTime(shelvedUntil) })}</span>
      </>
    );
  if (cause)
    return otherCauses.length > 0 ? (
      <SeveralCauses causes={causes} />
    ) : (
      <Cause cause={cause} onShow={onShow} />
    );
  const total = formats.number(count);
  const hint = t('acknowledgedOfHint', { acknowledged: formats.number(acknowledged), total });
  const names = acknowledgedBy.map(actorText).join(', ');
  return (
    <>
      <Icon paths={personIcon} size={14} />
      <bdi title={`${hint}: ${names}`}>
        {acknowledged === count
          ? names
          : t('acknowledgedOf', { acknowledged: formats.number(acknowledged), total })}
      </bdi>
    </>
  );
}

function SeveralCauses({ causes }: Pick<Summary, 'causes'>) {
  const { t } = useTranslation('alarms');
  const titles = causes.map(({ title }) =>
    title === '' ? t('suppressedByAnother') : t('suppressedBy', { title }),
  );
  return (
    <span className={shared.quiet} title={titles.join('\n')}>
      {t('severalCauses')}
    </span>
  );
}

/** The owners, and of how many alarms they are, unless it is all. */
function GroupOwners({ summary: { owners, owned }, count, isNote }: GroupWhoProps & { isNote: boolean }) {
  const { t } = useTranslation('alarms');
  const formats = useFormats();
  const names = owners.join(', ');
  const numbers = { owned: formats.number(owned), total: formats.number(count) };
  const who = owned === count ? names : t('ofSome', { names, ...numbers });
  const text = t('ownerIs', { count: owners.length, name: who });
  return (
    <bdi className={isNote ? styles.note : undefined} title={text}>
      {isNote ? text : who}
    </bdi>
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
