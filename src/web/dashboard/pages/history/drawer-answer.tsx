import offIcon from 'virtual:icon/bell-off';
import clearedIcon from 'virtual:icon/check';
import expiredIcon from 'virtual:icon/clock-off';
import liveIcon from 'virtual:icon/eye';
import pendingIcon from 'virtual:icon/hourglass';
import replacedIcon from 'virtual:icon/replace';
import unroutedIcon from 'virtual:icon/route-off';
import suppressedIcon from 'virtual:icon/sitemap-off';
import throttledIcon from 'virtual:icon/stack-2';
import escalatedIcon from 'virtual:icon/stairs-up';
import { useQuery } from '@tanstack/react-query';
import { useTranslation } from 'react-i18next';
import type { HistoryNotification } from '#contract/history/notification.ts';
import type { PanelReceipt } from '#contract/panels/panel.ts';
import type { NotificationDetail } from '#contract/routing/routing.ts';
import { notificationQuery } from '#web/dashboard/api/history.ts';
import { useTenant } from '#web/dashboard/api/tenant.tsx';
import { Icon } from '#web/dashboard/components/icon.tsx';
import { actorText } from '#web/dashboard/formats/formats.ts';
import { useFormats } from '#web/dashboard/formats/use-formats.tsx';
import styles from './notification-drawer.module.css';

const escalation = 'belfry:escalation';
const ownSenders = [
  escalation,
  'belfry:expectation',
  'belfry:on-call',
  'belfry:panel',
  'belfry:test',
] as const;

/** The part of Belfry that sent a notification; undefined: a sender did. */
export const ownSenderOf = (origin: string | null) => ownSenders.find((each) => each === origin);

/** The summary: whether the notification is on panels, and why or why not. */
export function DrawerAnswer({
  notification,
  deliveries,
  suppressedBy,
  onOpen,
}: {
  notification: HistoryNotification;
  /** Of all its panels, or of the first ones; empty until they are read. */
  deliveries: readonly PanelReceipt[];
  /** By what it is suppressed, or was when it came. */
  suppressedBy: NotificationDetail['suppressedBy'];
  onOpen: (id: string) => void;
}) {
  const { t } = useTranslation('history');
  const formats = useFormats();
  const isEscalated = useIsEscalated(notification);
  const { acknowledged, cleared, state, throttledOn, origin } = notification;
  const { icon, tone } = isEscalated ? looks.escalated : looks[lookOf(notification)];
  const cause = suppressedBy?.title ?? '';
  const sentBy = ownSenderOf(origin);
  const related = throttledOn ?? (state === 'cleared' && cleared?.reason === 'replaced' ? cleared.by : null);
  return (
    <div className={styles.answer}>
      <span className={styles[tone]}>
        <Icon paths={icon} size={18} />
      </span>
      <div>
        <p className={styles.answerText}>{useAnswer(notification, deliveries, { isEscalated, cause })}</p>
        {suppressedBy && state !== 'suppressed' && (
          <p>{cause === '' ? t('why.wasSuppressedByAnother') : t('why.wasSuppressed', { title: cause })}</p>
        )}
        {suppressedBy?.rule && <p>{t('why.suppressingRule', { rule: suppressedBy.rule.name })}</p>}
        {suppressedBy && (
          <button type="button" className={styles.link} onClick={() => onOpen(suppressedBy.id)}>
            {t('openCause')}
          </button>
        )}
        {acknowledged && (
          <p>
            {t(acknowledged.until === null ? 'why.acknowledged' : 'why.acknowledgedUntil', {
              by: actorText(acknowledged.by),
              time: formats.dateTime(acknowledged.at),
              until: formats.dateTime(acknowledged.until ?? 0),
            })}
            {acknowledged.note !== null && (
              <>
                {' '}
                <bdi>{t('why.note', { note: acknowledged.note })}</bdi>
              </>
            )}
          </p>
        )}
        {sentBy && <p>{t(`sentBy.${sentBy}`)}</p>}
        {related !== null && (
          <button type="button" className={styles.link} onClick={() => onOpen(related)}>
            {t(throttledOn === null ? 'openNewer' : 'openEarlier')}
          </button>
        )}
      </div>
    </div>
  );
}

