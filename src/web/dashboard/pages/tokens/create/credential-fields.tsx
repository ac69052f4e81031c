import { SegmentedControl, Textarea, TextInput } from '@mantine/core';
import { useId } from 'react';
import { useTranslation } from 'react-i18next';
import { useTenant } from '#web/dashboard/api/tenant.tsx';
import { entriesOf, wrongEntry } from './allow-list.ts';
import styles from './create.module.css';
import { type ExpiryDraft, expiresAtOf, expiryDraftOf, expiryPresets } from './expiry.ts';

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

export const credentialDraftOf = (
  { name, expiresAt, allowFrom }: Known,
  timeZone: string,
): CredentialDraft => ({
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
        <TextInput
          mt={8}
          type="datetime-local"
          aria-label={t('expiresAt')}
          description={t('expiresAtHint', { zone: timeZone })}
          inputWrapperOrder={['label', 'input', 'description', 'error']}
          value={value.at}
          error={past && t('expiryPast')}
          onChange={(event) => onChange({ ...value, at: event.currentTarget.value })}
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
