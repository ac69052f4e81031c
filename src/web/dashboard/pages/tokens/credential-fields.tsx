/** The fields of tokens and automation keys. */
import { Button, Checkbox, Group, Radio, SegmentedControl, Stack, Textarea, TextInput } from '@mantine/core';
import { type FormErrors, type UseFormReturnType, useForm } from '@mantine/form';
import type { TFunction } from 'i18next';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import {
  type Key,
  type KeyCreate,
  type Role,
  roles,
  type Scope,
  scopes,
  type Token,
  type TokenCreate,
  type TokenPatch,
} from '#contract/people/token.ts';
import { curlGet, curlWithHeaders, curlWithJson } from '#web/dashboard/api/curl.ts';
import { useListChange } from '#web/dashboard/api/queries.ts';
import { useTenant } from '#web/dashboard/api/tenant.tsx';
import { Dialog, DialogForm, NewContent } from '#web/dashboard/components/layers.tsx';
import { RateField, SegmentedField } from '#web/dashboard/fields/choice-fields.tsx';
import { CopyField } from '#web/dashboard/fields/copy-field.tsx';
import { changesOf, isSame } from '#web/dashboard/fields/form-values.ts';
import { type RateValues, rateOf, rateValuesOf } from '#web/dashboard/fields/limits.ts';
import { DateTimeField } from '#web/dashboard/fields/time-fields.tsx';
import {
  type ExpiryValues,
  entriesOf,
  expiresAtOf,
  expiryPresets,
  expiryValuesOf,
  wrongEntry,
} from './credential.ts';
import styles from './tokens.module.css';

export type Kind = 'tokens' | 'keys';
/** What tokens and keys have in common. */
export type Credential = Omit<Key, 'role'>;

interface CredentialValues {
  readonly name: string;
  /** Of a token. */
  readonly scopes: readonly Scope[];
  /** Of a token with the scope notify alone. */
  readonly allowInUrl: boolean;
  /** Of a key. */
  readonly role: Role;
  readonly expiry: ExpiryValues;
  readonly allow: string;
  /** Of a token. */
  readonly rate: RateValues;
}

const newCredential = (kind: Kind): CredentialValues => ({
  name: '',
  scopes: ['notify'],
  allowInUrl: false,
  role: 'viewer',
  expiry: kind === 'keys' ? { preset: '90', at: '' } : { preset: 'never', at: '' },
  allow: '',
  rate: rateValuesOf(null),
});

export const valuesOfToken = (token: Token, timeZone: string): CredentialValues => ({
  ...newCredential('tokens'),
  name: token.name,
  scopes: token.scopes,
  allowInUrl: token.allowInUrl,
  expiry: expiryValuesOf(token.expiresAt, timeZone),
  allow: token.allowFrom.join('\n'),
  rate: rateValuesOf(token.rate),
});

/** The errors by field; `true` where something is only missing. */
export function validateCredential(
  { name, scopes, expiry, allow, rate }: CredentialValues,
  t: TFunction<'tokens'>,
  timeZone: string,
): FormErrors {
  const wrong = wrongEntry(allow);
  const isExpiryWrong = expiresAtOf(expiry, timeZone, Date.now()) === undefined;
  return {
    name: name.trim() === '',
    scopes: scopes.length === 0 && t('scopesNone'),
    expiry: isExpiryWrong && (expiry.at === '' || t('expiryPast')),
    allow: wrong !== undefined && t('allowWrong', { entry: wrong }),
    rate: rateOf(rate) === undefined,
  };
}

const keyOf = ({ name, expiry, allow, role }: CredentialValues, timeZone: string): KeyCreate => ({
  name: name.trim(),
  expiresAt: expiresAtOf(expiry, timeZone, Date.now()) ?? null,
  allowFrom: entriesOf(allow),
  role,
});

/** Whether the token may be allowed in URLs. */
const isForNotify = (chosen: readonly Scope[]) => chosen.length === 1 && chosen[0] === 'notify';

function tokenOf(values: CredentialValues, timeZone: string): TokenCreate {
  const { role: _, ...common } = keyOf(values, timeZone);
  const { scopes, allowInUrl, rate } = values;
  return {
    ...common,
    scopes: [...scopes],
    rate: rateOf(rate) ?? null,
    allowInUrl: allowInUrl && isForNotify(scopes),
  };
}

