/** The quiet hours of a phone: when it gets everything, but does not ring. */
import { Checkbox, Group, Stack, Switch } from '@mantine/core';
import type { UseFormReturnType } from '@mantine/form';
import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { weekdays } from '#contract/time.ts';
import { useRuleWords } from '#web/dashboard/rule-text/rule-text.tsx';
import type { PanelValues } from './panel-values.ts';

/** `hours`: the fields of the times and of their time zone. */
export function PhoneHours({ form, hours }: { form: UseFormReturnType<PanelValues>; hours: ReactNode }) {
  const { t } = useTranslation('panels');
  const words = useRuleWords();
  return (
    <Stack gap={14}>
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
