import { Button, Group, Radio, SegmentedControl, Stack } from '@mantine/core';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { type FormEvent, useState } from 'react';
import { useTranslation } from 'react-i18next';
import {
  type Key,
  type KeyCreate,
  type Role,
  roles,
  type Scope,
  type Token,
  type TokenCreate,
} from '#contract/token.ts';
import { curlGet, curlWithHeaders, curlWithJson } from '#web/dashboard/api/curl.ts';
import { keysKey, tokensKey } from '#web/dashboard/api/queries.ts';
import { useTenant } from '#web/dashboard/api/tenant.tsx';
import { CopyField } from '#web/dashboard/components/copy-field.tsx';
import { Dialog } from '#web/dashboard/components/layers.tsx';
import { ErrorNotice } from '#web/dashboard/components/notice.tsx';
import {
  AllowField,
  type CredentialDraft,
  credentialOf,
  ExpiryField,
  NameField,
  newTokenDraft,
  type TokenDraft,
  TokenFields,
  tokenOf,
} from './credential-fields.tsx';
import styles from './tokens.module.css';

/** Makes a token, and shows its secret: until this is closed, and never again. */
export function CreateToken({ onClose }: { onClose: () => void }) {
  const { t } = useTranslation('tokens');
  const tenant = useTenant();
  const client = useQueryClient();
  const [draft, setDraft] = useState<TokenDraft>(newTokenDraft);
  const wanted = tokenOf(draft, tenant.timeZone);
  const { mutate, data, error, isPending } = useMutation({
    mutationFn: (token: TokenCreate) => tenant.api.post<Token & { token: string }>('/api/tokens', token),
    onSuccess: () => client.invalidateQueries({ queryKey: tokensKey(tenant) }),
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (wanted) mutate(wanted);
  };
  return (
    <Dialog
      onClose={onClose}
      size={560}
      title={data ? t('created', { name: data.name }) : t('create')}
      // The secret is gone when this closes: that is never by mistake.
      closeOnClickOutside={!data}
      closeOnEscape={!data}
      withCloseButton={!data}
    >
      {data ? (
        <SecretShown secret={data.token} scopes={data.scopes} onClose={onClose} />
      ) : (
        <form onSubmit={submit}>
          <Stack gap="md">
            <TokenFields draft={draft} onChange={(some) => setDraft({ ...draft, ...some })} />
            {error && <ErrorNotice error={error} title={t('createFailed')} />}
            <Group justify="flex-end" gap="xs">
              <Button onClick={onClose}>{t('cancel', { ns: 'shell' })}</Button>
              <Button type="submit" variant="filled" loading={isPending} disabled={!wanted}>
                {t('createDo')}
              </Button>
            </Group>
          </Stack>
        </form>
      )}
    </Dialog>
  );
}

interface KeyDraft extends CredentialDraft {
  readonly role: Role;
}

/** Makes an automation key. Its role is at most one's own. */
export function CreateKey({ onClose }: { onClose: () => void }) {
  const { t } = useTranslation('tokens');
  const tenant = useTenant();
  const client = useQueryClient();
  const [draft, setDraft] = useState<KeyDraft>({
    name: '',
    role: 'viewer',
    expiry: { preset: '90', at: '' },
    allow: '',
  });
  const change = (some: Partial<KeyDraft>) => setDraft({ ...draft, ...some });
  const common = credentialOf(draft, tenant.timeZone);
  const { mutate, data, error, isPending } = useMutation({
    mutationFn: (key: KeyCreate) => tenant.api.post<Key & { key: string }>('/api/keys', key),
    onSuccess: () => client.invalidateQueries({ queryKey: keysKey(tenant) }),
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (common) mutate({ ...common, role: draft.role });
  };
  return (
    <Dialog
      onClose={onClose}
      size={560}
      title={data ? t('created', { name: data.name }) : t('createKey')}
      closeOnClickOutside={!data}
      closeOnEscape={!data}
      withCloseButton={!data}
    >
      {data ? (
        <SecretShown secret={data.key} scopes="key" onClose={onClose} />
      ) : (
        <form onSubmit={submit}>
          <Stack gap="md">
            <NameField
              value={draft.name}
              placeholder={t('keyPlaceholder')}
              onChange={(name) => change({ name })}
            />
            <Radio.Group label={t('role')} value={draft.role} onChange={(role) => change({ role })}>
              <div className={styles.scopes}>
                {roles
                  .filter((role) => tenant.may(role))
                  .map((role) => (
                    <Radio
                      key={role}
                      value={role}
                      label={t(`role.${role}`, { ns: 'shell' })}
                      description={t(`keyRole.${role}`)}
                    />
                  ))}
              </div>
            </Radio.Group>
            <ExpiryField value={draft.expiry} onChange={(expiry) => change({ expiry })} />
            <AllowField value={draft.allow} onChange={(allow) => change({ allow })} />
            {error && <ErrorNotice error={error} title={t('createFailed')} />}
            <Group justify="flex-end" gap="xs">
              <Button onClick={onClose}>{t('cancel', { ns: 'shell' })}</Button>
              <Button type="submit" variant="filled" loading={isPending} disabled={!common}>
                {t('createKeyDo')}
              </Button>
            </Group>
          </Stack>
        </form>
      )}
    </Dialog>
  );
}

/** The secret, and commands that use it at this very server. */
function SecretShown({
  secret,
  scopes,
  onClose,
}: {
  secret: string;
  /** Of a token; a key is told apart. */
  scopes: readonly Scope[] | 'key';
  onClose: () => void;
}) {
  const { t } = useTranslation('tokens');
  const { t: welcome } = useTranslation('welcome');
  const server = location.origin;
  const example = { title: welcome('curlTitle'), message: welcome('curlMessage') };
  const commands: readonly (readonly [label: string, command: string])[] =
    scopes === 'key'
      ? [[t('use.history'), curlGet(server, secret, '/api/history', { q: 'level:>=warning since:1h' })]]
      : [
          ...(scopes.includes('notify')
            ? ([
                [t('use.json'), curlWithJson(server, secret, example)],
                [t('use.headers'), curlWithHeaders(server, secret, example)],
              ] as const)
            : []),
          ...(scopes.includes('metrics')
            ? ([[t('use.metrics'), curlGet(server, secret, '/tenant-metrics')]] as const)
            : []),
          ...(scopes.includes('panel')
            ? ([[t('use.panels'), curlGet(server, secret, '/api/panels')]] as const)
            : []),
        ];
  const [chosen, setChosen] = useState(commands[0]?.[0] ?? '');
  return (
    <Stack gap="md">
      <p className={styles.once}>{t('once')}</p>
      <CopyField text={secret} label={t('secret')} />
      {commands.length > 1 && (
        <SegmentedControl
          size="xs"
          aria-label={t('use')}
          value={chosen}
          onChange={setChosen}
          data={commands.map(([label]) => label)}
        />
      )}
      <CopyField text={commands.find(([label]) => label === chosen)?.[1] ?? ''} label={`curl, ${chosen}`} />
      <Group justify="flex-end">
        <Button variant="filled" onClick={onClose}>
          {t('kept')}
        </Button>
      </Group>
    </Stack>
  );
}
