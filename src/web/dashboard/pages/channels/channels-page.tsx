import failingIcon from 'virtual:icon/alert-triangle';
import disabledIcon from 'virtual:icon/ban';
import emptyIcon from 'virtual:icon/bell';
import goodIcon from 'virtual:icon/circle-check';
import unusedIcon from 'virtual:icon/clock';
import { Button } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useTranslation } from 'react-i18next';
import type { Channel } from '#contract/channels/channel.ts';
import { liveChannelsQuery, pushDevicesQuery } from '#web/dashboard/api/queries.ts';
import { useTenant } from '#web/dashboard/api/tenant.tsx';
import { StateMark } from '#web/dashboard/components/facts.tsx';
import { newItem, useOpened } from '#web/dashboard/components/layers.tsx';
import { EmptyState, RoleRemark } from '#web/dashboard/components/notice.tsx';
import { CreateButton, Page } from '#web/dashboard/components/page.tsx';
import { RowButton, RowTable } from '#web/dashboard/components/row-table.tsx';
import { Ago } from '#web/dashboard/formats/use-formats.tsx';
import { ChannelDrawer, ChannelProblem } from './channel-drawer.tsx';
import styles from './channels.module.css';

/** Where rules may send notifications beside panels. */
export function ChannelsPage() {
  const { t } = useTranslation('channels');
  const tenant = useTenant();
  const [id, open] = useOpened();
  const query = useQuery(liveChannelsQuery(tenant));
  const mayEdit = tenant.may('admin');
  const channel = query.data?.find((each) => each.id === id);
  const create = mayEdit && <CreateButton onClick={() => open(newItem)}>{t('create')}</CreateButton>;
  const createFirst = mayEdit && (
    <Button variant="filled" onClick={() => open(newItem)}>
      {t('create')}
    </Button>
  );
  return (
    <Page wide title={t('channels')} about={t('about')} actions={create}>
      {!mayEdit && <RoleRemark what="mayNot" />}
      <RowTable
        query={query}
        empty={
          <EmptyState icon={emptyIcon} title={t('empty')} action={createFirst}>
            {t('emptyText')}
          </EmptyState>
        }
        caption={t('channels')}
        keys={[mayEdit && t('keys.create')]}
        keyOf={(each) => each.id}
        onOpen={open}
        columns={[
          [t('name'), (each) => <ChannelName channel={each} />],
          [t('kind'), ({ kind }) => t(`kind.${kind}`), styles.kind],
          [t('state'), (each) => <ChannelMark channel={each} />, styles.state],
          [t('pending'), ({ state }) => state.pending, styles.pending],
          [
            t('lastDelivered'),
            ({ state }) => <Ago at={state.lastDeliveredAt} never={t('never')} />,
            styles.last,
          ],
        ]}
      />
      {channel && <ChannelDrawer key={channel.id} channel={channel} onClose={() => open(undefined)} />}
      {mayEdit && id === newItem && (
        <ChannelDrawer
          channel={undefined}
          onCreated={(created) => open(created, true)}
          onClose={() => open(undefined)}
        />
      )}
    </Page>
  );
}

function ChannelName({ channel }: { channel: Channel }) {
  return (
    <>
      <RowButton name={channel.name} />
      <ChannelProblem channel={channel} className={styles.problem} />
    </>
  );
}

const looks = {
  disabled: { icon: disabledIcon, tone: 'quiet' },
  failing: { icon: failingIcon, tone: 'doubtful' },
  noAnswers: { icon: failingIcon, tone: 'doubtful' },
  noDevice: { icon: failingIcon, tone: 'doubtful' },
  unused: { icon: unusedIcon, tone: 'quiet' },
  working: { icon: goodIcon, tone: 'good' },
} as const;

function ChannelMark({ channel: { id, kind, enabled, state } }: { channel: Channel }) {
  const { t } = useTranslation('channels');
  const { data } = useQuery({
    ...pushDevicesQuery(useTenant(), id),
    enabled: kind === 'push' && enabled,
  });
  const hasNoDevice = data?.devices.length === 0;
  const is = stateOf({ enabled, hasNoDevice, ...state });
  return <StateMark {...looks[is]}>{t(`state.${is}`)}</StateMark>;
}

function stateOf({
  enabled,
  hasNoDevice,
  failingSince,
  answersFailingSince,
  lastDeliveredAt,
}: Pick<Channel, 'enabled'> & Channel['state'] & { readonly hasNoDevice: boolean }): keyof typeof looks {
  if (!enabled) return 'disabled';
  if (failingSince !== null) return 'failing';
  if (answersFailingSince !== null) return 'noAnswers';
  if (hasNoDevice) return 'noDevice';
  return lastDeliveredAt === null ? 'unused' : 'working';
}
