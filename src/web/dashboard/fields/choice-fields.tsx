import {
  Group,
  Input,
  NativeSelect,
  type NativeSelectProps,
  NumberInput,
  SegmentedControl,
} from '@mantine/core';
import { useId } from 'react';
import { useTranslation } from 'react-i18next';
import { useLevels } from '../api/queries.ts';
import { useLevelLook } from '../components/level-mark.tsx';
import type { Field } from './form-values.ts';
import { isBurst, isRate, limitKinds, type RateValues } from './limits.ts';

/** One of a few choices, under its label. */
export function SegmentedField<Value extends string>({
  label,
  description,
  value,
  onChange,
  options,
  fullWidth = true,
}: Field<Value> & {
  label: string;
  description?: string;
  options: readonly (readonly [value: Value, label: string])[];
  fullWidth?: boolean;
}) {
  const id = useId();
  return (
    <Input.Wrapper id={id} label={label} description={description} labelElement="div">
      <SegmentedControl
        {...(fullWidth ? { fullWidth } : { display: 'flex', w: 'fit-content' })}
        aria-labelledby={`${id}-label`}
        value={value}
        onChange={onChange}
        data={options.map(([each, text]) => ({ value: each, label: text }))}
      />
    </Input.Wrapper>
  );
}

/** How many notifications may come in: a rate, and how many at once. */
export function RateField({
  value,
  onChange,
  ...props
}: Field<RateValues> & { label: string; description: string }) {
  const { t } = useTranslation();
  const shared = { clampBehavior: 'none', hideControls: true } as const;
  return (
    <div>
      <SegmentedField
        {...props}
        value={value.kind}
        onChange={(kind) => onChange({ ...value, kind })}
        options={limitKinds.map((kind) => [kind, t(`limit.${kind}`)] as const)}
      />
      {value.kind === 'own' && (
        <Group grow align="flex-end" gap={12} mt={10}>
          <NumberInput
            {...shared}
            label={t('rate.perSecond')}
            description={t('rate.perSecondHint')}
            value={value.perSecond}
            error={value.perSecond !== '' && !isRate(value.perSecond) && t('rate.perSecondWrong')}
            onChange={(perSecond) => onChange({ ...value, perSecond })}
          />
          <NumberInput
            {...shared}
            allowDecimal={false}
            label={t('rate.burst')}
            description={t('rate.burstHint')}
            value={value.burst}
            error={value.burst !== '' && !isBurst(value.burst) && t('rate.burstWrong')}
            onChange={(burst) => onChange({ ...value, burst })}
          />
        </Group>
      )}
    </div>
  );
}

/** One of the tenant's levels, by rank. @param props.emptyLabel The choice of none, where that is possible. */
export function LevelSelect({
  value = '',
  onChange,
  emptyLabel,
  ...props
}: Omit<NativeSelectProps, 'data' | 'value' | 'onChange'> & {
  value?: string;
  onChange: (level: string) => void;
  emptyLabel?: string;
}) {
  const lookOf = useLevelLook();
  const levels = [...useLevels().values()].sort((a, b) => a.rank - b.rank).map(({ name }) => name);
  const names = value === '' || levels.includes(value) ? levels : [value, ...levels];
  return (
    <NativeSelect
      {...props}
      value={value}
      onChange={({ currentTarget }) => onChange(currentTarget.value)}
      data={[
        ...(emptyLabel === undefined ? [] : [{ value: '', label: emptyLabel }]),
        ...names.map((name) => ({ value: name, label: lookOf(name).word })),
      ]}
    />
  );
}
