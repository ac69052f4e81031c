import editIcon from 'virtual:icon/pencil';
import shieldIcon from 'virtual:icon/shield-check';
import { Button, Group, Radio, Stack, TextInput } from '@mantine/core';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { Invitation, InvitationCreate, InvitationCreated, Member } from '#contract/people/member.ts';
import { type Role, roles } from '#contract/people/token.ts';
import { invitationsQuery, membersQuery, useListChange } from '#web/dashboard/api/queries.ts';
import { useForgetEverything, usePerson } from '#web/dashboard/api/session.ts';
import { useTenant } from '#web/dashboard/api/tenant.tsx';
import { Icon } from '#web/dashboard/components/icon.tsx';
import { Confirm, Dialog, DialogForm, NewContent } from '#web/dashboard/components/layers.tsx';
import { ErrorNotice, Remark, showToast } from '#web/dashboard/components/notice.tsx';
import { CreateButton, Page, Section } from '#web/dashboard/components/page.tsx';
import { CopyField } from '#web/dashboard/fields/copy-field.tsx';
import type { Field } from '#web/dashboard/fields/form-values.ts';
import { actorText } from '#web/dashboard/formats/formats.ts';
import { Ago, useFormats } from '#web/dashboard/formats/use-formats.tsx';
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

/** The tenant's members with their roles. */
function MemberTable({ members }: { members: readonly Member[] }) {
  const { t } = useTranslation('members');
  const [leaving, setLeaving] = useState<Member>();
  return (
    <div className={styles.scroll}>
      <table className={`table ${styles.table}`}>
        <thead>
          <tr>
            <th scope="col">{t('name')}</th>
            <th scope="col">{t('role')}</th>
            <th scope="col" className={styles.aside}>
              {t('sign')}
            </th>
            <th scope="col" className={styles.aside}>
              {t('lastSeen')}
            </th>
            <th scope="col" className={styles.aside}>
              {t('joined')}
            </th>
            <th scope="col">
              <span className="hidden">{t('actions')}</span>
            </th>
          </tr>
        </thead>
        <tbody>
          {members.map((member) => (
            <MemberRow key={member.id} member={member} onRemove={() => setLeaving(member)} />
          ))}
        </tbody>
      </table>
      {leaving && <RemoveDialog member={leaving} onClose={() => setLeaving(undefined)} />}
    </div>
  );
}

function MemberRow({ member, onRemove }: { member: Member; onRemove: () => void }) {
  const { t } = useTranslation('members');
  const formats = useFormats();
  const person = usePerson();
  const { may } = useTenant();
  const isSelf = member.id === person.id;
  const mayRemove = isSelf || may(member.role === 'owner' ? 'owner' : 'admin');
  return (
    <tr>
      <td>
        <bdi className={styles.name}>{member.name}</bdi>
        {isSelf && (
          <>
            {' '}
            <span className="chip">{t('you')}</span>
          </>
        )}
        <bdi className={styles.email}>
          {/* A long address breaks before its @, not within a word. */}
          {member.email.split('@')[0]}
          <wbr />@{member.email.split('@')[1]}
        </bdi>
      </td>
      <td>
        <RoleChoice member={member} />
      </td>
      <td className={`${styles.aside} ${member.twoFactor ? styles.safe : 'muted'}`}>
        {member.twoFactor && <Icon paths={shieldIcon} size={15} />}
        {member.twoFactor ? t('twoFactor') : t('noTwoFactor')}
      </td>
      <td className={`${styles.aside} muted`}>
        {member.lastSeenAt === null ? t('never') : <Ago at={member.lastSeenAt} />}
      </td>
      <td className={`${styles.aside} muted`}>{formats.date(member.joinedAt)}</td>
      <td className="end">
        {mayRemove && (
          <Button
            size="xs"
            variant="subtle"
            aria-label={isSelf ? t('leave') : t('removeOf', { name: member.name })}
            onClick={onRemove}
          >
            {isSelf ? t('leave') : t('remove')}
          </Button>
        )}
      </td>
    </tr>
  );
}

/** The role; a button if the person may change it. */
function RoleChoice({ member }: { member: Member }) {
  const { t } = useTranslation('members');
  const { may } = useTenant();
  const [changing, setChanging] = useState(false);
  const role = t(`role.${member.role}`);
  const mayChange = may(member.role === 'owner' ? 'owner' : 'admin');
  if (!mayChange) return <span title={t(`can.${member.role}`)}>{role}</span>;
  return (
    <>
      <Button
        size="xs"
        aria-label={t('roleOf', { name: member.name, role })}
        aria-haspopup="dialog"
        title={t(`can.${member.role}`)}
        rightSection={<Icon paths={editIcon} size={14} />}
        onClick={() => setChanging(true)}
      >
        {role}
      </Button>
      {changing && <RoleDialog member={member} onClose={() => setChanging(false)} />}
    </>
  );
}

function RemoveDialog({ member, onClose }: { member: Member; onClose: () => void }) {
  const { t } = useTranslation('members');
  const { api, key, title: tenant } = useTenant();
  const person = usePerson();
  const client = useQueryClient();
  const navigate = useNavigate();
  const forgetAll = useForgetEverything();
  const isSelf = member.id === person.id;
  const remove = async () => {
    await api.delete(`/api/members/${member.id}`);
    if (!isSelf) return client.invalidateQueries({ queryKey: [...key, 'members'] });
    await forgetAll();
    await navigate({ to: '/' });
  };
  return (
    <Confirm
      title={isSelf ? t('leaveTitle', { tenant }) : t('removeTitle', { name: member.name })}
      action={isSelf ? t('leave') : t('remove')}
      onConfirm={remove}
      onClose={onClose}
    >
      {isSelf ? t('leaveText') : t('removeText', { name: member.name, email: member.email })}
    </Confirm>
  );
}

/** Changes a member's role to one that the person may give. */
function RoleDialog({ member, onClose }: { member: Member; onClose: () => void }) {
  const { t } = useTranslation('members');
  const person = usePerson();
  const client = useQueryClient();
  const [role, setRole] = useState<Role>(member.role);
  const change = useListChange('members', async ({ api }) => {
    const changed = await api.patch<Member>(`/api/members/${member.id}`, { role });
    void client.invalidateQueries({ queryKey: ['session'] });
    showToast({ message: t('changed', { name: changed.name, role: t(`role.${changed.role}`) }) });
    onClose();
  });
  const losesRights = member.id === person.id && roles.indexOf(role) < roles.indexOf(member.role);
  return (
    <Dialog onClose={onClose} title={t('roleTitle', { name: member.name })}>
      <DialogForm
        action={t('roleChange')}
        request={change}
        errorTitle={t('changeFailed')}
        isDisabled={role === member.role}
        onSubmit={() => change.mutate(undefined)}
        onClose={onClose}
      >
        <RoleRadios value={role} onChange={setRole} />
        {losesRights && <Remark>{t('roleOwn')}</Remark>}
      </DialogForm>
    </Dialog>
  );
}

function RoleRadios({ value, onChange }: Field<Role>) {
  const { t } = useTranslation('members');
  const { may } = useTenant();
  return (
    <Radio.Group label={t('role')} value={value} onChange={(chosen) => onChange(chosen as Role)}>
      <Stack gap="xs">
        {roles.filter(may).map((each) => (
          <Radio key={each} value={each} label={t(`role.${each}`)} description={t(`can.${each}`)} />
        ))}
      </Stack>
    </Radio.Group>
  );
}
