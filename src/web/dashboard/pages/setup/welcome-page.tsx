import checkIcon from 'virtual:icon/check';
import clockIcon from 'virtual:icon/clock';
import { Button, SegmentedControl, TextInput } from '@mantine/core';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { type FormEvent, type ReactNode, useEffect, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { createClient } from '#client/client.ts';
import type { NotificationDetail } from '#contract/routing/routing.ts';
import { curlWithHeaders, curlWithJson } from '#web/dashboard/api/curl.ts';
import { panelsQuery } from '#web/dashboard/api/queries.ts';
import { useTenant } from '#web/dashboard/api/tenant.tsx';
import { Icon } from '#web/dashboard/components/icon.tsx';
import { ErrorNotice } from '#web/dashboard/components/notice.tsx';
import { LinkButton, Page } from '#web/dashboard/components/page.tsx';
import { CopyField } from '#web/dashboard/fields/copy-field.tsx';
import { useFormats } from '#web/dashboard/formats/use-formats.tsx';
import { CodeField, OpenPanelButton, useApprove } from '../panels/pairing.tsx';
import { isWholeCode } from '../panels/panel-values.ts';
import styles from './welcome.module.css';

/** First steps for a new owner. Only this page has the token: leaving it drops the token. */
export function WelcomePage() {
  const { t } = useTranslation('welcome');
  const tenant = useTenant();
  const [token, setToken] = useState<string>();
  const [panelReady, setPanelReady] = useState(false);
  const [arrived, setArrived] = useState(false);
  return (
    <Page
      title={t('title')}
      about={t('about')}
      actions={
        <LinkButton
          to="/t/$tenant/overview"
          params={{ tenant: tenant.name }}
          variant={arrived ? 'filled' : 'default'}
        >
          {arrived ? t('toOverview') : t('skip')}
        </LinkButton>
      }
    >
      <ol className={styles.steps}>
        <Step number={1} title={t('token')} done={token !== undefined}>
          <TokenStep token={token} onToken={setToken} />
        </Step>
        <Step number={2} title={t('panel')} done={panelReady}>
          <PanelStep onReady={() => setPanelReady(true)} />
        </Step>
        <Step number={3} title={t('test')} done={arrived}>
          <TestStep token={token} onArrived={() => setArrived(true)} />
        </Step>
      </ol>
    </Page>
  );
}

function Step({
  number,
  title,
  done,
  children,
}: {
  number: number;
  title: string;
  done: boolean;
  children: ReactNode;
}) {
  const { t } = useTranslation('welcome');
  return (
    <li className={styles.step}>
      <span className={done ? styles.numberDone : styles.number} aria-hidden="true">
        {done ? <Icon paths={checkIcon} size={16} /> : number}
      </span>
      <section>
        <h2>
          {title}
          {done && <span className="hidden"> ({t('done')})</span>}
        </h2>
        {children}
      </section>
    </li>
  );
}

/** Makes a token, and shows how it is used. */
function TokenStep({ token, onToken }: { token: string | undefined; onToken: (token: string) => void }) {
  const { t } = useTranslation('welcome');
  const { api, key } = useTenant();
  const client = useQueryClient();
  const [form, setForm] = useState<'json' | 'headers'>('json');
  const create = useMutation({
    mutationFn: () => api.post<{ token: string }>('/api/tokens', { name: t('tokenName') }),
    onSuccess: async (created) => {
      onToken(created.token);
      await client.invalidateQueries({ queryKey: [...key, 'tokens'] });
    },
  });
  if (token === undefined) {
    return (
      <div className={styles.stack}>
        <p className={styles.hint}>{t('tokenHint')}</p>
        {create.error && <ErrorNotice error={create.error} title={t('tokenFailed')} />}
        <div>
          <Button variant="filled" loading={create.isPending} onClick={() => create.mutate()}>
            {t('createToken')}
          </Button>
        </div>
      </div>
    );
  }
  const example = { title: t('curlTitle'), message: t('curlMessage') };
  const command = form === 'json' ? curlWithJson : curlWithHeaders;
  return (
    <div className={styles.stack}>
      <p className={styles.hint}>{t('tokenOnce')}</p>
      <CopyField text={token} label={t('tokenLabel')} />
      <div>
        <SegmentedControl
          size="xs"
          value={form}
          onChange={(value) => setForm(value === 'headers' ? 'headers' : 'json')}
          data={[
            { value: 'json', label: t('asJson') },
            { value: 'headers', label: t('asHeaders') },
          ]}
        />
      </div>
      <CopyField text={command(location.origin, token, example)} label="curl" />
    </div>
  );
}

/** Approves a screen by the code it shows. */
function PanelStep({ onReady }: { onReady: () => void }) {
  const { t } = useTranslation('welcome');
  const [code, setCode] = useState('');
  const [name, setName] = useState('');
  const { data: panels = [] } = useQuery(panelsQuery(useTenant()));
  const count = panels.length;
  useEffect(() => {
    if (count > 0) onReady();
  }, [count, onReady]);
  const approve = useApprove();
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (isWholeCode(code)) approve.mutate({ code, name: name.trim() }, { onSuccess: () => setCode('') });
  };
  return (
    <form className={styles.stack} onSubmit={submit}>
      <p className={styles.hint}>{t('panelHint', { address: `${location.origin}/panel` })}</p>
      {count > 0 && !approve.data && <p className={styles.hint}>{t('panelHave', { count })}</p>}
      {approve.error && <ErrorNotice error={approve.error} title={t('panelFailed')} />}
      {approve.data && (
        <p role="status">
          <bdi>{t('panelIn', { name: approve.data.name })}</bdi>
        </p>
      )}
      <div>
        <OpenPanelButton />
      </div>
      <div className={styles.row}>
        <CodeField label={t('panelCode')} description={undefined} required value={code} onChange={setCode} />
        <TextInput
          label={t('panelName')}
          placeholder={t('panelNameExample')}
          required
          maxLength={100}
          value={name}
          onChange={({ currentTarget }) => setName(currentTarget.value)}
        />
        <Button type="submit" loading={approve.isPending}>
          {t('panelApprove')}
        </Button>
      </div>
    </form>
  );
}

/** Sends a test notification, and shows its progress. */
function TestStep({ token, onArrived }: { token: string | undefined; onArrived: () => void }) {
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
