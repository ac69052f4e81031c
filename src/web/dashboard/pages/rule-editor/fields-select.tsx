import { MultiSelect } from '@mantine/core';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { type LabelField, labelFieldPattern } from '#contract/history/labels.ts';
import type { throttleFields } from '#contract/routing/rule.ts';
import type { Field } from '#web/dashboard/fields/form-values.ts';
import type { FieldProblem } from './draft.ts';
import styles from './editor.module.css';
import { useLabelNames } from './editor-row.tsx';

/** Fields by their names, and labels, which may be typed. */
export function FieldsSelect({
  label,
  fields,
  value,
  onChange,
  emptyText,
  most = fields.length,
  problem,
}: Field<readonly string[]> & {
  label: string;
  fields: readonly (typeof throttleFields)[number][];
  emptyText: string;
  most?: number;
  problem: FieldProblem | undefined;
}) {
  const { t } = useTranslation('rules');
  const { t: words } = useTranslation('ruleSentence');
  const { offers, search } = useLabelNames();
  const [typed, setTyped] = useState('');
  const labels = [...offers, typed.trim().replace(/^label:/i, '')]
    .map((name): LabelField => `label:${name}`)
    .filter((field) => labelFieldPattern.test(field));
  const wordOf = (name: string) => {
    const field = fields.find((each) => each === name);
    return field ? words(`field.${field}`) : name;
  };
  return (
    <MultiSelect
      size="xs"
      className={styles.values ?? ''}
      aria-label={label}
      placeholder={value.length === 0 ? emptyText : value.length < most ? t('throttle.more') : ''}
      error={problem !== undefined}
      maxValues={most}
      searchable
      searchValue={typed}
      onSearchChange={(next) => {
        setTyped(next);
        search(next.trim().replace(/^label:/i, ''));
      }}
      selectFirstOptionOnChange
      data={[...new Set([...fields, ...value, ...labels])].map((each) => ({
        value: each,
        label: wordOf(each),
      }))}
      value={[...value]}
      onChange={onChange}
    />
  );
}
