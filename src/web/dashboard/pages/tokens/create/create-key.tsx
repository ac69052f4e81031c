import { Button, Group, Radio, Stack } from '@mantine/core';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { type FormEvent, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { type Key, type KeyCreate, type Role, roles } from '#contract/token.ts';
import { keysKey } from '#web/dashboard/api/credentials.ts';
import { useTenant } from '#web/dashboard/api/tenant.tsx';
import { Dialog } from '#web/dashboard/pieces/layers/dialog.tsx';
import { ErrorNotice } from '#web/dashboard/pieces/notice.tsx';
import styles from './create.module.css';
import {
  AllowField,
  type CredentialDraft,
  credentialOf,
  ExpiryField,
  NameField,
} from './credential-fields.tsx';
import { SecretShown } from './secret-shown.tsx';

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
