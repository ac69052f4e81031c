import warnIcon from 'virtual:icon/alert-triangle';
import goodIcon from 'virtual:icon/circle-check';
import openIcon from 'virtual:icon/circle-dashed';
import failedIcon from 'virtual:icon/circle-x';
import waitingIcon from 'virtual:icon/hourglass';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { Channel, ChannelDelivery } from '#contract/channels/channel.ts';
import type { HistoryNotification } from '#contract/history/notification.ts';
import type { PanelReceipt } from '#contract/panels/panel.ts';
import type { NotificationDetail } from '#contract/routing/routing.ts';
import { histogramQuery } from '#web/dashboard/api/history.ts';
import { liveChannelsQuery, panelsQuery } from '#web/dashboard/api/queries.ts';
import { useTenant } from '#web/dashboard/api/tenant.tsx';
import { sumOf, totalOf, useStack } from '#web/dashboard/charts/level-chart.tsx';
import { Icon } from '#web/dashboard/components/icon.tsx';
import { NextAttempt, useFormats } from '#web/dashboard/formats/use-formats.tsx';
import { type OnRefine, RefineChip } from '#web/dashboard/notifications/notification-row.tsx';
import { quoteValue } from '#web/dashboard/query/query-words.ts';
import styles from './notification-drawer.module.css';

const shownAtFirst = 8;

/** The receipts of the panels: whether each showed it, or why not yet. */
export function DeliveryReceipts({ detail, onRefine }: { detail: NotificationDetail; onRefine: OnRefine }) {
  const { t } = useTranslation('history');
  const [all, setAll] = useState(false);
  const { deliveries } = detail;
  if (deliveries.length === 0) return null;
  const visible = all ? deliveries : deliveries.slice(0, shownAtFirst);
  return (
    <section className={styles.section}>
      <h3>{t('proof')}</h3>
      <ul className={styles.steps}>
        {visible.map((receipt) => (
          <li key={receipt.panel.id}>
            <Receipt detail={detail} receipt={receipt} onRefine={onRefine} />
          </li>
        ))}
      </ul>
      {visible.length < deliveries.length && (
        <button type="button" className={styles.link} onClick={() => setAll(true)}>
          {t('allPanels', { count: deliveries.length - visible.length })}
        </button>
      )}
    </section>
  );
}

function Receipt({
  detail,
  receipt,
  onRefine,
}: {
  detail: NotificationDetail;
  receipt: PanelReceipt;
  onRefine: OnRefine;
}) {
  const { panel, shownAt, clearedAt } = receipt;
  const isMissing =
    (shownAt ?? clearedAt) === null && !receipt.hidden && !receipt.online && detail.state === 'live';
  const icon = shownAt !== null ? goodIcon : isMissing ? warnIcon : openIcon;
  const tone = shownAt !== null ? styles.good : isMissing ? styles.warn : styles.quiet;
  return (
    <>
      <span className={tone}>
        <Icon paths={icon} />
      </span>
      <span>
        <RefineChip refineKey="panel" value={panel.id} onRefine={onRefine}>
          <bdi>{panel.name}</bdi>
        </RefineChip>{' '}
        <span className={styles.quiet}>{useReceiptText(detail, receipt)}</span>
      </span>
    </>
  );
}

function useReceiptText(detail: NotificationDetail, receipt: PanelReceipt): string {
  const { t } = useTranslation('history');
  const formats = useFormats();
  const { data: panels } = useQuery(panelsQuery(useTenant()));
  const { shownAt, inGroup, clearedAt, expiredAt, online, sent, hidden } = receipt;
  if (shownAt !== null) {
    const time = formats.duration(Math.max(0, Date.parse(shownAt) - Date.parse(detail.receivedAt)));
    const shown = t(inGroup ? 'proof.shownInGroup' : 'proof.shown', { time });
    const end = clearedAt ?? expiredAt;
    if (end === null) return shown;
    return `${shown}, ${t(clearedAt ? 'proof.cleared' : 'proof.expired', { time: formats.shortClock(end) })}`;
  }
  if (hidden) return t('proof.hidden');
  const panel = panels?.find(({ id }) => id === receipt.panel.id);
  // Apps send no receipts, except that Gotify deletes messages.
  if (sent && panel?.kind === 'phone')
    return clearedAt === null
      ? t('proof.delivered')
      : t('proof.deleted', { time: formats.shortClock(clearedAt) });
  const isLive = detail.state === 'live';
  if (!isLive && (online || sent)) return t('proof.unconfirmed');
  if (online) return t(sent ? 'proof.received' : 'proof.onItsWay');
  const seen = panel?.lastSeenAt;
  if (!seen) return t(isLive ? 'proof.neverCatchUp' : 'proof.never');
  return t(isLive ? 'proof.offlineCatchUp' : 'proof.offline', { time: formats.dateTime(seen) });
}

/** Levels with a plural of their own. */
const builtIn = ['success', 'info', 'warning', 'error', 'critical'] as const;
/** A quarter of an hour each, so that the time of the first is exact enough. */
const buckets = 100;

/** Counts of the same host and the same key in 24 hours; each opens a search. */
export function RelatedCounts({
  notification: { host, ip, key },
  onSearch,
}: {
  notification: HistoryNotification;
  onSearch: (text: string) => void;
}) {
  const { t } = useTranslation('history');
  const origin =
    host !== null ? `host:${quoteValue(host)}` : ip !== null ? `ip:${quoteValue(ip)}` : undefined;
  return (
    <>
      {origin !== undefined && (
        <Counts title={t(host !== null ? 'sameHost' : 'sameIp')} term={origin} onSearch={onSearch} />
      )}
      {key !== null && <Counts title={t('sameKey')} term={`key:${quoteValue(key)}`} onSearch={onSearch} />}
    </>
  );
}

