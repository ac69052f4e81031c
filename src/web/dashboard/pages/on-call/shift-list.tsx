/** Who is on call in the next two weeks. */
import { useDebouncedValue } from '@mantine/hooks';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useTranslation } from 'react-i18next';
import type { OnCallShift } from '#contract/routing/on-call.ts';
import { onCallPreviewQuery } from '#web/dashboard/api/queries.ts';
import { useTenant } from '#web/dashboard/api/tenant.tsx';
import { ErrorNotice } from '#web/dashboard/components/notice.tsx';
import { localeOf, zoneRemark } from '#web/dashboard/formats/use-formats.tsx';
import styles from './on-call.module.css';
import { bodyOf, type OnCallValues } from './on-call-values.ts';

/** In the time zone of the schedule, which is named unless it is the browser's. */
export function ShiftList({ shifts, timeZone }: { shifts: readonly OnCallShift[]; timeZone: string }) {
  const { t, i18n } = useTranslation('onCall');
  const format = new Intl.DateTimeFormat(localeOf(i18n.language), {
    ...{
      weekday: 'short',
      day: 'numeric',
      month: 'short',
      hour: '2-digit',
      minute: '2-digit',
      hourCycle: 'h23',
    },
    timeZone,
  });
  const time = (at: string | null, unknown: string) =>
    at === null ? unknown : format.format(Date.parse(at));
  return (
    <section className={styles.preview} aria-label={t('preview')}>
      <h3>
        {t('preview')}
        {zoneRemark(timeZone)}
      </h3>
      <ol>
        {shifts.map(({ from, until, people }) => (
          <li key={from}>
            <span className="muted">
              {time(from, t('now'))} – {time(until, t('open'))}
            </span>
            <bdi className={people.length === 0 ? styles.gap : undefined}>
              {people.length > 0 ? people.join(', ') : t('nobody')}
            </bdi>
          </li>
        ))}
      </ol>
    </section>
  );
}

/** Of a rota that is not saved yet. */
export function RotaPreview({
  values,
  problems,
}: {
  values: OnCallValues;
  problems: Readonly<Record<string, string>>;
}) {
  const { t } = useTranslation('onCall');
  const { timeZone, people, rota } = bodyOf(values);
  const isComplete = Object.keys(problems).every((path) => path === 'name' || path === 'alertBeforeMs');
  const [key] = useDebouncedValue(JSON.stringify({ timeZone, people, rota }), 300);
  const { data, error } = useQuery({
    ...onCallPreviewQuery(useTenant(), JSON.parse(key)),
    enabled: isComplete,
    placeholderData: keepPreviousData,
  });
  if (!isComplete || !data) {
    if (error) return <ErrorNotice error={error} />;
    return <p className="muted">{isComplete ? '' : t('previewEmpty')}</p>;
  }
  return <ShiftList shifts={data.shifts} timeZone={timeZone} />;
}
