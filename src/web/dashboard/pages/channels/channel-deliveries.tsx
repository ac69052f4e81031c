import { useQuery } from '@tanstack/react-query';
import { useTranslation } from 'react-i18next';
import type { Channel } from '#contract/channels/channel.ts';
import { channelDeliveriesQuery } from '#web/dashboard/api/queries.ts';
import { useTenant } from '#web/dashboard/api/tenant.tsx';
import { ErrorNotice } from '#web/dashboard/components/notice.tsx';
import { Ago } from '#web/dashboard/formats/ago.tsx';
import styles from './channels.module.css';

/** What a channel delivered, and what waits. */
export function ChannelDeliveries({ channel }: { channel: Channel }) {
  const { t } = useTranslation('channels');
  const { data, error, refetch } = useQuery(channelDeliveriesQuery(useTenant(), channel.id));
  return (
    <section className={styles.deliveries} aria-label={t('log')}>
      <h3>{t('log')}</h3>
      {error && !data && <ErrorNotice error={error} onRetry={() => void refetch()} />}
      {data?.deliveries.length === 0 && <p className="muted">{t('logEmpty')}</p>}
      <ul className={styles.log}>
        {data?.deliveries.map((each) => (
          <li key={each.notification}>
            <strong>
              <bdi>{each.title ?? t('logGone')}</bdi>
            </strong>{' '}
            {t(`delivery.${each.state}`)} · <Ago at={each.finishedAt ?? each.queuedAt} />
            {each.answer !== null && (
              <>
                {' · '}
                <bdi className="muted">{each.answer}</bdi>
              </>
            )}
          </li>
        ))}
      </ul>
    </section>
  );
}
