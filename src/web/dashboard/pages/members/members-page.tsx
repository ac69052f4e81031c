import plusIcon from 'virtual:icon/user-plus';
import { Button } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { invitationsQuery, membersQuery } from '#web/dashboard/api/members.ts';
import { useTenant } from '#web/dashboard/api/tenant.tsx';
import { Icon } from '#web/dashboard/pieces/icon.tsx';
import { ErrorNotice } from '#web/dashboard/pieces/notice.tsx';
import { Page, Section } from '#web/dashboard/pieces/page.tsx';
import { useShortcuts } from '#web/dashboard/shell/shortcuts.ts';
import { InvitationList } from './invitation-list.tsx';
import { InviteDialog } from './invite-dialog.tsx';
import { MemberTable } from './member-table.tsx';

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
