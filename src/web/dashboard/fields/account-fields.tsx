import { PasswordInput, type PasswordInputProps, TextInput } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import type { Field } from './form-values.ts';

export interface NewAccount {
  readonly name: string;
  readonly email: string;
  readonly password: string;
}

/** What a new account needs: name, email, password. */
export function AccountFields({
  value,
  onChange,
  fixedEmail = false,
}: Field<NewAccount> & {
  /** An invitation gives the address. */
  fixedEmail?: boolean;
}) {
  const { t } = useTranslation('entry');
  return (
    <>
      <TextInput
        label={t('yourName')}
        autoComplete="name"
        required
        maxLength={100}
        value={value.name}
        onChange={({ currentTarget }) => onChange({ ...value, name: currentTarget.value })}
      />
      <TextInput
        label={t('email')}
        type="email"
        autoComplete="username"
        required
        maxLength={254}
        readOnly={fixedEmail}
        value={value.email}
        onChange={({ currentTarget }) => onChange({ ...value, email: currentTarget.value })}
      />
      <NewPasswordField
        label={t('password')}
        value={value.password}
        onChange={(password) => onChange({ ...value, password })}
      />
    </>
  );
}

/** A password field; what is typed can be shown. */
export function PasswordField(props: PasswordInputProps) {
  const { t } = useTranslation('entry');
  return <PasswordInput {...props} visibilityToggleButtonProps={{ 'aria-label': t('lookAtIt') }} />;
}

/** For a new password, with the server's rules for it. */
export function NewPasswordField({ label, value, onChange }: Field<string> & { label: string }) {
  const { t } = useTranslation('entry');
  return (
    <PasswordField
      label={label}
      description={t('newPasswordHint')}
      autoComplete="new-password"
      required
      minLength={10}
      maxLength={256}
      value={value}
      onChange={({ currentTarget }) => onChange(currentTarget.value)}
    />
  );
}
