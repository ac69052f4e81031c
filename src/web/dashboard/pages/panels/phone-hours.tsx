/** When a phone does not ring, though it gets everything: in its quiet hours, and in the pause after a sound. */
import { Checkbox, Group, Stack, Switch } from '@mantine/core';
import type { UseFormReturnType } from '@mantine/form';
import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { weekdays } from '#contract/time.ts';
import { SegmentedField } from '#web/dashboard/fields/choice-fields.tsx';
import { DurationField } from '#web/dashboard/fields/time-fields.tsx';
import { useRuleWords } from '#web/dashboard/rule-text/rule-text.tsx';
import type { PanelValues } from './panel-values.ts';

/** `hours`: the fields of the times and of their time zone. */
export function PhoneHours({ form, hours }: { form: UseFormReturnType<PanelValues>; hours: ReactNode }) {
  const { t } = useTranslation('panels');
  const words = useRuleWords();
  return (
    <Stack gap={14}>
      <RingPauseField form={form} />
      {hours}
      <Checkbox.Group
        label={t('quietDays')}
        description={t('quietDaysHint')}
        {...form.getInputProps('quietDays')}
        value={[...form.values.quietDays]}
      >
        <Group gap="sm" mt={6}>
          {weekdays.map((day) => (
            <Checkbox key={day} value={day} label={words.weekday(day)} />
          ))}
        </Group>
      </Checkbox.Group>
      <Switch
        label={t('criticalRings')}
        description={t('criticalRingsHint')}
        {...form.getInputProps('criticalRings', { type: 'checkbox' })}
      />
    </Stack>
  );
}

const defaultRingPauseMs = 60_000;

function RingPauseField({ form }: { form: UseFormReturnType<PanelValues> }) {
  const { t } = useTranslation('panels');
  const { ringPauseMs } = form.values;
  return (
    <Stack gap={8}>
      <SegmentedField
        label={t('ringPause')}
        description={t('ringPauseHint')}
        value={ringPauseMs === 0 ? 'none' : 'for'}
        onChange={(kind) => form.setFieldValue('ringPauseMs', kind === 'none' ? 0 : defaultRingPauseMs)}
        options={[
          ['none', t('ringPause.none')],
          ['for', t('ringPause.for')],
        ]}
      />
      {ringPauseMs !== 0 && (
        <DurationField
          label={t('ringPause')}
          ms={ringPauseMs}
          longest="h"
          onChange={(ms) => form.setFieldValue('ringPauseMs', ms)}
          error={form.errors.ringPauseMs as string | undefined}
        />
      )}
    </Stack>
  );
}
