import { Button, Group, SegmentedControl, Stack } from '@mantine/core';
import { type UseFormReturnType, useForm } from '@mantine/form';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { Key, Scope, Token } from '#contract/people/token.ts';
import { curlGet, curlWithHeaders, curlWithJson } from '#web/dashboard/api/curl.ts';
import { useListChange } from '#web/dashboard/api/queries.ts';
import { useTenant } from '#web/dashboard/api/tenant.tsx';
import { Dialog, DialogForm, NewContent } from '#web/dashboard/components/layers.tsx';
import { CopyField } from '#web/dashboard/fields/copy-field.tsx';
import {
  CredentialFields,
  type CredentialValues,
  type Kind,
  keyOf,
  newCredential,
  tokenOf,
  validateCredential,
} from './credential-fields.tsx';

type Created = (Token & { token: string }) | (Key & { key: string });

const secretOf = (created: Created): string => ('token' in created ? created.token : created.key);

/** Makes a token or a key, and shows its secret: until the dialog closes, and never again. */
export function CreateCredential({
  kind,
  name = '',
  onCreated,
  onClose,
}: {
  kind: Kind;
  /** To begin with. */
  name?: string;
  onCreated?: (id: string, secret: string) => void;
  onClose: () => void;
}) {
  const { t } = useTranslation('tokens');
  const { timeZone } = useTenant();
  const validate = (values: CredentialValues) => validateCredential(values, t, timeZone);
  const form: UseFormReturnType<CredentialValues> = useForm<CredentialValues>({
    initialValues: { ...newCredential(kind), name },
    validate,
    onValuesChange: (values) => form.setErrors(validate(values)),
  });
  const create = useListChange(kind, ({ api }, values: CredentialValues) =>
    api.post<Created>(`/api/${kind}`, (kind === 'keys' ? keyOf : tokenOf)(values, timeZone)),
  );
  const submit = () =>
    create.mutate(form.values, { onSuccess: (made) => onCreated?.(made.id, secretOf(made)) });
  const created = create.data;
  const isKey = kind === 'keys';
  return (
    <Dialog
      onClose={onClose}
      size={560}
      title={created ? t('createdTitle', { name: created.name }) : t(isKey ? 'createKey' : 'createToken')}
      // The secret is gone when this closes: that must not happen by mistake.
      closeOnClickOutside={!created}
      closeOnEscape={!created}
      withCloseButton={!created}
    >
      {created ? (
        <CreatedSecret
          secret={secretOf(created)}
          label={t(isKey ? 'field.key' : 'field.token')}
          scopes={'scopes' in created ? created.scopes : []}
          onClose={onClose}
        />
      ) : (
        <DialogForm
          action={t(isKey ? 'createKey' : 'createToken')}
          request={create}
          errorTitle={t('createFailed')}
          isDisabled={form.isValid() !== true}
          onSubmit={submit}
          onClose={onClose}
        >
          <CredentialFields form={form} kind={kind} />
        </DialogForm>
      )}
    </Dialog>
  );
}

/** The secret, and commands that use it with this server. @param props.scopes of a token; none for a key. */
function CreatedSecret({
  secret,
  label,
  scopes,
  onClose,
}: {
  secret: string;
  label: string;
  scopes: readonly Scope[];
  onClose: () => void;
}) {
  const { t } = useTranslation('tokens');
  const { t: welcome } = useTranslation('welcome');
  const server = location.origin;
  const example = { title: welcome('curlTitle'), message: welcome('curlMessage') };
  const search = { q: 'level:>=warning since:1h' };
  const uses: readonly (readonly [isPossible: boolean, label: string, command: string])[] = [
    [scopes.length === 0, t('history'), curlGet(server, secret, '/api/history', search)],
    [scopes.includes('notify'), t('use.json'), curlWithJson(server, secret, example)],
    [scopes.includes('notify'), t('use.headers'), curlWithHeaders(server, secret, example)],
    [scopes.includes('metrics'), t('use.metrics'), curlGet(server, secret, '/tenant-metrics')],
    [scopes.includes('panel'), t('panels'), curlGet(server, secret, '/api/panels')],
  ];
  const commands = uses.filter(([isPossible]) => isPossible);
  const [chosen, setChosen] = useState(0);
  const [, use = '', command = ''] = commands[chosen] ?? [];
  return (
    <Stack gap="md">
      <NewContent className="muted">{t('once')}</NewContent>
      <CopyField text={secret} label={label} />
      {commands.length > 1 && (
        <SegmentedControl
          size="xs"
          aria-label={t('use')}
          value={String(chosen)}
          onChange={(at) => setChosen(Number(at))}
          data={commands.map(([, label], at) => ({ value: String(at), label }))}
        />
      )}
      <CopyField text={command} label={`curl, ${use}`} />
      <Group justify="flex-end">
        <Button variant="filled" onClick={onClose}>
          {t('kept')}
        </Button>
      </Group>
    </Stack>
  );
}