const looks = {
  live: { icon: liveIcon, tone: 'good' },
  unseen: { icon: pendingIcon, tone: 'warn' },
  muted: { icon: offIcon, tone: 'quiet' },
  throttled: { icon: throttledIcon, tone: 'quiet' },
  unrouted: { icon: unroutedIcon, tone: 'quiet' },
  cleared: { icon: clearedIcon, tone: 'quiet' },
  replaced: { icon: replacedIcon, tone: 'quiet' },
  shelved: { icon: pendingIcon, tone: 'quiet' },
  suppressed: { icon: suppressedIcon, tone: 'quiet' },
  expired: { icon: expiredIcon, tone: 'quiet' },
  escalated: { icon: escalatedIcon, tone: 'warn' },
} as const;

function lookOf({ state, cleared, receipts }: HistoryNotification): keyof typeof looks {
  if (state === 'live') return receipts.shown > 0 ? 'live' : 'unseen';
  return state === 'cleared' && cleared?.reason === 'replaced' ? 'replaced' : state;
}

/** Whether an escalation replaced it; requested only for notifications that were cleared. */
function useIsEscalated({ state, cleared }: HistoryNotification): boolean {
  const isReplaced = state === 'cleared' && cleared?.reason === 'replaced';
  const { data } = useQuery({
    ...notificationQuery(useTenant(), cleared?.by ?? ''),
    enabled: isReplaced,
    refetchInterval: false,
    staleTime: Number.POSITIVE_INFINITY,
  });
  return isReplaced && data?.origin === escalation;
}

function useAnswer(
  notification: HistoryNotification,
  deliveries: readonly PanelReceipt[],
  { isEscalated, cause }: { readonly isEscalated: boolean; readonly cause: string },
): string {
  const { t } = useTranslation('history');
  const formats = useFormats();
  const { state, panelCount, rules, cleared, expiresAt, receipts } = notification;
  const rule = rules.at(-1)?.name ?? '';
  switch (state) {
    case 'muted':
    case 'throttled':
      return t(`why.${state}`, { rule });
    case 'unrouted':
    case 'shelved':
      return t(`why.${state}`);
    case 'cleared': {
      const time = formats.dateTime(cleared?.at ?? 0);
      if (isEscalated) return t('why.escalated', { time });
      return t(cleared?.reason === 'replaced' ? 'why.replaced' : 'why.cleared', {
        time,
        by: actorText(cleared?.by ?? ''),
      });
    }
    case 'suppressed':
      return cause === '' ? t('why.suppressedByAnother') : t('why.suppressed', { title: cause });
    case 'expired':
      return t('why.expired', { time: formats.dateTime(expiresAt ?? 0) });
    case 'live': {
      if (panelCount === 0) {
        const { all, tags } = notification.target;
        if (tags.length > 0) return t('why.noneTagged', { tags: tags.join(', ') });
        return t(all ? 'why.noPanels' : 'why.panelsGone');
      }
      if (
        receipts.shown === 0 &&
        deliveries.length === panelCount &&
        deliveries.every(({ hidden }) => hidden)
      )
        return t('why.hidden');
      const received = deliveries.filter(({ sent, hidden }) => sent && !hidden).length;
      const look = receipts.shown > 0 ? 'live' : received > 0 ? 'received' : 'unseen';
      const counts = { count: panelCount, shown: formats.number(receipts.shown), received };
      return expiresAt === null
        ? t(`why.${look}UntilCleared`, counts)
        : t(`why.${look}Until`, { ...counts, time: formats.dateTime(expiresAt) });
    }
  }
}
