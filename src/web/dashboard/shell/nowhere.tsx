import { useSuspenseQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { sessionQuery } from '../api/session.ts';
import { LinkButton } from '../pieces/link-button.tsx';
import { EmptyState } from '../pieces/notice.tsx';

/** An address without a page. */
export function NotFound() {
  const { t } = useTranslation();
  return (
    <main>
      <EmptyState title={t('notFound')} action={<LinkButton to="/">{t('toOverview')}</LinkButton>}>
        {t('notFoundHint')}
      </EmptyState>
    </main>
  );
}

/** The address of a tenant that is not the person's, or that there is none of: the two are not told apart. */
export function NotMember({ name }: { name: string }) {
  const { t } = useTranslation();
  const { data } = useSuspenseQuery(sessionQuery);
  return (
    <main>
      <EmptyState title={t('notMember', { name })}>
        <p>{t('notMemberHint')}</p>
        <ul>
          {data.tenants.map((each) => (
            <li key={each.name}>
              <Link to="/t/$tenant/overview" params={{ tenant: each.name }}>
                {each.title}
              </Link>
            </li>
          ))}
        </ul>
      </EmptyState>
    </main>
  );
}
