import excludeIcon from 'virtual:icon/circle-minus';
import seenIcon from 'virtual:icon/eye-check';
import { type MouseEvent, memo, type ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import type { HistoryNotification } from '#contract/history/notification.ts';
import { Icon } from '../components/icon.tsx';
import { LevelMark } from '../components/level-mark.tsx';
import { actorText, clip } from '../formats/formats.ts';
import { useFormats } from '../formats/use-formats.tsx';
import { type RefineKey, type Refinement, termOf } from '../query/query-words.ts';
import shared from './list-frame.module.css';
import { CardCells, type RowLayout } from './list-frame.tsx';
import styles from './notification-grid.module.css';

/** A row shows the beginning of the message. */
const messageChars = 240;
/** A gap on the side where the next text is, whatever the direction. */
const enSpace = '\u2002';

interface NotificationRowProps {
  readonly notification: HistoryNotification;
  readonly layout: RowLayout;
  readonly index: number;
  readonly top: number;
  readonly isActive: boolean;
  /** Start of the tenant's day: older notifications show their date. */
  readonly dayStart: number;
  readonly onRefine: OnRefine;
}

/** One notification in a list: columns, or two lines on a narrow screen. */
export const NotificationRow = memo(function NotificationRow(props: NotificationRowProps) {
  const { notification, layout, index, top, isActive } = props;
  return (
    <div
      role="row"
      id={rowId(notification.id)}
      aria-rowindex={index + 2}
      aria-selected={isActive}
      className={`${shared.row} ${styles.row} ${layout === 'card' ? shared.card : styles[layout]} ${isActive ? styles.active : ''}`}
      style={{ transform: `translateY(${top}px)` }}
    >
      {layout === 'card' ? <Card {...props} /> : <Cells {...props} />}
    </div>
  );
});

export const rowId = (id: string) => `row-${id}`;

function Cells({ notification, layout, dayStart, onRefine }: NotificationRowProps) {
  const { level, title, message, host, ip, sourceIp } = notification;
  const address = ip !== null && <RefineChip inRow refineKey="ip" value={ip} onRefine={onRefine} />;
  return (
    <>
      <div role="gridcell" className={`${shared.mono} ${shared.quiet}`}>
        <RowTime at={notification.receivedAt} dayStart={dayStart} />
      </div>
      <div role="gridcell" className={styles.level}>
        <RefineChip inRow refineKey="level" value={level} onRefine={onRefine}>
          <LevelMark name={level} />
        </RefineChip>
      </div>
      <div role="gridcell" className={styles.what} dir="auto">
        <strong>{title}</strong>
        <EscalatedBadge notification={notification} dayStart={dayStart} />
        {enSpace}
        <bdi className={shared.quiet}>{message.slice(0, messageChars)}</bdi>
      </div>
      <div role="gridcell" className={shared.mono}>
        {host !== null && <RefineChip inRow refineKey="host" value={host} onRefine={onRefine} />}
        {host === null && layout === 'narrow' && address}
      </div>
      {layout !== 'narrow' && (
        <>
          <div role="gridcell" className={shared.mono}>
            {address}
          </div>
          <div role="gridcell" className={shared.mono}>
            <RefineChip inRow quiet refineKey="source" value={sourceIp} onRefine={onRefine} />
          </div>
        </>
      )}
      <div role="gridcell" className={shared.quiet}>
        <ShownOn notification={notification} />
      </div>
    </>
  );
}

function Card({ notification, dayStart }: NotificationRowProps) {
  const { level, title, message, host, ip } = notification;
  const place = host ?? ip;
  return (
    <CardCells
      level={level}
      title={<strong dir="auto">{title}</strong>}
      time={
        <span className={shared.mono}>
          <RowTime at={notification.receivedAt} dayStart={dayStart} short />
        </span>
      }
    >
      <span dir="auto">
        {place !== null && <bdi className={styles.cardHost}>{place}</bdi>}
        <EscalatedBadge notification={notification} dayStart={dayStart} />
        {enSpace}
        {message.slice(0, messageChars)}
      </span>
      <ShownOn notification={notification} />
    </CardCells>
  );
}

function RowTime({ at, dayStart, short = false }: { at: string; dayStart: number; short?: boolean }) {
  const formats = useFormats();
  const isToday = Date.parse(at) >= dayStart;
  return (
    <time dateTime={at} title={formats.dayClock(at)}>
      {isToday ? (short ? formats.shortClock(at) : formats.clock(at)) : formats.dayTime(at)}
    </time>
  );
}

/** How often its alarm was escalated, and when that began. */
export function EscalatedBadge({
  notification: { escalated },
  dayStart,
}: Pick<NotificationRowProps, 'notification' | 'dayStart'>) {
  const { t } = useTranslation('history');
  const formats = useFormats();
  if (!escalated) return null;
  const { times, since } = escalated;
  const isToday = Date.parse(since) >= dayStart;
  const time = isToday ? formats.shortClock(since) : formats.dayTime(since);
  const steps = times === 1 ? t('escalated') : t('escalatedTimes', { times });
  return (
    <>
      {enSpace}
      <bdi className={styles.escalated} title={formats.dayClock(since)}>
        {steps} {t('escalatedSince', { time })}
      </bdi>
    </>
  );
}

/** On how many of its panels it was shown, or why on none of them. */
function ShownOn({ notification }: { notification: HistoryNotification }) {
  const { t } = useTranslation('history');
  const { state, receipts, panelCount, acknowledged } = notification;
  if (state === 'muted' || state === 'throttled' || state === 'unrouted')
    return <span title={t(`state.${state}`)}>{t(`short.${state}`)}</span>;
  const shown = Math.min(receipts.shown, panelCount);
  return (
    <span
      className={styles.shown}
      title={`${t('shownOn', { shown, count: panelCount })} · ${t(`state.${state}`)}`}
    >
      {state === 'live' && <span className={styles.live} aria-hidden="true" />}
      {acknowledged && <Icon paths={seenIcon} size={14} />}
      {acknowledged && <span className="hidden">{t('seenBy', { by: actorText(acknowledged.by) })}</span>}
      {panelCount === 0 ? '–' : `${shown}/${panelCount}`}
      <span className="hidden">{t(`state.${state}`)}</span>
    </span>
  );
}

export type OnRefine = (refinement: Refinement) => void;

/**
 * A value that restricts the search to itself on a click, and excludes itself with Alt or Shift. Where there is room,
 * a button beside it excludes it too, for touch.
 */
export function RefineChip({
  refineKey,
  value,
  name = value,
  children,
  onRefine,
  quiet = false,
  inRow = false,
}: {
  refineKey: RefineKey;
  value: string;
  /** For people, where the value is an id. */
  name?: string | undefined;
  children?: ReactNode;
  onRefine: OnRefine;
  quiet?: boolean;
  /** In a row it is not focusable: the drawer has the same chips. */
  inRow?: boolean;
}) {
  const { t } = useTranslation('history');
  const refine = (event: MouseEvent, negated: boolean) => {
    event.stopPropagation();
    onRefine({ key: refineKey, value, negated });
  };
  const term = clip(termOf({ key: refineKey, value: name, negated: false }), 80);
  const chip = (
    <button
      type="button"
      className={`${styles.chip} ${quiet ? styles.subdued : ''} ${inRow ? styles.inRow : ''}`}
      title={t('refineHint', { term })}
      onClick={(event) => refine(event, event.altKey || event.shiftKey)}
      {...(inRow && { tabIndex: -1 })}
    >
      {children ?? <bdi>{name}</bdi>}
    </button>
  );
  if (inRow) return chip;
  return (
    <>
      {chip}
      <button
        type="button"
        className={styles.exclude}
        aria-label={t('exclude', { term })}
        title={t('exclude', { term })}
        onClick={(event) => refine(event, true)}
      >
        <Icon paths={excludeIcon} size={14} />
      </button>
    </>
  );
}
