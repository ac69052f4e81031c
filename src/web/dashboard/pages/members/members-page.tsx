import { Button, Group, Stack, TextInput } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { Invitation, InvitationCreate, InvitationCreated } from '#contract/people/member.ts';
import type { Role } from '#contract/people/token.ts';
import { invitationsQuery, membersQuery, useListChange } from '#web/dashboard/api/queries.ts';
import { useTenant } from '#web/dashboard/api/tenant.tsx';
import { Dialog, DialogForm, NewContent } from '#web/dashboard/components/layers.tsx';
import { ErrorNotice } from '#web/dashboard/components/notice.tsx';
import { CreateButton, Page, Section } from '#web/dashboard/components/page.tsx';
import { CopyField } from '#web/dashboard/fields/copy-field.tsx';
import { actorText } from '#web/dashboard/formats/actor.ts';
import { useFormats } from '#web/dashboard/formats/formats.ts';
import { MemberTable, RoleRadios } from './member-table.tsx';
import styles from './members.module.css';

/** Members and invitations. */
export function MembersPage() {
  const { t } = useTranslation('members');
  const tenant = useTenant();
  const mayInvite = tenant.may('admin');
  const [inviting, setInviting] = useState(false);
  const members = useQuery(membersQuery(tenant));
  const invitations = useQuery(invitationsQuery(tenant));
  return (
    <Page
      title={t('members')}
      about={t('about')}
      actions={mayInvite && <CreateButton onClick={() => setInviting(true)}>{t('invite')}</CreateButton>}
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

/** Open invitations. */
function InvitationList({ invitations }: { invitations: readonly Invitation[] }) {
  const { t } = useTranslation('members');
  const formats = useFormats();
  const withdraw = useListChange('invitations', ({ api }, id: string) =>
    api.delete(`/api/invitations/${id}`),
  );
  if (invitations.length === 0) return <p className="muted">{t('noInvitations')}</p>;
  return (
    <>
      {withdraw.error && <ErrorNotice error={withdraw.error} title={t('failed')} />}
      <ul className={styles.list}>
        {invitations.map(({ id, email, role, expiresAt, createdBy }) => (
          <li key={id} className={styles.invitation}>
            <span>
              <bdi>{email ?? t('anyone')}</bdi>
              <span className="muted"> · {actorText(createdBy)}</span>
            </span>
            <span>{t(`role.${role}`)}</span>
            <span className="muted">{t('expires', { date: formats.date(expiresAt) })}</span>
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
function InviteDialog({ onClose }: { onClose: () => void }) {
  const { t } = useTranslation('members');
  const [role, setRole] = useState<Role>('member');
  const [email, setEmail] = useState('');
  const create = useListChange('invitations', ({ api }, body: InvitationCreate) =>
    api.post<InvitationCreated>('/api/invitations', body),
  );
  return (
    <Dialog onClose={onClose} title={t('invite')}>
      {create.data ? (
        <Stack gap="md">
          <NewContent>{t('inviteReady')}</NewContent>
          <CopyField text={create.data.link} label={t('inviteLink')} />
          <Group justify="flex-end">
            <Button variant="filled" onClick={onClose}>
              {t('done')}
            </Button>
          </Group>
        </Stack>
      ) : (
        <DialogForm
          action={t('inviteCreate')}
          request={create}
          errorTitle={t('inviteFailed')}
          onSubmit={() => create.mutate({ role, ...(email.trim() !== '' && { email: email.trim() }) })}
          onClose={onClose}
        >
          <p className="muted">{t('inviteHint')}</p>
          <RoleRadios value={role} onChange={setRole} />
          <TextInput
            label={t('inviteEmail')}
            description={t('inviteEmailHint')}
            type="email"
            maxLength={254}
            value={email}
            onChange={({ currentTarget }) => setEmail(currentTarget.value)}
          />
        </DialogForm>
      )}
    </Dialog>
  );
}
