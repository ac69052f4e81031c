import bugIcon from 'virtual:icon/bug';
import { Button } from '@mantine/core';
import { useSuspenseQuery } from '@tanstack/react-query';
import { type ErrorComponentProps, Link } from '@tanstack/react-router';
import { useEffect } from 'react';
import { useTranslation } from 'react-i18next';
import { ApiError } from '#client/call.ts';
import { sentenceOf } from '../api/call.ts';
import { sessionQuery } from '../api/session.ts';
import { type NotLoadedProps, unreachable } from '../components/lazy-part.tsx';
import { EmptyState, ErrorNotice } from '../components/notice.tsx';
import { LinkButton } from '../components/page.tsx';
import styles from './shell.module.css';

export function NotFound() {
  return (
    <main>
      <NotFoundInTenant />
    </main>
  );
}

/** Beside the navigation. */
export function NotFoundInTenant() {
  const { t } = useTranslation();
  useEffect(() => {
    document.title = `${t('notFound')} · Belfry`;
  }, [t]);
  return (
    <div>
      <EmptyState
        titleAs="h1"
        title={t('notFound')}
        action={<LinkButton to="/">{t('toOverview')}</LinkButton>}
      >
        {t('notFoundHint')}
      </EmptyState>
    </div>
  );
}

/** For a tenant that the person does not belong to, or that does not exist: the page does not say which. */
export function NotMember({ name }: { name: string }) {
  const { t } = useTranslation();
  return <OtherTenants title={t('notMember', { name })} hint={t('notMemberHint')} />;
}

/** For a tenant that the operator has suspended. The session is read again regularly, and then the pages return. */
export function Suspended({ title }: { title: string }) {
  const { t } = useTranslation();
  return <OtherTenants title={t('suspended', { title })} hint={t('suspendedHint')} />;
}

function OtherTenants({ title, hint }: { title: string; hint: string }) {
  const { t } = useTranslation();
  const { data } = useSuspenseQuery(sessionQuery);
  return (
    <main>
      <EmptyState titleAs="h1" title={title}>
        <p>{hint}</p>
        <ul className={styles.tenants}>
          {data.tenants
            .filter(({ suspended }) => !suspended)
            .map((each) => (
              <li key={each.name}>
                <Link to="/t/$tenant/overview" params={{ tenant: each.name }}>
                  {each.title}
                </Link>
              </li>
            ))}
          <li>
            <Link to="/account">{t('account')}</Link>
          </li>
        </ul>
      </EmptyState>
    </main>
  );
}

/** For a page whose files cannot be loaded. */
export function PageNotLoaded({ onRetry }: NotLoadedProps) {
  const { t } = useTranslation();
  return (
    <div className={styles.notLoaded}>
      <ErrorNotice error={unreachable} title={t('pageNotLoaded')} onRetry={onRetry} />
    </div>
  );
}

/** For a page that cannot be drawn: the server's error, or that of the page. */
export function Crash({ error, reset }: ErrorComponentProps) {
  const { t } = useTranslation();
  if (error instanceof ApiError) return <ErrorNotice error={error} onRetry={reset} />;
  return (
    <div role="alert">
      <EmptyState
        icon={bugIcon}
        title={t('crashed')}
        action={<Button onClick={() => location.reload()}>{t('reload')}</Button>}
      >
        <p>{t('crashedHint')}</p>
        <p className="mono">{sentenceOf(error)}</p>
      </EmptyState>
    </div>
  );
}