function Counts({
  title,
  term,
  onSearch,
}: {
  title: string;
  term: string;
  onSearch: (text: string) => void;
}) {
  const { t } = useTranslation('history');
  const formats = useFormats();
  const stackOf = useStack();
  const q = `${term} since:24h`;
  const { data } = useQuery({
    ...histogramQuery(useTenant(), { q, buckets }),
    placeholderData: () => undefined,
    refetchInterval: 15_000,
  });
  const counted = (level: string, count: number) => {
    const number = formats.number(count);
    const known = builtIn.find((each) => each === level);
    return known ? t(`counted.${known}`, { count, number }) : `${number} ${level}`;
  };
  const first = data?.buckets.find(({ counts }) => totalOf(counts) > 0);
  return (
    <section className={styles.section}>
      <h3>{title}</h3>
      <p className={styles.counts}>
        {stackOf(sumOf(data?.buckets ?? [])).map(({ level, count }) => (
          <button
            key={level}
            type="button"
            className={styles.link}
            onClick={() => onSearch(`${q} level:${quoteValue(level)}`)}
          >
            {counted(level, count)}
          </button>
        ))}
        {data?.total === 0 && <span className={styles.quiet}>{t('noneIn24h')}</span>}
        {first && (
          <span className={styles.quiet}>{t('firstAround', { time: formats.dayTime(first.at) })}</span>
        )}
      </p>
    </section>
  );
}

/** The state of the notification, and of what happened to its alarm, on each channel: delivered, waiting, or failed. */
export function ChannelDeliveryList({ detail }: { detail: NotificationDetail }) {
  const { t } = useTranslation('history');
  const tenant = useTenant();
  const { channels: deliveries } = detail;
  const isWaiting = deliveries.some(({ state }) => state === 'pending');
  const { data: channels } = useQuery({ ...liveChannelsQuery(tenant), enabled: isWaiting });
  if (deliveries.length === 0) return null;
  return (
    <section className={styles.section}>
      <h3>{t('channels')}</h3>
      <ul className={styles.steps}>
        {deliveries.map((delivery) => {
          const channel = channels?.find(({ id }) => id === delivery.channel.id);
          const { icon, tone } = lookOf(delivery);
          return (
            <li key={`${delivery.channel.id} ${delivery.event} ${delivery.queuedAt}`}>
              <span className={styles[tone]}>
                <Icon paths={icon} />
              </span>
              <span>
                {delivery.channel.name === '' ? (
                  t('deletedChannel')
                ) : (
                  <Link
                    to="/t/$tenant/settings/channels"
                    params={{ tenant: tenant.name }}
                    search={{ id: delivery.channel.id }}
                  >
                    <bdi>{delivery.channel.name}</bdi>
                  </Link>
                )}{' '}
                {delivery.event !== null && `${t(`delivery.${delivery.event}`)} `}
                <DeliveryText delivery={delivery} channel={channel} />
              </span>
            </li>
          );
        })}
      </ul>
    </section>
  );
}

function lookOf({ state, attempts }: ChannelDelivery) {
  if (state === 'delivered') return { icon: goodIcon, tone: 'good' } as const;
  if (state === 'failed') return { icon: failedIcon, tone: 'bad' } as const;
  if (attempts > 0) return { icon: warnIcon, tone: 'warn' } as const;
  return { icon: waitingIcon, tone: 'quiet' } as const;
}

function DeliveryText({ delivery, channel }: { delivery: ChannelDelivery; channel: Channel | undefined }) {
  const { t } = useTranslation('history');
  const formats = useFormats();
  const { state, attempts, queuedAt, finishedAt, answer } = delivery;
  const took = Math.max(0, Date.parse(finishedAt ?? queuedAt) - Date.parse(queuedAt));
  const attempted = attempts > 1 ? `, ${t('delivery.attempts', { count: attempts })}` : '';
  if (state === 'delivered')
    return (
      <span className={styles.quiet}>
        {t('delivery.delivered', { time: formats.duration(took) })}
        {attempted}
      </span>
    );
  return (
    <>
      <span className={styles.quiet}>
        {state === 'failed'
          ? t('delivery.failed', { time: formats.dateTime(finishedAt ?? queuedAt) })
          : t(attempts > 0 ? 'delivery.failing' : 'delivery.waiting')}
        {state === 'failed' ? attempted : attempts > 0 && `, ${t('delivery.attempts', { count: attempts })}`}
        {state === 'pending' && <NextTry channel={channel} />}
      </span>
      {answer !== null && (
        <span className={styles.deliveryAnswer}>
          <bdi>{answer}</bdi>
        </span>
      )}
    </>
  );
}

/** A channel delivers in order, so the next attempt depends on the channel. */
function NextTry({ channel }: { channel: Channel | undefined }) {
  const { t } = useTranslation('history');
  if (!channel) return null;
  if (!channel.enabled) return `, ${t('delivery.disabled')}`;
  const { retryAt } = channel.state;
  return (
    retryAt !== null && (
      <>
        {' · '}
        <NextAttempt retryAt={retryAt} />
      </>
    )
  );
}
