import { Button } from '@mantine/core';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useTranslation } from 'react-i18next';
import type { AccountSession } from '#contract/people/account.ts';
import { browserName } from '#web/browser-name.ts';
import { sessionsQuery } from '#web/dashboard/api/account.ts';
import { personApi } from '#web/dashboard/api/call.ts';
import { ErrorNotice } from '#web/dashboard/components/notice.tsx';
import { Section } from '#web/dashboard/components/page.tsx';
import { useBrowserFormats } from '#web/dashboard/formats/formats.ts';
import styles from './account.module.css';
import { useReauthentication } from './reauthentication.tsx';

/** The person's sessions. */
export function SessionSection() {
  const { t } = useTranslation('account');
  const { data: sessions, error, refetch } = useQuery(sessionsQuery);
  const client = useQueryClient();
  const end = useMutation({
    mutationFn: (id: string | undefined) =>
      personApi.delete(`/api/account/sessions${id === undefined ? '' : `/${encodeURIComponent(id)}`}`),
    onSettled: () => client.invalidateQueries(sessionsQuery),
  });
  const { whenConfirmed, error: unconfirmed, dialog } = useReauthentication();
  return (
    <Section
      title={t('sessions')}
      actions={
        (sessions?.length ?? 0) > 1 && (
          <Button
            size="xs"
            loading={end.isPending}
            onClick={() => whenConfirmed(() => end.mutate(undefined))}
          >
            {t('endOthers')}
          </Button>
        )
      }
    >
      {error && <ErrorNotice error={error} onRetry={() => void refetch()} />}
      {unconfirmed && <ErrorNotice error={unconfirmed} />}
      {end.error && <ErrorNotice error={end.error} title={t('failed')} />}
      <ul className={styles.list}>
        {sessions?.map((session) => (
          <SessionItem
            key={session.id}
            session={session}
            onEnd={() => whenConfirmed(() => end.mutate(session.id))}
          />
        ))}
      </ul>
      {dialog}
    </Section>
  );
}

function SessionItem({ session, onEnd }: { session: AccountSession; onEnd: () => void }) {
  const { t } = useTranslation('account');
  const formats = useBrowserFormats();
  const { browser, system } = browserName(session.userAgent);
  const what =
    browser === undefined
      ? t('unknownBrowser')
      : system === undefined
        ? browser
        : t('browserOn', { browser, system });
  return (
    <li className={styles.item}>
      <span title={session.userAgent ?? undefined}>
        {what}
        {session.current && <span className={styles.current}>{t('thisSession')}</span>}
      </span>
      <span className="mono muted">{session.address}</span>
      <span className="muted">{t('lastSeen', { when: formats.relative(session.lastSeenAt) })}</span>
      {!session.current && (
        <Button size="xs" variant="subtle" aria-label={t('endSessionOf', { what })} onClick={onEnd}>
          {t('signOut')}
        </Button>
      )}
    </li>
  );
}
