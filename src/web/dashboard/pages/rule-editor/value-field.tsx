import { Pill, TagsInput } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { mapPatternFields } from '#contract/history/fields.ts';
import { fieldValuesQuery, useLevels } from '#web/dashboard/api/queries.ts';
import { useTenant } from '#web/dashboard/api/tenant.tsx';
import type { ConditionField } from './draft.ts';
import styles from './editor.module.css';
import type { FieldProblem } from './rule-problem.ts';

interface ValueFieldProps {
  readonly label: string;
  readonly placeholder: string;
  readonly values: readonly string[];
  readonly onChange: (values: string[]) => void;
  /** Suggestions for the typed text. */
  readonly offers: readonly string[];
  /** The word that is shown for a value, and may be typed for it. */
  readonly labelOf?: ((value: string) => string) | undefined;
  readonly onSearch?: (typed: string) => void;
  /** Characters that end a value; none if a value may contain any. */
  readonly splitChars?: string[];
  readonly problem: FieldProblem | undefined;
  readonly isMono?: boolean;
  readonly autoFocus?: boolean;
}

/** Several values: typed, pasted or chosen. An invalid value is marked. */
export function ValueField({ values, labelOf, ...props }: ValueFieldProps) {
  const { problem, isMono = false, autoFocus = false } = props;
  const isWrong = problem !== undefined;
  const data = props.offers.map((value) => ({ value, label: labelOf?.(value) ?? value }));
  const nameOf = (typed: string) =>
    data.find(({ label }) => label.toLowerCase() === typed.toLowerCase())?.value ?? typed;
  const wrongValue = problem?.at === undefined ? undefined : values[problem.at];
  return (
    <TagsInput
      size="xs"
      className={styles.values ?? ''}
      aria-label={props.label}
      aria-invalid={isWrong}
      aria-describedby={problem?.id}
      error={isWrong}
      placeholder={values.length === 0 ? props.placeholder : ''}
      value={[...values]}
      onChange={(next) => props.onChange(labelOf ? next.map(nameOf) : next)}
      data={data}
      onSearchChange={(typed) => props.onSearch?.(typed)}
      splitChars={props.splitChars ?? [',']}
      isDuplicate={(value, others) => others.includes(value)}
      data-autofocus={autoFocus || undefined}
      autoFocus={autoFocus}
      renderPill={({ option, onRemove }) => (
        <Pill
          size="sm"
          className={isMono ? styles.monoPill : styles.pill}
          data-wrong={(isWrong && option !== undefined && option.value === wrongValue) || undefined}
          withRemoveButton
          {...(onRemove && { onRemove })}
          removeButtonProps={{ tabIndex: -1 }}
        >
          <bdi>{option?.label}</bdi>
        </Pill>
      )}
    />
  );
}

const inHistory = {
  ...mapPatternFields((name) => name),
  ...({ ip: 'ip', sourceIp: 'source', token: 'token' } as const),
};

/** Known values of a field, to suggest them. */
export function useOffers(field: ConditionField): {
  readonly offers: readonly string[];
  readonly search: (typed: string) => void;
} {
  const [typed, search] = useState('');
  const [prefix] = useDebouncedValue(typed, 200);
  const key = field in inHistory ? inHistory[field as keyof typeof inHistory] : undefined;
  const { data } = useQuery({
    ...fieldValuesQuery(useTenant(), key ?? 'host', prefix),
    enabled: key !== undefined,
  });
  const levels = useLevels();
  if (field === 'level' || field === 'minLevel') return { offers: [...levels.keys()], search };
  return { offers: key === undefined ? [] : (data ?? []), search };
}
