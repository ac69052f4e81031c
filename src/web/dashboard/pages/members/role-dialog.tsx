import { Button, Group, Radio, Stack } from '@mantine/core';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { type FormEvent, useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { Member } from '#contract/member.ts';
import { type Role, roles } from '#contract/token.ts';
import { usePerson } from '#web/dashboard/api/session.ts';
import { useTenant } from '#web/dashboard/api/tenant.tsx';
import { Dialog } from '#web/dashboard/pieces/layers/dialog.tsx';
import { showToast } from '#web/dashboard/pieces/layers/toast.ts';
import { ErrorNotice, Remark } from '#web/dashboard/pieces/notice.tsx';

/** Changes a member's role; roles that the person may not give are not offered. */
export function RoleDialog({ member, onClose }: { member: Member; onClose: () => void }) {
  const { t } = useTranslation('members');
  const { t: shell } = useTranslation('shell');
  const { api, key, may } = useTenant();
  const person = usePerson();
  const client = useQueryClient();
  const [role, setRole] = useState<Role>(member.role);
  const change = useMutation({
    mutationFn: () => api.patch<Member>(`/api/members/${member.id}`, { role }),
    onSuccess: (changed) => {
      showToast({ message: t('changed', { name: changed.name, role: shell(`role.${changed.role}`) }) });
      onClose();
    },
    onSettled: () => {
      void client.invalidateQueries({ queryKey: [...key, 'members'] });
      void client.invalidateQueries({ queryKey: ['session'] });
    },
  });
  const losesRights = member.id === person.id && roles.indexOf(role) < roles.indexOf(member.role);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    change.mutate();
  };
  return (
    <Dialog onClose={onClose} title={t('roleTitle', { name: member.name })}>
      <form onSubmit={submit}>
        <Stack gap="md">
          {change.error && <ErrorNotice error={change.error} title={t('changeFailed')} />}
          <RoleRadios label={t('role')} value={role} onChange={setRole} offered={roles.filter(may)} />
          {losesRights && <Remark>{t('roleOwn')}</Remark>}
          <Group justify="flex-end">
            <Button onClick={onClose}>{shell('cancel')}</Button>
            <Button type="submit" variant="filled" loading={change.isPending} disabled={role === member.role}>
              {t('roleChange')}
            </Button>
          </Group>
        </Stack>
      </form>
    </Dialog>
  );
}

/** Roles to choose from, each with what it allows. */
export function RoleRadios({
  label,
  value,
  offered,
  onChange,
}: {
  label: string;
  value: Role;
  offered: readonly Role[];
  onChange: (role: Role) => void;
}) {
  const { t } = useTranslation('members');
  const { t: shell } = useTranslation('shell');
  return (
    <Radio.Group label={label} value={value} onChange={(chosen) => onChange(chosen as Role)}>
      <Stack gap="xs">
        {offered.map((each) => (
          <Radio key={each} value={each} label={shell(`role.${each}`)} description={t(`can.${each}`)} />
        ))}
      </Stack>
    </Radio.Group>
  );
}
