import { TextInput } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { codeChars, codeOf, impossibleIn } from './pair-code.ts';
import styles from './pairing.module.css';

/** Six large characters, typed or pasted in any form. */
export function CodeField({
  value,
  onChange,
  error,
  focus,
}: {
  value: string;
  onChange: (code: string) => void;
  error: string | undefined;
  focus: boolean;
}) {
  const { t } = useTranslation('panels');
  const impossible = impossibleIn(value);
  return (
    <TextInput
      label={t('code')}
      description={t('codeHint')}
      classNames={{ input: styles.code ?? '' }}
      value={value}
      placeholder={'·'.repeat(codeChars)}
      error={error ?? (impossible === undefined ? undefined : t('codeImpossible', { char: impossible }))}
      onChange={(event) => onChange(codeOf(event.currentTarget.value))}
      autoComplete="one-time-code"
      autoCapitalize="characters"
      spellCheck={false}
      inputMode="text"
      data-autofocus={focus ? true : undefined}
    />
  );
}
