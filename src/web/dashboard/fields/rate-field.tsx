import { Group, NumberInput } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import type { Field } from './field.ts';
import { isBurst, isRate, limitKinds, type RateValues } from './limits.ts';
import { SegmentedField } from './segmented-field.tsx';

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