/** Only what was changed. */
export function tokenPatchOf(
  values: CredentialValues,
  before: CredentialValues,
  timeZone: string,
): TokenPatch {
  const { expiresAt, ...token } = tokenOf(values, timeZone);
  const { expiresAt: _, ...tokenBefore } = tokenOf(before, timeZone);
  // "30 days" is another time at each moment: its choice is compared.
  const isExpiryKept = isSame(before.expiry, values.expiry);
  return { ...changesOf(tokenBefore, token), ...(!isExpiryKept && { expiresAt: expiresAt ?? null }) };
}

export function CredentialFields({
  form,
  kind,
  hasFixedScopes = false,
  isOpen = kind === 'keys',
}: {
  form: UseFormReturnType<CredentialValues>;
  kind: Kind;
  /** A panel's token: its scopes cannot be changed. */
  hasFixedScopes?: boolean;
  /** The limits are open. */
  isOpen?: boolean;
}) {
  const { t } = useTranslation('tokens');
  const allow = (
    <Textarea
      label={t('allow')}
      description={t('allowHint')}
      placeholder={'10.0.0.0/8\n2001:db8::/32'}
      classNames={{ input: 'mono' }}
      rows={3}
      spellCheck={false}
      {...form.getInputProps('allow')}
    />
  );
  const { value, onChange } = form.getInputProps('rate');
  return (
    <Stack gap="md">
      <TextInput
        label={t('name')}
        description={t('nameHint')}
        placeholder={t(kind === 'keys' ? 'keyPlaceholder' : 'namePlaceholder')}
        maxLength={100}
        data-autofocus
        {...form.getInputProps('name')}
      />
      {kind === 'keys' && <RoleField form={form} />}
      {kind === 'tokens' && !hasFixedScopes && <ScopesField form={form} />}
      {kind === 'tokens' && isForNotify(form.values.scopes) && (
        <Checkbox
          label={t('inUrl')}
          description={t('inUrlHint')}
          {...form.getInputProps('allowInUrl', { type: 'checkbox' })}
        />
      )}
      <ExpiryField {...form.getInputProps('expiry')} />
      {kind === 'keys' ? (
        allow
      ) : (
        <details className={styles.more} open={isOpen}>
          <summary>{t('limits')}</summary>
          <Stack gap="md">
            {allow}
            <RateField label={t('rate')} description={t('rateHint')} value={value} onChange={onChange} />
          </Stack>
        </details>
      )}
    </Stack>
  );
}

/** A role that is at most the person's own. */
function RoleField({ form }: { form: UseFormReturnType<CredentialValues> }) {
  const { t } = useTranslation('tokens');
  const { may } = useTenant();
  return (
    <Radio.Group label={t('role')} {...form.getInputProps('role')}>
      <Stack gap="xs" mt={4}>
        {roles.filter(may).map((role) => (
          <Radio key={role} value={role} label={t(`role.${role}`)} description={t(`keyRole.${role}`)} />
        ))}
      </Stack>
    </Radio.Group>
  );
}

function ScopesField({ form }: { form: UseFormReturnType<CredentialValues> }) {
  const { t } = useTranslation('tokens');
  return (
    <Checkbox.Group
      label={t('scopes')}
      {...form.getInputProps('scopes')}
      onChange={(chosen) =>
        form.setFieldValue(
          'scopes',
          scopes.filter((scope) => chosen.includes(scope)),
        )
      }
    >
      <Stack gap="xs" mt={4}>
        {scopes.map((scope) => (
          <Checkbox
            key={scope}
            value={scope}
            label={<span className="mono">{scope}</span>}
            description={t(`scope.${scope}`)}
          />
        ))}
      </Stack>
    </Checkbox.Group>
  );
}

function ExpiryField({
  value = { preset: 'never', at: '' },
  error,
  onChange,
}: {
  value?: ExpiryValues;
  error?: string;
  onChange: (expiry: ExpiryValues) => void;
}) {
  const { t } = useTranslation('tokens');
  const { timeZone } = useTenant();
  return (
    <div>
      <SegmentedField
        label={t('expires')}
        value={value.preset}
        onChange={(preset) => onChange({ ...value, preset })}
        options={expiryPresets.map((preset) => [preset, t(`expiry.${preset}`)] as const)}
      />
      {value.preset === 'date' && (
        <Stack mt={8}>
          <DateTimeField
            aria-label={t('expiresAt')}
            description={t('expiresAtHint', { zone: timeZone })}
            value={value.at}
            error={value.at !== '' && error}
            onChange={(at) => onChange({ ...value, at })}
          />
        </Stack>
      )}
    </div>
  );
}

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
