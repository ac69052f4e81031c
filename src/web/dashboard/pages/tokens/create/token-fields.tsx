import { Checkbox } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { type Scope, scopes, type Token, type TokenCreate } from '#contract/token.ts';
import { type RateDraft, RateField, rateDraftOf, rateOf } from '#web/dashboard/pieces/fields/rate-field.tsx';
import styles from './create.module.css';
import {
  AllowField,
  type CredentialDraft,
  credentialDraftOf,
  credentialOf,
  ExpiryField,
  NameField,
} from './credential-fields.tsx';

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
