import { Button } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { useTenant } from '#web/dashboard/api/tenant.tsx';
import { useFormats } from '#web/dashboard/pieces/formats.ts';
import { type MuteEnd, muteEnds, muteUntil } from '#web/dashboard/pieces/time/mute-ends.ts';
import { fromDateTimeField, toDateTimeField } from '#web/dashboard/pieces/time/wall-clock.ts';
import styles from './editor.module.css';

/** When a rule ends: one click for what is wanted most, or a date and time of the tenant's clock. */
export function EndPicker({
  value,
  onChange,
}: {
  value: string | null;
  onChange: (value: string | null) => void;
}) {
  const { t } = useTranslation('rules');
  const { timeZone } = useTenant();
  const formats = useFormats();
  const now = Date.now();
  const text = (end: MuteEnd) => {
    const at = muteUntil(end, now, timeZone);
    return t(`end.${end}`, { time: at === null ? '' : formats.shortClock(at) });
  };
  return (
    <span className={styles.ends}>
      {muteEnds.map((end) => (
        <Button
          key={end}
          size="compact-xs"
          variant={end === 'never' && value === null ? 'light' : 'default'}
          aria-pressed={end === 'never' ? value === null : undefined}
          onClick={() => onChange(muteUntil(end, Date.now(), timeZone))}
        >
          {text(end)}
        </Button>
      ))}
      <InstantField label={t('endAt')} value={value} onChange={onChange} />
    </span>
  );
}

/** A date and time by the tenant's clock; empty is null. */
export function InstantField({
  label,
  value,
  onChange,
}: {
  label: string;
  value: string | null;
  onChange: (value: string | null) => void;
}) {
  const { timeZone } = useTenant();
  return (
    <input
      type="datetime-local"
      className={styles.input}
      aria-label={`${label} (${timeZone})`}
      title={timeZone}
      value={value === null ? '' : toDateTimeField(Date.parse(value), timeZone)}
      onChange={({ target }) => {
        const at = fromDateTimeField(target.value, timeZone);
        onChange(at === undefined ? null : new Date(at).toISOString());
      }}
    />
  );
}
