import { Textarea, TextInput } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { useLevels } from '#web/dashboard/api/levels.ts';
import styles from './ask.module.css';
import type { Typed } from './subject.ts';

const shortFields = ['host', 'ip', 'key', 'sourceIp', 'token'] as const;

/** A notification as a sender would send it. */
export function TypedForm({
  typed,
  onChange,
  fault,
}: {
  typed: Typed;
  onChange: (typed: Typed) => void;
  fault: { readonly field: string; readonly text: string } | undefined;
}) {
  const { t } = useTranslation('rules');
  const { t: level } = useTranslation('level');
  const levels = useLevels();
  const set = (field: keyof Typed, value: string) => onChange({ ...typed, [field]: value });
  const faultOf = (field: string) => (fault?.field === field ? fault.text : undefined);
  return (
    <div className={styles.form}>
      <TextInput
        size="xs"
        label={t('typed.title')}
        className={styles.wide ?? ''}
        placeholder={t('example.typedTitle')}
        value={typed.title}
        onChange={({ currentTarget }) => set('title', currentTarget.value)}
      />
      <Textarea
        size="xs"
        rows={2}
        label={t('typed.message')}
        className={styles.wide ?? ''}
        value={typed.message}
        onChange={({ currentTarget }) => set('message', currentTarget.value)}
      />
      <div>
        <label className={styles.label}>
          {t('typed.level')}
          <select value={typed.level} onChange={({ target }) => set('level', target.value)}>
            {[...new Set([typed.level, ...levels.keys()])].map((name) => (
              <option key={name} value={name}>
                {levels.get(name)?.builtIn ? level(name as 'info') : name}
              </option>
            ))}
          </select>
        </label>
      </div>
      {shortFields.map((field) => (
        <TextInput
          key={field}
          size="xs"
          label={t(`typed.${field}`)}
          placeholder={t(`typedExample.${field}`)}
          classNames={{ input: styles.mono ?? '' }}
          value={typed[field]}
          onChange={({ currentTarget }) => set(field, currentTarget.value)}
          error={faultOf(field)}
        />
      ))}
    </div>
  );
}
