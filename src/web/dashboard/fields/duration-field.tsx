import { Group, NativeSelect, NumberInput } from '@mantine/core';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { type DurationUnit, durationOf, msOf, unitNames } from '../formats/duration.ts';

/** A length of time: an amount and its unit. */
export function DurationField({
  label,
  ms,
  onChange,
  error,
  size = 'sm',
  longest = 'd',
}: {
  label: string;
  ms: number;
  /** NaN while the amount is missing or not above 0. */
  onChange: (ms: number) => void;
  error?: string | boolean | undefined;
  size?: 'xs' | 'sm';
  longest?: DurationUnit;
}) {
  const { t } = useTranslation();
  const [typed, setTyped] = useState(() => durationOf(ms));
  const [isTyping, setTyping] = useState(false);
  // While it is typed, it may be empty, whatever the caller keeps.
  const isOwn = Object.is(msOf(typed), ms) || (isTyping && Number.isNaN(msOf(typed)));
  const shown = isOwn ? typed : durationOf(ms);
  const change = (some: Partial<typeof typed>) => {
    const next = { ...shown, ...some };
    setTyped(next);
    onChange(msOf(next));
  };
  return (
    <Group gap={8} wrap="nowrap" align="flex-start">
      <NumberInput
        size={size}
        {...(size === 'xs' ? { w: 64 } : { flex: 1 })}
        aria-label={label}
        error={error}
        hideControls
        clampBehavior="none"
        value={shown.amount}
        onChange={(amount) => change({ amount })}
        onFocus={() => {
          setTyped(shown);
          setTyping(true);
        }}
        onBlur={() => setTyping(false)}
      />
      <NativeSelect
        size={size}
        {...(size === 'sm' && { flex: 1 })}
        aria-label={t('unitOf', { what: label })}
        value={shown.unit}
        onChange={({ currentTarget }) => change({ unit: currentTarget.value as DurationUnit })}
        data={unitNames
          .slice(0, unitNames.indexOf(longest) + 1)
          .map((unit) => ({ value: unit, label: t(`unit.${unit}`) }))}
      />
    </Group>
  );
}
