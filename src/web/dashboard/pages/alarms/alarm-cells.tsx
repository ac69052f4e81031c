/** The cells that alarms and groups have in common. */
import shelvedIcon from 'virtual:icon/clock-pause';
import ownerIcon from 'virtual:icon/user';
import personIcon from 'virtual:icon/user-check';
import { useTranslation } from 'react-i18next';
import type { Alarm } from '#contract/history/alarm.ts';
import { labelPair, runbookLabel } from '#contract/history/labels.ts';
import type { AlarmRow } from '#web/dashboard/api/alarm-list.ts';
import { Icon } from '#web/dashboard/components/icon.tsx';
import { actorText, type Formats } from '#web/dashboard/formats/formats.ts';
import { useFormats } from '#web/dashboard/formats/use-formats.tsx';
import shared from '#web/dashboard/notifications/list-frame.module.css';
import type { RowLayout } from '#web/dashboard/notifications/list-frame.tsx';
import { type OnRefine, RefineChip } from '#web/dashboard/notifications/notification-row.tsx';
import styles from './alarm-rows.module.css';

const mostLabels = 3;

export function LabelsCell({
  labels,
  layout,
  onRefine,
}: {
  labels: Readonly<Record<string, string>>;
  layout: RowLayout;
  onRefine: OnRefine;
}) {
  if (layout === 'narrow' || layout === 'card') return null;
  // The drawer shows it as a link.
  const { [runbookLabel]: _, ...others } = labels;
  const pairs = Object.entries(others).map(([name, value]) => labelPair(name, value));
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
export function Times({ count }: { count: number }) {
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

/** How many alarms are off the panels because of it: its details list them. */
export function Suppresses({ count }: { count: number }) {
  const { t } = useTranslation('alarms');
  const formats = useFormats();
  if (count === 0) return null;
  return <span className={styles.suppresses}>{t('suppresses', { number: formats.number(count) })}</span>;
}

/** Who takes care of it, until when it is shelved, or by which alarm it is suppressed. */
export function Who({
  row: { alarm },
  now,
  short = false,
  onShow,
}: {
  row: AlarmRow;
  now: number;
  short?: boolean;
  onShow: (id: string) => void;
}) {
  const { t } = useTranslation('alarms');
  const formats = useFormats();
  const { state, acknowledged, shelved, suppressedBy, owner } = alarm;
  const escalates = useEscalates(alarm, now);
  if (state === 'ended') return <span className={shared.quiet}>{t('ended')}</span>;
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
        {!short && <OwnerNote owner={owner} />}
      </span>
    );
  if (state === 'suppressed' && suppressedBy)
    return (
      <span className={styles.person}>
        <Cause cause={suppressedBy} onShow={onShow} />
        {!short && <OwnerNote owner={owner} />}
      </span>
    );
  if (acknowledged) {
    const by = actorText(acknowledged.by);
    const { note, until } = acknowledged;
    const who = until === null ? by : t('acknowledgedUntil', { by, time: formats.dateTime(until) });
    return (
      <span className={styles.person} title={note === null ? who : `${who}: ${note}`}>
        <Icon paths={personIcon} size={14} />
        <bdi>{by}</bdi>
        {until !== null && (
          <span className={styles.end}>{t('shelvedUntil', { time: endText(until, formats) })}</span>
        )}
        {!short && note !== null && <bdi className={styles.note}>{note}</bdi>}
        {!short && owner?.name !== by && <OwnerNote owner={owner} />}
      </span>
    );
  }
  if (owner)
    return (
      <span className={styles.person} title={t('ownerIs', { count: 1, name: owner.name })}>
        <Icon paths={ownerIcon} size={14} />
        <bdi>{owner.name}</bdi>
        {escalates !== undefined && <span className={styles.note}>{escalates}</span>}
      </span>
    );
  return <span className={shared.quiet}>{escalates ?? t('nobody')}</span>;
}

/** In what time the next step of its escalation is sent, unless somebody acknowledges the alarm. */
function useEscalates(alarm: Alarm, now: number): string | undefined {
  const { t } = useTranslation('alarms');
  const formats = useFormats();
  const next = alarm.escalation.next;
  if (!next || alarm.state !== 'open') return undefined;
  const leftMs = Math.max(0, Date.parse(next.at) - now);
  const unit = unitOf(leftMs);
  return t('escalatesIn', { time: formats.duration(Math.ceil(leftMs / unit) * unit) });
}

/** On which panels it has been shown: the name of one, or how many. A phone does not say what it shows. */
export function ShownOn({ shownOn }: Pick<Alarm, 'shownOn'>) {
  const { t } = useTranslation('alarms');
  const formats = useFormats();
  const [first, ...others] = shownOn.map(({ name }) => name);
  if (first === undefined) return <span className={shared.quiet}>{t('noScreen')}</span>;
  const count = shownOn.length;
  return (
    <bdi title={[`${t('fact.shownOn')}:`, first, ...others].join('\n')}>
      {others.length === 0 ? first : t('panelCount', { count, number: formats.number(count) })}
    </bdi>
  );
}

/** Shows the alarm by which another one is suppressed. In a row it is not focusable: the drawer has the same. */
export function Cause({
  cause,
  onShow,
}: {
  cause: NonNullable<Alarm['suppressedBy']>;
  onShow: (id: string) => void;
}) {
  const { t } = useTranslation('alarms');
  const { title } = cause;
  return (
    <button
      type="button"
      tabIndex={-1}
      className={styles.cause}
      title={title === '' ? t('suppressedByAnother') : t('suppressedBy', { title })}
      onClick={(event) => {
        event.stopPropagation();
        onShow(cause.id);
      }}
    >
      <bdi>{title === '' ? t('byAnother') : t('by', { title })}</bdi>
    </button>
  );
}

function OwnerNote({ owner }: Pick<Alarm, 'owner'>) {
  const { t } = useTranslation('alarms');
  if (!owner) return null;
  return <bdi className={styles.note}>{t('ownerIs', { count: 1, name: owner.name })}</bdi>;
}

const dayMs = 86_400_000;

/** As in 14:30; with the date when that may be of another day. */
const endText = (until: string, { shortClock, dayTime }: Formats): string =>
  Date.parse(until) - Date.now() < dayMs ? shortClock(until) : dayTime(until);

const hourMs = 3_600_000;
const minuteMs = 60_000;

const unitOf = (ms: number) => (ms >= dayMs ? hourMs : ms >= minuteMs ? minuteMs : 1_000);

/** Without seconds once it is a minute, and without minutes once it is a day. */
export function ageMs(since: string, now: number): number {
  const age = Math.max(0, now - Date.parse(since));
  const unit = unitOf(age);
  return Math.floor(age / unit) * unit;
}

export function Age({ since, now }: { since: string; now: number }) {
  const formats = useFormats();
  return (
    <time dateTime={since} title={formats.dateTime(since)}>
      {formats.duration(ageMs(since, now))}
    </time>
  );
}
