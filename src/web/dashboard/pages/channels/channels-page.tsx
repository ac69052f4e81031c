import failingIcon from 'virtual:icon/alert-triangle';
import disabledIcon from 'virtual:icon/ban';
import emptyIcon from 'virtual:icon/bell';
import goodIcon from 'virtual:icon/circle-check';
import { Button } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { Channel } from '#contract/channel.ts';
import { liveChannelsQuery, pushDevicesQuery } from '#web/dashboard/api/queries.ts';
import { useTenant } from '#web/dashboard/api/tenant.tsx';
import { Ago } from '#web/dashboard/components/ago.tsx';
import { StateMark } from '#web/dashboard/components/facts.tsx';
import { EmptyState, ErrorNotice, Remark } from '#web/dashboard/components/notice.tsx';
import { CreateButton, Page } from '#web/dashboard/components/page.tsx';
import { OpeningRow, RowButton, RowTable, useRowKeys } from '#web/dashboard/components/row-table.tsx';
import { ChannelDrawer } from './channel-drawer.tsx';
import { ChannelProblem } from './channel-problem.tsx';
import styles from './channels.module.css';

/** Where rules may send notifications beside panels. */
export function ChannelsPage() {
  const { t } = useTranslation('channels');
  const tenant = useTenant();
  const { id } = useSearch({ from: '/signed-in/t/$tenant/settings/channels' });
  const navigate = useNavigate({ from: '/t/$tenant/settings/channels' });
  const { data: channels, error, refetch } = useQuery(liveChannelsQuery(tenant));
  const [isCreating, setCreating] = useState(false);
  const mayEdit = tenant.may('admin');
  const open = (opened: string | undefined) =>
    void navigate({ search: opened === undefined ? {} : { id: opened }, replace: opened === undefined });
  const channel = channels?.find((each) => each.id === id);
  const create = mayEdit && <CreateButton onClick={() => setCreating(true)}>{t('create')}</CreateButton>;
  return (
    <Page wide title={t('channels')} about={t('about')} actions={create}>
      {!mayEdit && <Remark>{t('mayNot', { role: t(`role.${tenant.role}`) })}</Remark>}
      {error && !channels && <ErrorNotice error={error} onRetry={() => void refetch()} />}
      {channels?.length === 0 && (
        <EmptyState
          icon={emptyIcon}
          title={t('empty')}
          action={
            mayEdit && (
              <Button variant="filled" onClick={() => setCreating(true)}>
                {t('create')}
              </Button>
            )
          }
        >
          {t('emptyText')}
        </EmptyState>
      )}
      {!error && channels?.length !== 0 && <ChannelList channels={channels} onOpen={open} />}
      {channel && <ChannelDrawer key={channel.id} channel={channel} onClose={() => open(undefined)} />}
      {isCreating && (
        <ChannelDrawer
          channel={undefined}
          onCreated={(created) => {
            setCreating(false);
            open(created);
          }}
          onClose={() => setCreating(false)}
        />
      )}
    </Page>
  );
}

function ChannelList({
  channels,
  onOpen,
}: {
  channels: readonly Channel[] | undefined;
  onOpen: (id: string) => void;
}) {
  const { t } = useTranslation('channels');
  const rows = useRowKeys<HTMLTableElement>();
  return (
    <RowTable
      rows={rows}
      caption={t('channels')}
      isWaiting={!channels}
      hint={t('keys')}
      head={
        <>
          <th>{t('name')}</th>
          <th className={styles.kind}>{t('kind')}</th>
          <th className={styles.state}>{t('state')}</th>
          <th className={styles.pending}>{t('pending')}</th>
          <th className={styles.last}>{t('lastDelivered')}</th>
        </>
      }
    >
      {channels?.map((channel) => (
        <OpeningRow key={channel.id} onOpen={() => onOpen(channel.id)}>
          <td>
            <RowButton onOpen={() => onOpen(channel.id)}>
              <strong>
                <bdi>{channel.name}</bdi>
              </strong>
            </RowButton>
            <ChannelProblem channel={channel} className={styles.problem} />
          </td>
          <td className={styles.kind}>{t(`kind.${channel.kind}`)}</td>
          <td className={styles.state}>
            <ChannelMark channel={channel} />
          </td>
          <td className={styles.pending}>{channel.state.pending}</td>
          <td className={styles.last}>
            {channel.state.lastDeliveredAt === null ? (
              <span className="muted">{t('never')}</span>
            ) : (
              <Ago at={channel.state.lastDeliveredAt} />
            )}
          </td>
        </OpeningRow>
      ))}
    </RowTable>
  );
}

function ChannelMark({ channel: { id, kind, enabled, state } }: { channel: Channel }) {
  const { t } = useTranslation('channels');
  const { data } = useQuery({
    ...pushDevicesQuery(useTenant(), id),
    enabled: kind === 'push' && enabled,
  });
  if (!enabled)
    return (
      <StateMark icon={disabledIcon} tone="quiet">
        {t('state.disabled')}
      </StateMark>
    );
  if (state.failingSince !== null)
    return (
      <StateMark icon={failingIcon} tone="doubtful">
        {t('state.failing')}
      </StateMark>
    );
  if (data?.devices.length === 0)
    return (
      <StateMark icon={failingIcon} tone="doubtful">
        {t('state.noDevice')}
      </StateMark>
    );
  return (
    <StateMark icon={goodIcon} tone="good">
      {t('state.working')}
    </StateMark>
  );
}
