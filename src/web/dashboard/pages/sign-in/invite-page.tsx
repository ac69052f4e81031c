import { Button, Stack } from '@mantine/core';
import { useMutation, useQuery, useSuspenseQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { type FormEvent, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { isCode } from '#client/call.ts';
import type { InvitationAccept, InvitationPreview } from '#contract/people/member.ts';
import { personApi } from '#web/dashboard/api/call.ts';
import { sessionQuery, useForgetEverything } from '#web/dashboard/api/session.ts';
import { ErrorNotice } from '#web/dashboard/components/notice.tsx';
import { LinkButton } from '#web/dashboard/components/page.tsx';
import { AccountFields, type NewAccount } from '#web/dashboard/fields/account-fields.tsx';
import { actorText } from '#web/dashboard/formats/formats.ts';
import { AuthLayout, keepLinkSecret, useLinkSecret } from '#web/dashboard/pages/sign-in/auth-layout.tsx';
import styles from './sign-in.module.css';

/** Joins a tenant by an invitation link, with an existing or a new account. */
export function InvitePage() {
  const { t } = useTranslation('entry');
  const secret = useLinkSecret();
  const { data: invitation, error } = useQuery({
    queryKey: ['invitation', secret],
    queryFn: () => personApi.post<InvitationPreview>('/api/invitations/preview', { secret }),
    enabled: secret !== undefined,
    retry: false,
  });
  if (secret === undefined)
    return (
      <AuthLayout title={t('inviteGone')} about={t('inviteNoSecret')}>
        <LinkButton to="/">{t('toSignIn')}</LinkButton>
      </AuthLayout>
    );
  if (isCode(error, 'gone'))
    return (
      <AuthLayout title={t('inviteGone')} about={t('inviteGoneHint')}>
        <LinkButton to="/">{t('toSignIn')}</LinkButton>
      </AuthLayout>
    );
  if (error)
    return (
      <AuthLayout title={t('joinFailed')}>
        <ErrorNotice error={error} title={t('joinFailed')} />
      </AuthLayout>
    );
  if (!invitation) return null;
  return <Joining secret={secret} invitation={invitation} />;
}

function Joining({ secret, invitation }: { secret: string; invitation: InvitationPreview }) {
  const { t } = useTranslation('entry');
  const { data: session } = useSuspenseQuery(sessionQuery);
  const navigate = useNavigate();
  const forgetAll = useForgetEverything();
  const [account, setAccount] = useState<NewAccount>({
    name: '',
    email: invitation.email ?? '',
    password: '',
  });
  const accept = useMutation({
    mutationFn: (body: InvitationAccept) => personApi.post('/api/invitations/accept', body),
    onSuccess: async () => {
      await forgetAll();
      await navigate({ to: '/', replace: true });
    },
  });
  const { person } = session;
  const signOut = useMutation({
    mutationFn: () => personApi.delete('/api/session'),
    onSuccess: forgetAll,
  });
  const isForOther =
    person && invitation.email !== null && invitation.email.toLowerCase() !== person.email.toLowerCase();
  const submit = (event: FormEvent) => {
    event.preventDefault();
    accept.mutate(person ? { secret } : { secret, account });
  };
  const role = t(`role.${invitation.role}`);
  return (
    <AuthLayout
      title={t('inviteTitle', { tenant: invitation.tenantTitle })}
      about={t('inviteHint', { by: actorText(invitation.createdBy), role })}
    >
      <form onSubmit={submit}>
        <Stack gap="md">
          {accept.error && <ErrorNotice error={accept.error} title={t('joinFailed')} />}
          {invitation.email !== null && (
            <p className={styles.facts}>{t('inviteFor', { email: invitation.email })}</p>
          )}
          {person ? (
            <p className={styles.facts}>
              {t('inviteAs', { email: person.email })} {t(isForOther ? 'inviteForOther' : 'inviteOther')}
            </p>
          ) : (
            <AccountFields value={account} onChange={setAccount} fixedEmail={invitation.email !== null} />
          )}
          {signOut.error && <ErrorNotice error={signOut.error} title={t('failed')} />}
          {!isForOther && (
            <Button type="submit" variant="filled" fullWidth loading={accept.isPending}>
              {t('join')}
            </Button>
          )}
          {person && (
            <Button
              variant={isForOther ? 'filled' : 'subtle'}
              loading={signOut.isPending}
              onClick={() => signOut.mutate()}
            >
              {t('signOut')}
            </Button>
          )}
          {!person && (
            <LinkButton
              to="/sign-in"
              search={{ to: '/invite' }}
              variant="subtle"
              onClick={() => keepLinkSecret(secret)}
            >
              {t('haveAccount')}
            </LinkButton>
          )}
        </Stack>
      </form>
    </AuthLayout>
  );
}
