import { Button, Group, NativeSelect } from '@mantine/core';
import { useMutation, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { Channel } from '#contract/channels/channel.ts';
import type { PushDevice, PushLinkCreated } from '#contract/panels/push.ts';
import { channelPath, membersQuery, pushDevicesQuery } from '#web/dashboard/api/queries.ts';
import { useTenant } from '#web/dashboard/api/tenant.tsx';
import { ErrorNotice } from '#web/dashboard/components/notice.tsx';
import { QrCode } from '#web/dashboard/components/qr-code.tsx';
import { CopyField } from '#web/dashboard/fields/copy-field.tsx';
import { DeleteButton } from '#web/dashboard/fields/edit-form.tsx';
import { Ago, useNow } from '#web/dashboard/formats/use-formats.tsx';
import styles from './channels.module.css';

/** The browsers and phones of a push channel, and the way to add one. */
export function PushDevices({ channel }: { channel: Channel }) {
  const { t } = useTranslation('channels');
  const tenant = useTenant();
  const { data, error, refetch } = useQuery(pushDevicesQuery(tenant, channel.id));
  const [owner, setOwner] = useState('');
  const link = useMutation({
    mutationFn: () =>
      tenant.api.post<PushLinkCreated>(`${channelPath(channel.id)}/devices`, { userId: owner || null }),
  });
  const added = data?.devices.find(({ id }) => id === link.data?.id);
  return (
    <section aria-label={t('devices')} className={styles.devices}>
      <h3>{t('devices')}</h3>
      {error && !data && <ErrorNotice error={error} onRetry={() => void refetch()} />}
      {data?.devices.length === 0 && <p className="muted">{t('devicesEmpty')}</p>}
      {data && data.devices.length > 1 && <p className="muted">{t('devicesMany')}</p>}
      {data && data.devices.length > 0 && (
        <ul className={styles.log}>
          {data.devices.map((device) => (
            <DeviceRow key={device.id} channel={channel} device={device} />
          ))}
        </ul>
      )}
      {tenant.may('admin') && (
        <div className={styles.log}>
          <div role="status">{added && t('deviceAdded', { name: added.name })}</div>
          {link.data && !added && <NewLink {...link.data} />}
          {link.error && <ErrorNotice error={link.error} title={t('deviceNotAdded')} />}
          <OwnerSelect
            value={owner}
            onChange={(id) => {
              setOwner(id);
              // It would add a device of somebody else.
              link.reset();
            }}
          />
          <div>
            <Button loading={link.isPending} onClick={() => link.mutate()}>
              {t(link.data && !added ? 'newLink' : 'addDevice')}
            </Button>
          </div>
        </div>
      )}
    </section>
  );
}

function OwnerSelect({ value, onChange }: { value: string; onChange: (id: string) => void }) {
  const { t } = useTranslation('channels');
  const { data: members = [] } = useQuery(membersQuery(useTenant()));
  return (
    <NativeSelect
      label={t('deviceOwner')}
      description={t('deviceOwnerHint')}
      value={value}
      onChange={(event) => onChange(event.currentTarget.value)}
      data={[
        { value: '', label: t('deviceOfNobody') },
        ...members.map(({ id, name }) => ({ value: id, label: name })),
      ]}
    />
  );
}

function NewLink({ link, expiresAt }: PushLinkCreated) {
  const { t } = useTranslation('channels');
  if (useNow(1_000) >= Date.parse(expiresAt)) return <p className={styles.notice}>{t('linkExpired')}</p>;
  return (
    <>
      <p>{t('linkHint')}</p>
      <QrCode text={link} label={t('linkQr')} size={220} />
      <CopyField text={link} label={t('link')} />
      <div>
        <Button component="a" href={link} target="_blank" rel="noopener">
          {t('thisBrowser')}
        </Button>
      </div>
      {!link.startsWith('https:') && !/^http:\/\/(?:localhost|127\.0\.0\.1)[:/]/.test(link) && (
        <p className={styles.notice}>{t('needsHttps')}</p>
      )}
    </>
  );
}

function DeviceRow({ channel, device }: { channel: Channel; device: PushDevice }) {
  const { t } = useTranslation('channels');
  const tenant = useTenant();
  const { id, name, person, addedAt, lastDeliveredAt, lastError } = device;
  return (
    <li>
      <Group justify="space-between" wrap="nowrap" align="start">
        <span>
          <strong>
            <bdi>{name}</bdi>
          </strong>
          <br />
          <span className="muted">
            {person === null ? t('deviceOfNobody') : <bdi>{person.name}</bdi>} · {t('deviceAddedAt')}:{' '}
            <Ago at={addedAt} /> · {t('lastDelivered')}: <Ago at={lastDeliveredAt} never={t('never')} />
          </span>
          {lastError !== null && (
            <>
              <br />
              <bdi>{lastError}</bdi>
            </>
          )}
        </span>
        {tenant.may('admin') && (
          <DeleteButton
            path={`${channelPath(channel.id)}/devices/${encodeURIComponent(id)}`}
            list={['channels', channel.id, 'devices']}
            label={t('removeDevice')}
            title={t('removeDeviceTitle', { name })}
            action={t('removeDeviceDo')}
          >
            {t('removeDeviceAbout')}
          </DeleteButton>
        )}
      </Group>
    </li>
  );
}
