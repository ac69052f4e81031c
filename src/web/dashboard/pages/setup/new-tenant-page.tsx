import { Button, Group, Stack, TextInput } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { type FormEvent, useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { Membership } from '#contract/people/account.ts';
import { personApi } from '#web/dashboard/api/call.ts';
import { useForgetEverything } from '#web/dashboard/api/session.ts';
import { ErrorNotice } from '#web/dashboard/components/notice.tsx';
import { LinkButton } from '#web/dashboard/components/page.tsx';
import { AuthLayout } from '#web/dashboard/pages/sign-in/auth-layout.tsx';
import { shortNameOf } from '../../formats/formats.ts';

/** Creates a tenant; the person becomes its owner. */
export function NewTenantPage() {
  const { t } = useTranslation('entry');
  const navigate = useNavigate();
  const forgetAll = useForgetEverything();
  const [title, setTitle] = useState('');
  const [typedName, setTypedName] = useState<string>();
  const name = typedName ?? shortNameOf(title);
  const create = useMutation({
    mutationFn: () => {
      const { timeZone } = Intl.DateTimeFormat().resolvedOptions();
      return personApi.post<Membership>('/api/tenants', { name, title: title.trim(), timeZone });
    },
    onSuccess: async (tenant) => {
      await forgetAll();
      await navigate({ to: '/t/$tenant/welcome', params: { tenant: tenant.name } });
    },
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    create.mutate();
  };
  const fits = /^[a-z0-9][a-z0-9-]{0,62}$/.test(name);
  return (
    <AuthLayout title={t('newTenantTitle')} about={t('newTenantHint')}>
      <form onSubmit={submit}>
        <Stack gap="md">
          {create.error && (
            <ErrorNotice
              error={create.error}
              title={t('createTenantFailed')}
              texts={{ conflict: t('tenantNameTaken') }}
            />
          )}
          <TextInput
            label={t('tenantTitle')}
            placeholder={t('tenantTitleExample')}
            required
            maxLength={100}
            autoFocus
            value={title}
            onChange={({ currentTarget }) => setTitle(currentTarget.value)}
          />
          <TextInput
            label={t('tenantName')}
            description={t('tenantNameHint')}
            required
            maxLength={63}
            value={name}
            error={name !== '' && !fits ? t('tenantNameWrong') : undefined}
            onChange={({ currentTarget }) => setTypedName(currentTarget.value)}
          />
          <Group justify="flex-end">
            <LinkButton to="/">{t('cancel')}</LinkButton>
            <Button type="submit" variant="filled" disabled={!fits} loading={create.isPending}>
              {t('createTenant')}
            </Button>
          </Group>
        </Stack>
      </form>
    </AuthLayout>
  );
}
