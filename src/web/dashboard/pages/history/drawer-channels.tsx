import warnIcon from 'virtual:icon/alert-triangle';
import goodIcon from 'virtual:icon/circle-check';
import failedIcon from 'virtual:icon/circle-x';
import waitingIcon from 'virtual:icon/hourglass';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import type { Channel, ChannelDelivery } from '#contract/channels/channel.ts';
import type { NotificationDetail } from '#contract/routing/routing.ts';
import { liveChannelsQuery } from '#web/dashboard/api/queries.ts';
import { useTenant } from '#web/dashboard/api/tenant.tsx';
import { Icon } from '#web/dashboard/components/icon.tsx';
import { useFormats } from '#web/dashboard/formats/formats.ts';
import { NextAttempt } from '#web/dashboard/formats/next-attempt.tsx';
import styles from './notification-drawer.module.css';

/** The state of the notification on each channel: delivered, waiting, or failed. */
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
            <li key={delivery.channel.id}>
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
