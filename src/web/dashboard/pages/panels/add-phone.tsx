/** Adding a phone: a panel, a token to read it, and what to enter in the app. */
import comeIcon from 'virtual:icon/circle-check';
import waitingIcon from 'virtual:icon/hourglass';
import { Button, Group, Stack, TextInput } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { Panel } from '#contract/panels/panel.ts';
import { panelsQuery, useListChange, useServerAddress } from '#web/dashboard/api/queries.ts';
import { useTenant } from '#web/dashboard/api/tenant.tsx';
import { Icon } from '#web/dashboard/components/icon.tsx';
import { Dialog, DialogForm, NewContent } from '#web/dashboard/components/layers.tsx';
import { Remark } from '#web/dashboard/components/notice.tsx';
import { SegmentedField } from '#web/dashboard/fields/choice-fields.tsx';
import { CopyField } from '#web/dashboard/fields/copy-field.tsx';
import { Ago } from '#web/dashboard/formats/use-formats.tsx';
import styles from './pairing.module.css';
import { PhoneRules, PhoneTest } from './phone-check.tsx';

const apps = ['ntfy', 'gotify'] as const;
type App = (typeof apps)[number];

interface AddedPhone {
  readonly app: App;
  readonly panel: Panel;
  /** The password of the app. */
  readonly token: string;
}

/** Registers the panel first: doing it again after a failure finds it. */
const useAddPhone = () =>
  useListChange('panels', async ({ api }, { name, app }: { name: string; app: App }): Promise<AddedPhone> => {
    const panel = await api.post<Panel>('/api/panels', { name, kind: 'phone' });
    // An app of Gotify names no panel: its token does. One of ntfy may read several with its token.
    const ofPanel = app === 'gotify' && { panelId: panel.id };
    const wanted = { name, scopes: ['panel'], ...ofPanel };
    const { token } = await api.post<{ token: string }>('/api/tokens', wanted);
    return { app, panel, token };
  });

export function AddPhoneDialog({ panels, onClose }: { panels: readonly Panel[]; onClose: () => void }) {
  const { t } = useTranslation('panels');
  const [name, setName] = useState('');
  const [app, setApp] = useState<App>('ntfy');
  const add = useAddPhone();
  // Read before it is shown.
  useServerAddress(useTenant());
  const isTaken = panels.some((each) => each.name === name.trim());
  const { data: added } = add;
  return (
    <Dialog
      onClose={onClose}
      title={t('addPhone')}
      size={520}
      // The token is gone when this closes: that must not happen by mistake.
      closeOnClickOutside={!added}
      closeOnEscape={!added}
      withCloseButton={!added}
    >
      {added ? (
        <PhoneValues {...added} onClose={onClose} />
      ) : (
        <DialogForm
          action={t('addPhone')}
          request={add}
          errorTitle={t('addPhoneFailed')}
          isDisabled={name.trim() === '' || isTaken}
          onSubmit={() => add.mutate({ name: name.trim(), app })}
          onClose={onClose}
        >
          <p className="muted">{t('addPhoneAbout')}</p>
          <TextInput
            label={t('phoneName')}
            description={t('phoneNameHint')}
            placeholder={t('phoneNamePlaceholder')}
            maxLength={100}
            data-autofocus
            value={name}
            onChange={(event) => setName(event.currentTarget.value)}
            error={isTaken && t('phoneNameTaken')}
          />
          <SegmentedField
            label={t('phoneApp')}
            description={t('phoneAppHint')}
            value={app}
            onChange={setApp}
            options={apps.map((each) => [each, appNames[each]])}
          />
        </DialogForm>
      )}
    </Dialog>
  );
}

const appNames: Readonly<Record<App, string>> = { ntfy: 'ntfy', gotify: 'Gotify' };

const askEveryMs = 1_000;

function PhoneValues({ app, panel, token, onClose }: AddedPhone & { onClose: () => void }) {
  const { t } = useTranslation('panels');
  const tenant = useTenant();
  const server = useServerAddress(tenant);
  const { data } = useQuery({ ...panelsQuery(tenant), refetchInterval: askEveryMs });
  const now = data?.find(({ id }) => id === panel.id) ?? panel;
  // An iPhone reads, and keeps no connection.
  const hasCome = now.online || now.lastSeenAt !== null;
  const values = [
    ['phoneServer', `${server}/${app}`],
    ...(app === 'ntfy' ? [['phoneTopic', panel.topic] as const] : []),
    ['phoneUser', 'phone'],
    ['phonePassword', token],
  ] as const;
  return (
    <Stack gap="md">
      <NewContent>
        <p>{t(app === 'ntfy' ? 'phoneSteps' : 'phoneStepsGotify')}</p>
      </NewContent>
      {values.map(([label, text]) => (
        <div key={label}>
          <strong>{t(label)}</strong>
          <CopyField text={text} label={t(label)} />
          {label === 'phoneServer' && server !== location.origin && (
            <Remark>{t('phoneServerDiffers', { address: location.origin })}</Remark>
          )}
        </div>
      ))}
      <p className="muted">{t('phoneOnce')}</p>
      <div className={styles.paired ?? ''} role="status">
        <span className={hasCome ? styles.come : styles.waiting}>
          <Icon paths={hasCome ? comeIcon : waitingIcon} size={36} />
        </span>
        {hasCome ? (
          <span>
            {t('phoneConnected', { app: now.version ?? panel.name })}
            {now.lastSeenAt !== null && (
              <>
                {' · '}
                <Ago at={now.lastSeenAt} />
              </>
            )}
          </span>
        ) : (
          <span className="muted">{t('phoneWaiting')}</span>
        )}
      </div>
      {hasCome && (
        <>
          <PhoneTest panel={now} />
          <PhoneRules panel={now} />
        </>
      )}
      <Group justify="flex-end">
        <Button variant="filled" onClick={onClose}>
          {t('done')}
        </Button>
      </Group>
    </Stack>
  );
}
