import { Button, Stack, TextInput } from '@mantine/core';
import { useMutation, useSuspenseQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { type FormEvent, useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { Setup } from '#contract/people/account.ts';
import { personApi } from '#web/dashboard/api/call.ts';
import { sessionQuery, useForgetEverything } from '#web/dashboard/api/session.ts';
import { ErrorNotice } from '#web/dashboard/components/notice.tsx';
import { LinkButton } from '#web/dashboard/components/page.tsx';
import { AccountFields, type NewAccount } from '#web/dashboard/fields/account-fields.tsx';
import { AuthLayout, useLinkSecret } from '#web/dashboard/pages/sign-in/auth-layout.tsx';

/** Creates the first account, by the one-time link that the server printed. */
export function SetupPage() {
  const { t } = useTranslation('entry');
  const { data: session } = useSuspenseQuery(sessionQuery);
  const secret = useLinkSecret();
  if (!session.needsSetup) {
    return (
      <AuthLayout title={t('setupDone')} about={t('setupDoneHint')}>
        <LinkButton to="/" variant="filled" fullWidth>
          {t('signIn')}
        </LinkButton>
      </AuthLayout>
    );
  }
  if (secret === undefined) {
    return (
      <AuthLayout title={t('setupNoSecret')} about={t('setupNoSecretHint')}>
        {null}
      </AuthLayout>
    );
  }
  return (
    <AuthLayout title={t('setupTitle')} about={t('setupHint')}>
      <SetupForm secret={secret} />
    </AuthLayout>
  );
}

function SetupForm({ secret }: { secret: string }) {
  const { t } = useTranslation('entry');
  const navigate = useNavigate();
  const forgetAll = useForgetEverything();
  const [tenantTitle, setTenantTitle] = useState('');
  const [account, setAccount] = useState<NewAccount>({ name: '', email: '', password: '' });
  const setUp = useMutation({
    mutationFn: (body: Setup) => personApi.post('/api/setup', body),
    onSuccess: async () => {
      await forgetAll();
      await navigate({ to: '/t/$tenant/welcome', params: { tenant: 'default' }, replace: true });
    },
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    const { timeZone } = Intl.DateTimeFormat().resolvedOptions();
    setUp.mutate({ secret, ...account, tenantTitle: tenantTitle.trim(), timeZone });
  };
  return (
    <form onSubmit={submit}>
      <Stack gap="md">
        {setUp.error && <ErrorNotice error={setUp.error} title={t('setupFailed')} />}
        <TextInput
          label={t('tenantTitle')}
          description={t('tenantTitleHint')}
          placeholder={t('tenantTitleExample')}
          required
          maxLength={100}
          autoFocus
          value={tenantTitle}
          onChange={({ currentTarget }) => setTenantTitle(currentTarget.value)}
        />
        <AccountFields value={account} onChange={setAccount} />
        <Button type="submit" variant="filled" fullWidth loading={setUp.isPending}>
          {t('create')}
        </Button>
      </Stack>
    </form>
  );
}
