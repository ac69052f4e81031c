import { Checkbox, SegmentedControl, Textarea, TextInput } from '@mantine/core';
import { useId } from 'react';
import { useTranslation } from 'react-i18next';
import { type Scope, scopes, type Token, type TokenCreate } from '#contract/token.ts';
import { useTenant } from '#web/dashboard/api/tenant.tsx';
import { DateTimeField } from '#web/dashboard/components/date-time-field.tsx';
import { type RateDraft, RateField, rateDraftOf, rateOf } from '#web/dashboard/components/rate-field.tsx';
import {
  type ExpiryDraft,
  entriesOf,
  expiresAtOf,
  expiryDraftOf,
  expiryPresets,
  wrongEntry,
} from './credential.ts';
import styles from './tokens.module.css';

/** What tokens and keys have in common, while somebody types it. */
export interface CredentialDraft {
  readonly name: string;
  readonly expiry: ExpiryDraft;
  readonly allow: string;
}

interface Known {
  readonly name: string;
  readonly expiresAt: string | null;
  readonly allowFrom: readonly string[];
}

const credentialDraftOf = ({ name, expiresAt, allowFrom }: Known, timeZone: string): CredentialDraft => ({
  name,
  expiry: expiryDraftOf(expiresAt, timeZone),
  allow: allowFrom.join('\n'),
});

/** undefined while something is missing or wrong. */
export function credentialOf({ name, expiry, allow }: CredentialDraft, timeZone: string) {
  const expiresAt = expiresAtOf(expiry, timeZone, Date.now());
  if (name.trim() === '' || expiresAt === undefined || wrongEntry(allow) !== undefined) return undefined;
  return { name: name.trim(), expiresAt, allowFrom: entriesOf(allow) };
}

export function NameField({
  value,
  placeholder,
  onChange,
}: {
  value: string;
  placeholder: string;
  onChange: (name: string) => void;
}) {
  const { t } = useTranslation('tokens');
  return (
    <TextInput
      label={t('name')}
      description={t('nameHint')}
      placeholder={placeholder}
      value={value}
      maxLength={100}
      data-autofocus
      onChange={(event) => onChange(event.currentTarget.value)}
    />
  );
}

export function ExpiryField({
  value,
  onChange,
}: {
  value: ExpiryDraft;
  onChange: (expiry: ExpiryDraft) => void;
}) {
  const { t } = useTranslation('tokens');
  const { timeZone } = useTenant();
  const id = useId();
  const past =
    value.preset === 'date' && value.at !== '' && expiresAtOf(value, timeZone, Date.now()) === undefined;
  return (
    <div>
      <div className="mantine-InputWrapper-label" id={id}>
        {t('expires')}
      </div>
      <SegmentedControl
        fullWidth
        aria-labelledby={id}
        value={value.preset}
        onChange={(preset) => onChange({ ...value, preset })}
        data={expiryPresets.map((preset) => ({ value: preset, label: t(`expiry.${preset}`) }))}
      />
      {value.preset === 'date' && (
        <DateTimeField
          className={styles.date ?? ''}
          aria-label={t('expiresAt')}
          description={t('expiresAtHint', { zone: timeZone })}
          value={value.at}
          error={past && t('expiryPast')}
          onChange={(at) => onChange({ ...value, at })}
        />
      )}
    </div>
  );
}

export function AllowField({ value, onChange }: { value: string; onChange: (allow: string) => void }) {
  const { t } = useTranslation('tokens');
  const wrong = wrongEntry(value);
  return (
    <Textarea
      label={t('allow')}
      description={t('allowHint')}
      placeholder={'10.0.0.0/8\n2001:db8::/32'}
      classNames={{ input: styles.mono ?? '' }}
      rows={3}
      spellCheck={false}
      value={value}
      error={wrong !== undefined && t('allowWrong', { entry: wrong })}
      onChange={(event) => onChange(event.currentTarget.value)}
    />
  );
}

export interface TokenDraft extends CredentialDraft {
  readonly scopes: readonly Scope[];
  readonly rate: RateDraft;
}

export const newTokenDraft: TokenDraft = {
  name: '',
  scopes: ['notify'],
  expiry: { preset: 'never', at: '' },
  allow: '',
  rate: rateDraftOf(null),
};

export const tokenDraftOf = (token: Token, timeZone: string): TokenDraft => ({
  ...credentialDraftOf(token, timeZone),
  scopes: token.scopes,
  rate: rateDraftOf(token.rate),
});

/** undefined while something is missing or wrong. */
export function tokenOf(draft: TokenDraft, timeZone: string): TokenCreate | undefined {
  const common = credentialOf(draft, timeZone);
  const rate = rateOf(draft.rate);
  if (!common || rate === undefined || draft.scopes.length === 0) return undefined;
  return { ...common, scopes: [...draft.scopes], rate };
}

/** @param props.fixedScopes for a token that is bound to a panel: what it may do is not for choosing. */
export function TokenFields({
  draft,
  onChange,
  fixedScopes = false,
  open = false,
}: {
  draft: TokenDraft;
  onChange: (some: Partial<TokenDraft>) => void;
  fixedScopes?: boolean;
  /** Limits stand open. */
  open?: boolean;
}) {
  const { t } = useTranslation('tokens');
  return (
    <div className={styles.fields}>
      <NameField
        value={draft.name}
        placeholder={t('namePlaceholder')}
        onChange={(name) => onChange({ name })}
      />
      {!fixedScopes && <ScopesField value={draft.scopes} onChange={(next) => onChange({ scopes: next })} />}
      <ExpiryField value={draft.expiry} onChange={(expiry) => onChange({ expiry })} />
      <details className={styles.more} open={open}>
        <summary>{t('limits')}</summary>
        <div className={styles.fields}>
          <AllowField value={draft.allow} onChange={(allow) => onChange({ allow })} />
          <RateField
            label={t('rate')}
            hint={t('rateHint')}
            value={draft.rate}
            onChange={(rate) => onChange({ rate })}
          />
        </div>
      </details>
    </div>
  );
}

function ScopesField({ value, onChange }: { value: readonly Scope[]; onChange: (scopes: Scope[]) => void }) {
  const { t } = useTranslation('tokens');
  return (
    <Checkbox.Group
      label={t('scopes')}
      value={[...value]}
      onChange={(chosen) => onChange(scopes.filter((scope) => chosen.includes(scope)))}
      error={value.length === 0 && t('scopesNone')}
    >
      <div className={styles.scopes}>
        {scopes.map((scope) => (
          <Checkbox
            key={scope}
            value={scope}
            label={<span className="mono">{scope}</span>}
            description={t(`scope.${scope}`)}
          />
        ))}
      </div>
    </Checkbox.Group>
  );
}
