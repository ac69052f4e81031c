import plusIcon from 'virtual:icon/user-plus';
import { Button, Group, Stack, TextInput } from '@mantine/core';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { type FormEvent, useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { Invitation, InvitationCreate, InvitationCreated } from '#contract/member.ts';
import { type Role, roles } from '#contract/token.ts';
import { invitationsQuery, membersQuery } from '#web/dashboard/api/queries.ts';
import { useTenant } from '#web/dashboard/api/tenant.tsx';
import { CopyField } from '#web/dashboard/components/copy-field.tsx';
import { useFormats } from '#web/dashboard/components/formats.ts';
import { Icon } from '#web/dashboard/components/icon.tsx';
import { Dialog } from '#web/dashboard/components/layers.tsx';
import { ErrorNotice } from '#web/dashboard/components/notice.tsx';
import { Page, Section } from '#web/dashboard/components/page.tsx';
import { useShortcuts } from '#web/dashboard/shell/shortcuts.ts';
import { MemberTable, RoleRadios } from './member-table.tsx';
import styles from './members.module.css';

/** The people of the tenant, and those who are asked to join. */
export function MembersPage() {
  const { t } = useTranslation('members');
  const tenant = useTenant();
  const mayInvite = tenant.may('admin');
  const [inviting, setInviting] = useState(false);
  const members = useQuery(membersQuery(tenant));
  const invitations = useQuery(invitationsQuery(tenant));
  useShortcuts(mayInvite ? { n: () => setInviting(true) } : {});
  return (
    <Page
      title={t('title')}
      about={t('about')}
      actions={
        mayInvite && (
          <Button
            variant="filled"
            leftSection={<Icon paths={plusIcon} />}
            aria-keyshortcuts="n"
            onClick={() => setInviting(true)}
          >
            {t('invite')}
          </Button>
        )
      }
      wide
    >
      {members.error && <ErrorNotice error={members.error} onRetry={() => void members.refetch()} />}
      {members.data && <MemberTable members={members.data} />}
      {mayInvite && (
        <Section title={t('invitations')}>
          {invitations.error && (
            <ErrorNotice error={invitations.error} onRetry={() => void invitations.refetch()} />
          )}
          {invitations.data && <InvitationList invitations={invitations.data} />}
        </Section>
      )}
      {inviting && <InviteDialog onClose={() => setInviting(false)} />}
    </Page>
  );
}

/** Those who were asked and have not answered. */
function InvitationList({ invitations }: { invitations: readonly Invitation[] }) {
  const { t } = useTranslation('members');
  const { t: shell } = useTranslation('shell');
  const formats = useFormats();
  const { api, key } = useTenant();
  const client = useQueryClient();
  const withdraw = useMutation({
    mutationFn: (id: string) => api.delete(`/api/invitations/${id}`),
    onSettled: () => client.invalidateQueries({ queryKey: [...key, 'invitations'] }),
  });
  if (invitations.length === 0) return <p className="muted">{t('noInvitations')}</p>;
  return (
    <>
      {withdraw.error && <ErrorNotice error={withdraw.error} title={shell('failed')} />}
      <ul className={styles.list}>
        {invitations.map(({ id, email, role, expiresAt, createdBy }) => (
          <li key={id} className={styles.invitation}>
            <span>
              <bdi>{email ?? t('anyone')}</bdi>
              <span className="muted"> · {createdBy}</span>
            </span>
            <span>{shell(`role.${role}`)}</span>
            <span className="muted">{t('expires', { when: formats.relative(expiresAt) })}</span>
            <Button
              size="xs"
              variant="subtle"
              aria-label={t('withdrawOf', { who: email ?? t('anyone') })}
              onClick={() => withdraw.mutate(id)}
            >
              {t('withdraw')}
            </Button>
          </li>
        ))}
      </ul>
    </>
  );
}

/** Makes an invitation link, and shows it once. */
export function InviteDialog({ onClose }: { onClose: () => void }) {
  const { t } = useTranslation('members');
  const { t: shell } = useTranslation('shell');
  const { api, key, may } = useTenant();
  const client = useQueryClient();
  const [role, setRole] = useState<Role>('member');
  const [email, setEmail] = useState('');
  const create = useMutation({
    mutationFn: (body: InvitationCreate) => api.post<InvitationCreated>('/api/invitations', body),
    onSuccess: () => client.invalidateQueries({ queryKey: [...key, 'invitations'] }),
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    create.mutate({ role, ...(email.trim() !== '' && { email: email.trim() }) });
  };
  return (
    <Dialog onClose={onClose} title={t('inviteTitle')}>
      {create.data ? (
        <Stack gap="md">
          <p>{t('inviteReady')}</p>
          <CopyField text={create.data.link} label={t('inviteLink')} />
          <Group justify="flex-end">
            <Button variant="filled" onClick={onClose}>
              {t('done')}
            </Button>
          </Group>
        </Stack>
      ) : (
        <form onSubmit={submit}>
          <Stack gap="md">
            <p className="muted">{t('inviteHint')}</p>
            {create.error && <ErrorNotice error={create.error} title={t('inviteFailed')} />}
            <RoleRadios label={t('role')} value={role} onChange={setRole} offered={roles.filter(may)} />
            <TextInput
              label={t('inviteEmail')}
              description={t('inviteEmailHint')}
              type="email"
              maxLength={254}
              value={email}
              onChange={({ currentTarget }) => setEmail(currentTarget.value)}
            />
            <Group justify="flex-end">
              <Button onClick={onClose}>{shell('cancel')}</Button>
              <Button type="submit" variant="filled" loading={create.isPending}>
                {t('inviteCreate')}
              </Button>
            </Group>
          </Stack>
        </form>
      )}
    </Dialog>
  );
}
