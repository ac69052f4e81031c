/** Connecting a phone: a panel, a token to read it, and what to enter in the app. */
import comeIcon from 'virtual:icon/circle-check';
import waitingIcon from 'virtual:icon/hourglass';
import { Button, Group, Stack, TextInput } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { Panel } from '#contract/panels/panel.ts';
import type { Token } from '#contract/people/token.ts';
import {
  panelPath,
  panelsQuery,
  tokensQuery,
  useListChange,
  useServerAddress,
} from '#web/dashboard/api/queries.ts';
import { type Tenant, useTenant } from '#web/dashboard/api/tenant.tsx';
import { Icon } from '#web/dashboard/components/icon.tsx';
import { Dialog, DialogForm, NewContent } from '#web/dashboard/components/layers.tsx';
import { Ago } from '#web/dashboard/formats/use-formats.tsx';
import styles from './pairing.module.css';
import { type App, AppField, appOf, PhoneAddress } from './phone-address.tsx';
import { PhoneRules, PhoneTest } from './phone-check.tsx';

type TokenCreated = Token & { readonly token: string };

interface ConnectedPhone {
  readonly app: App;
  readonly panel: Panel;
  /** Its text is the password of the app. */
  readonly token: TokenCreated;
  /** The panel is new: no other phone can be connected to it. */
  readonly isNew: boolean;
}

interface Wanted {
  readonly name: string;
  readonly app: App;
  /** Absent: a new one is made. */
  readonly known: Panel | undefined;
}

/** The token is for this panel alone: who finds the phone reads nothing else. */
const useConnectPhone = () =>
  useListChange('panels', async (tenant, { name, app, known }: Wanted): Promise<ConnectedPhone> => {
    const panel = known ?? (await addPanel(tenant, name));
    const wanted = { name, scopes: ['panel'], panelId: panel.id };
    const token = await tenant.api.post<TokenCreated>('/api/tokens', wanted);
    return { app, panel, token, isNew: !known };
  });

/** Its quiet hours are in the time zone of this browser. */
async function addPanel({ api, timeZone: ofTenant }: Tenant, name: string): Promise<Panel> {
  const panel = await api.post<Panel>('/api/panels', { name, kind: 'phone' });
  const { timeZone } = Intl.DateTimeFormat().resolvedOptions();
  if (timeZone === ofTenant) return panel;
  return api.patch<Panel>(panelPath(panel.id), { display: { timeZone, ...panel.display } });
}

/**
 * Adds a phone, or connects one more phone to the panel `phone`. The name of a phone that exists also does the latter: a first try
 * may have made the panel without its token.
 */
export function AddPhoneDialog({
  panels = [],
  phone,
  onClose,
}: {
  panels?: readonly Panel[];
  phone?: Panel;
  onClose: () => void;
}) {
  const { t } = useTranslation('panels');
  const [name, setName] = useState('');
  const [app, setApp] = useState<App>(phone ? appOf(phone) : 'ntfy');
  const connect = useConnectPhone();
  // Read before it is shown.
  useServerAddress(useTenant());
  const named = phone ?? panels.find((each) => each.name === name.trim());
  const isTaken = named !== undefined && named.kind !== 'phone';
  const { data: connected } = connect;
  return (
    <Dialog
      onClose={onClose}
      title={t(phone ? 'connectPhone' : 'addPhone')}
      size={520}
      // The token is gone when this closes: that must not happen by mistake.
      closeOnClickOutside={!connected}
      closeOnEscape={!connected}
      withCloseButton={!connected}
    >
      {connected ? (
        <PhoneValues {...connected} onClose={onClose} />
      ) : (
        <DialogForm
          action={t(named && !isTaken ? 'connectPhone' : 'addPhone')}
          request={connect}
          errorTitle={t('addPhoneFailed')}
          isDisabled={(!phone && name.trim() === '') || isTaken}
          onSubmit={() => connect.mutate({ name: named?.name ?? name.trim(), app, known: named })}
          onClose={onClose}
        >
          <p className="muted">{t(phone ? 'connectPhoneAbout' : 'addPhoneAbout')}</p>
          {!phone && (
            <TextInput
              label={t('phoneName')}
              description={t(named && !isTaken ? 'phoneNameKnown' : 'phoneNameHint')}
              placeholder={t('phoneNamePlaceholder')}
              maxLength={100}
              data-autofocus
              value={name}
              onChange={(event) => setName(event.currentTarget.value)}
              error={isTaken && t('phoneNameTaken')}
            />
          )}
          <AppField hint={t('phoneAppHint')} value={app} onChange={setApp} />
        </DialogForm>
      )}
    </Dialog>
  );
}

const askEveryMs = 1_000;

/** Whether the phone has come. Of an old panel, another one may be connected: there, the use of the token counts. */
function useHasCome({ panel, token, isNew }: ConnectedPhone, now: Panel): boolean {
  const { data: tokens } = useQuery({
    ...tokensQuery(useTenant()),
    refetchInterval: askEveryMs,
    enabled: !isNew,
  });
  // An iPhone reads, and keeps no connection.
  if (isNew) return now.online || now.lastSeenAt !== panel.lastSeenAt;
  return tokens?.some(({ id, lastUsedAt }) => id === token.id && lastUsedAt !== null) ?? false;
}

function PhoneValues({ onClose, ...connected }: ConnectedPhone & { onClose: () => void }) {
  const { t } = useTranslation('panels');
  const { app, panel, token } = connected;
  const { data } = useQuery({ ...panelsQuery(useTenant()), refetchInterval: askEveryMs });
  const now = data?.find(({ id }) => id === panel.id) ?? panel;
  const hasCome = useHasCome(connected, now);
  return (
    <Stack gap="md">
      <NewContent>
        <p>{t(app === 'ntfy' ? 'phoneSteps' : 'phoneStepsGotify')}</p>
      </NewContent>
      <PhoneAddress app={app} panel={panel} token={token.token} />
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
