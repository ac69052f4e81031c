import { Button, Group, Stack, TextInput } from '@mantine/core';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { type FormEvent, useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { InvitationCreate, InvitationCreated } from '#contract/member.ts';
import { type Role, roles } from '#contract/token.ts';
import { useTenant } from '#web/dashboard/api/tenant.tsx';
import { CopyField } from '#web/dashboard/pieces/fields/copy-field.tsx';
import { Dialog } from '#web/dashboard/pieces/layers/dialog.tsx';
import { ErrorNotice } from '#web/dashboard/pieces/notice.tsx';
import { RoleRadios } from './role-dialog.tsx';

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
