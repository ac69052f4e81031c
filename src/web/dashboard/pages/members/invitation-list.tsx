import { Button } from '@mantine/core';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useTranslation } from 'react-i18next';
import type { Invitation } from '#contract/member.ts';
import { useTenant } from '#web/dashboard/api/tenant.tsx';
import { useFormats } from '#web/dashboard/pieces/formats.ts';
import { ErrorNotice } from '#web/dashboard/pieces/notice.tsx';
import styles from './members.module.css';

/** Those who were asked and have not answered. */
export function InvitationList({ invitations }: { invitations: readonly Invitation[] }) {
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
