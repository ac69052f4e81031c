import { NumberInput } from '@mantine/core';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import styles from './editor.module.css';

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
