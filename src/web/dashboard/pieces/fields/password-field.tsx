import { PasswordInput, type PasswordInputProps } from '@mantine/core';
import { useTranslation } from 'react-i18next';

/** A field for a password, which can be looked at while it is typed. */
export function PasswordField(props: PasswordInputProps) {
  const { t } = useTranslation('entry');
  return <PasswordInput {...props} visibilityToggleButtonProps={{ 'aria-label': t('lookAtIt') }} />;
}

/** For a password that is chosen here: says what the server will ask of it. */
export function NewPasswordField({
  label,
  value,
  onChange,
}: {
  label: string;
  value: string;
  onChange: (value: string) => void;
}) {
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
