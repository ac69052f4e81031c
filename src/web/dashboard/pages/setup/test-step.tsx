import checkIcon from 'virtual:icon/check';
import clockIcon from 'virtual:icon/clock';
import { Button } from '@mantine/core';
import { useMutation, useQuery } from '@tanstack/react-query';
import { useEffect } from 'react';
import { useTranslation } from 'react-i18next';
import { createClient } from '#client/client.ts';
import type { NotificationDetail } from '#contract/routing/routing.ts';
import { useTenant } from '#web/dashboard/api/tenant.tsx';
import { Icon } from '#web/dashboard/components/icon.tsx';
import { ErrorNotice } from '#web/dashboard/components/notice.tsx';
import { useFormats } from '#web/dashboard/formats/formats.ts';
import styles from './welcome.module.css';

/** Sends a test notification, and shows its progress. */
export function TestStep({ token, onArrived }: { token: string | undefined; onArrived: () => void }) {
  const { t } = useTranslation('welcome');
  const send = useMutation({
    mutationFn: async (secret: string) => {
      const begun = performance.now();
      const notification = {
        title: t('testTitle'),
        message: t('testMessage'),
        level: 'success',
        ttl: 60_000,
      };
      const { id } = await createClient({ url: location.origin, token: secret }).send(notification);
      return { id, recordedMs: Math.round(performance.now() - begun) };
    },
    onSuccess: onArrived,
  });
  return (
    <div className={styles.stack}>
      <p className={styles.hint}>{token === undefined ? t('testNeedsToken') : t('testHint')}</p>
      {send.error && <ErrorNotice error={send.error} title={t('testFailed')} />}
      <div>
        <Button
          variant={send.data ? 'default' : 'filled'}
          disabled={token === undefined}
          loading={send.isPending}
          onClick={() => token !== undefined && send.mutate(token)}
        >
          {send.data ? t('testAgain') : t('testSend')}
        </Button>
      </div>
      {send.data && <DeliveryProgress key={send.data.id} {...send.data} />}
    </div>
  );
}

/** The progress of one notification. */
function DeliveryProgress({ id, recordedMs }: { id: string; recordedMs: number }) {
  const { t } = useTranslation('welcome');
  const { api, key } = useTenant();
  const formats = useFormats();
  const { data, refetch } = useQuery({
    queryKey: [...key, 'arrival', id],
    queryFn: async ({ signal }) => readArrival(await api.get(`/api/notifications/${id}`, undefined, signal)),
  });
  const waits = data === undefined || (data.panelCount > 0 && data.shown.length === 0);
  useEffect(() => {
    if (!waits) return;
    const timer = setInterval(() => void refetch(), 700);
    return () => clearInterval(timer);
  }, [waits, refetch]);
  return (
    <ul className={styles.progress} aria-live="polite">
      <DoneItem>{t('testRecorded', { duration: formats.duration(recordedMs) })}</DoneItem>
      {data && <RoutedItem arrival={data} />}
      {data?.shown.map(({ name, afterMs }) => (
        <DoneItem key={name}>{t('testShown', { name, duration: formats.duration(afterMs) })}</DoneItem>
      ))}
      {data && waits && (
        <li className={styles.waiting}>
          <Icon paths={clockIcon} /> {t('testWaiting')}
        </li>
      )}
    </ul>
  );
}

function RoutedItem({ arrival }: { arrival: Arrival }) {
  const { t } = useTranslation('welcome');
  if (arrival.panelCount === 0) return <li className={styles.waiting}>{t('testRoutedNone')}</li>;
  return <DoneItem>{t('testRouted', { count: arrival.panelCount })}</DoneItem>;
}

function DoneItem({ children }: { children: string }) {
  return (
    <li className={styles.good}>
      <Icon paths={checkIcon} /> <bdi>{children}</bdi>
    </li>
  );
}

interface Arrival {
  readonly panelCount: number;
  /** The panels that confirmed it, and how long after it was received. */
  readonly shown: readonly { readonly name: string; readonly afterMs: number }[];
}

function readArrival({
  panelCount,
  receivedAt,
  deliveries,
}: Pick<NotificationDetail, 'panelCount' | 'receivedAt' | 'deliveries'>): Arrival {
  const received = new Date(receivedAt).getTime();
  const shown = deliveries.flatMap(({ panel, shownAt }) =>
    shownAt === null
      ? []
      : [{ name: panel.name, afterMs: Math.max(0, new Date(shownAt).getTime() - received) }],
  );
  return { panelCount, shown };
}
