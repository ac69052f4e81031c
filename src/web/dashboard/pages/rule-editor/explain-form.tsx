import { Textarea, TextInput } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { patternFieldNames } from '#contract/history/fields.ts';
import type { HistoryNotification } from '#contract/history/notification.ts';
import { recordedQuery } from '#web/dashboard/api/rules.ts';
import { useTenant } from '#web/dashboard/api/tenant.tsx';
import { LevelMark } from '#web/dashboard/components/level-mark.tsx';
import type { Field } from '#web/dashboard/fields/field.ts';
import { LevelSelect } from '#web/dashboard/fields/level-select.tsx';
import { Ago } from '#web/dashboard/formats/ago.tsx';
import styles from './try-panels.module.css';
import type { TypedFields } from './use-explain.ts';

const otherTexts = patternFieldNames.filter((name) => name !== 'host');
const shortFields = ['host', 'ip', ...otherTexts, 'sourceIp', 'token'] as const;

/** A notification as a sender would send it. */
export function TypedForm({
  value: fields,
  onChange,
  problem,
}: Field<TypedFields> & {
  problem: { readonly field: string; readonly text: string } | undefined;
}) {
  const { t } = useTranslation('rules');
  const inputOf = (field: keyof TypedFields) => ({
    size: 'xs',
    label: t(`field.${field}`),
    value: fields[field],
    onChange: ({ currentTarget }: { currentTarget: { value: string } }) =>
      onChange({ ...fields, [field]: currentTarget.value }),
    error: problem?.field === field && problem.text,
  });
  return (
    <div className={styles.form}>
      <TextInput {...inputOf('title')} className={styles.wide ?? ''} placeholder={t('example.typedTitle')} />
      <Textarea {...inputOf('message')} rows={2} className={styles.wide ?? ''} />
      <LevelSelect {...inputOf('level')} onChange={(level) => onChange({ ...fields, level })} />
      {shortFields.map((field) => (
        <TextInput
          key={field}
          {...inputOf(field)}
          placeholder={t(`typedExample.${field}`)}
          classNames={{ input: 'mono' }}
        />
      ))}
    </div>
  );
}

/** One of the notifications in history. */
export function RecordedPicker({
  chosen,
  onChoose,
}: {
  chosen: HistoryNotification | undefined;
  onChoose: (id: string) => void;
}) {
  const { t } = useTranslation('rules');
  const [typed, setTyped] = useState('');
  const [q] = useDebouncedValue(typed.trim(), 300);
  const { data, error } = useQuery(recordedQuery(useTenant(), q));
  const others = data?.filter(({ id }) => id !== chosen?.id) ?? [];
  return (
    <div className={styles.picker}>
      <TextInput
        size="xs"
        label={t('explain.find')}
        placeholder="host:db-* level:>=warning"
        classNames={{ input: 'mono' }}
        value={typed}
        onChange={({ currentTarget }) => setTyped(currentTarget.value)}
        error={error?.message}
      />
      <ul className={styles.recorded}>
        {[...(chosen ? [chosen] : []), ...others].map(({ id, title, host, level, receivedAt }) => (
          <li key={id}>
            <button type="button" aria-pressed={id === chosen?.id} onClick={() => onChoose(id)}>
              <LevelMark name={level} iconOnly />
              <bdi className={styles.recordedTitle}>{title}</bdi>
              <bdi className="mono muted">{host}</bdi>
              <span className="muted">
                <Ago at={receivedAt} />
              </span>
            </button>
          </li>
        ))}
      </ul>
      {data?.length === 0 && <p className={styles.hint}>{t('explain.noneFound')}</p>}
    </div>
  );
}
