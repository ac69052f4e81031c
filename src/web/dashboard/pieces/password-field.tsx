import { PasswordInput, type PasswordInputProps } from '@mantine/core';
import { useTranslation } from 'react-i18next';

/** A field for a password, which can be looked at while it is typed. */
export function PasswordField(props: PasswordInputProps) {
  const { t } = useTranslation('entry');
  return <PasswordInput {...props} visibilityToggleButtonProps={{ 'aria-label': t('lookAtIt') }} />;
}
