/** The fields of tokens and automation keys. */
import { Checkbox, Radio, Stack, Textarea, TextInput } from '@mantine/core';
import type { FormErrors, UseFormReturnType } from '@mantine/form';
import type { TFunction } from 'i18next';
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
import { useTenant } from '#web/dashboard/api/tenant.tsx';
import { DateTimeField } from '#web/dashboard/fields/date-time-field.tsx';
import { type RateValues, rateOf, rateValuesOf } from '#web/dashboard/fields/limits.ts';
import { RateField } from '#web/dashboard/fields/rate-field.tsx';
import { changesOf, isSame } from '#web/dashboard/fields/rebase.ts';
import { SegmentedField } from '#web/dashboard/fields/segmented-field.tsx';
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

export interface CredentialValues {
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

export const newCredential = (kind: Kind): CredentialValues => ({
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

export const keyOf = ({ name, expiry, allow, role }: CredentialValues, timeZone: string): KeyCreate => ({
  name: name.trim(),
  expiresAt: expiresAtOf(expiry, timeZone, Date.now()) ?? null,
  allowFrom: entriesOf(allow),
  role,
});

/** Whether the token may be allowed in URLs. */
const isForNotify = (chosen: readonly Scope[]) => chosen.length === 1 && chosen[0] === 'notify';

export function tokenOf(values: CredentialValues, timeZone: string): TokenCreate {
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
