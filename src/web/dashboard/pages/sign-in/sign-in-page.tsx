import { useSuspenseQuery } from '@tanstack/react-query';
import { getRouteApi, useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { sessionQuery, useForgetAll } from '#web/dashboard/api/session.ts';
import { EntryFrame } from '#web/dashboard/pieces/entry-frame.tsx';
import { ErrorNotice } from '#web/dashboard/pieces/notice.tsx';
import { CodeForm } from './code-form.tsx';
import { OtherWays } from './other-ways.tsx';
import { PasswordForm } from './password-form.tsx';

const route = getRouteApi('/open/sign-in');

/** E-mail and password, then the second factor where there is one; or a passkey, or another identity provider. */
export function SignInPage() {
  const { t } = useTranslation('entry');
  const { to, error } = route.useSearch();
  const { data: session } = useSuspenseQuery(sessionQuery);
  const navigate = useNavigate();
  const forgetAll = useForgetAll();
  const [awaitsCode, setAwaitsCode] = useState(false);
  const enter = async () => {
    await forgetAll();
    await navigate({ href: to ?? '/', replace: true });
  };
  if (awaitsCode) {
    return (
      <EntryFrame title={t('codeTitle')}>
        <CodeForm onDone={enter} onBack={() => setAwaitsCode(false)} />
      </EntryFrame>
    );
  }
  return (
    <EntryFrame title={t('signIn')}>
      {error !== undefined && <ErrorNotice error={t(providerText(error))} title={t('providerFailed')} />}
      <PasswordForm onDone={enter} onTwoFactor={() => setAwaitsCode(true)} />
      <OtherWays providers={session.providers} returnTo={to} onDone={enter} />
    </EntryFrame>
  );
}

const reasons = ['denied', 'not-linked', 'not-invited', 'not-verified', 'expired'] as const;

/** Whatever stands in the address: an unknown word is a fault of the provider's. */
function providerText(error: string): `provider.${(typeof reasons)[number] | 'provider'}` {
  return `provider.${reasons.find((each) => each === error) ?? 'provider'}`;
}
