import { NumberInput, Pill, TagsInput } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { fieldValuesQuery, useLevels } from '#web/dashboard/api/queries.ts';
import { useTenant } from '#web/dashboard/api/tenant.tsx';
import type { ConditionField } from './draft.ts';
import styles from './editor.module.css';

interface ValueFieldProps {
  readonly label: string;
  readonly placeholder: string;
  readonly values: readonly string[];
  readonly onChange: (values: string[]) => void;
  /** What to offer, for what was typed. */
  readonly offers: readonly string[];
  readonly onSearch?: (typed: string) => void;
  /** Characters that end a value; none, where a value may hold any. */
  readonly splitChars?: string[];
  /** Which of the values is wrong. */
  readonly wrongAt?: number | undefined;
  readonly isWrong: boolean;
  readonly describedBy: string;
  readonly isMono?: boolean;
  readonly autoFocus?: boolean;
}

/** Several values, each with its own place: typed, pasted or chosen. What is wrong with one is marked on it. */
export function ValueField({
  label,
  placeholder,
  values,
  onChange,
  offers,
  onSearch,
  splitChars = [','],
  wrongAt,
  isWrong,
  describedBy,
  isMono = false,
  autoFocus = false,
}: ValueFieldProps) {
  return (
    <TagsInput
      size="xs"
      className={styles.values ?? ''}
      aria-label={label}
      aria-invalid={isWrong}
      aria-describedby={isWrong ? describedBy : undefined}
      error={isWrong}
      placeholder={values.length === 0 ? placeholder : ''}
      value={[...values]}
      onChange={onChange}
      data={[...offers]}
      onSearchChange={(typed) => onSearch?.(typed)}
      splitChars={splitChars}
      isDuplicate={(value, others) => others.includes(value)}
      data-autofocus={autoFocus || undefined}
      autoFocus={autoFocus}
      renderPill={({ option, onRemove }) => (
        <Pill
          size="sm"
          className={isMono ? styles.monoPill : styles.pill}
          data-wrong={(isWrong && wrongAt !== undefined && values[wrongAt] === option?.value) || undefined}
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

const inHistory = { host: 'host', ip: 'ip', sourceIp: 'source', key: 'key', token: 'token' } as const;

/** What history, or the tenant, knows for a field. */
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

const units = { s: 1_000, min: 60_000, h: 3_600_000, d: 86_400_000 } as const;
type Unit = keyof typeof units;
const names = Object.keys(units) as Unit[];

/** A length of time as a number and its unit. */
export function DurationField({
  label,
  ms,
  onChange,
  longest = 'd',
  isWrong = false,
}: {
  label: string;
  ms: number;
  onChange: (ms: number) => void;
  longest?: Unit;
  isWrong?: boolean;
}) {
  const { t } = useTranslation('rules');
  const [unit, setUnit] = useState<Unit>(() => unitOf(ms));
  const offered = names.slice(0, names.indexOf(longest) + 1);
  return (
    <span className={styles.duration}>
      <NumberInput
        size="xs"
        aria-label={label}
        error={isWrong}
        value={ms / units[unit]}
        onChange={(value) => {
          if (typeof value === 'number' && value > 0) onChange(Math.round(value * units[unit]));
        }}
        min={0}
        hideControls
        className={styles.amount ?? ''}
      />
      <select
        className={styles.select}
        aria-label={t('unitOf', { what: label })}
        value={unit}
        onChange={({ target }) => {
          const wanted = target.value as Unit;
          onChange(Math.round((ms / units[unit]) * units[wanted]));
          setUnit(wanted);
        }}
      >
        {offered.map((name) => (
          <option key={name} value={name}>
            {t(`unit.${name}`)}
          </option>
        ))}
      </select>
    </span>
  );
}

/** The largest that counts it in whole numbers. */
function unitOf(ms: number): Unit {
  return names.toReversed().find((name) => ms >= units[name] && ms % units[name] === 0) ?? 's';
}
