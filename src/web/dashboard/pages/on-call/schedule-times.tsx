/** What the list of schedules, their drawers and the overview show alike. */
import { useTranslation } from 'react-i18next';
import { useZonedTime } from '#web/dashboard/formats/use-formats.tsx';
import styles from './on-call.module.css';

/** A warning that the calendar cannot be read, and since when; nothing when it can be. */
export function CalendarProblem({ since, timeZone }: { since: string | null; timeZone: string }) {
  const { t } = useTranslation('onCall');
  const zonedTime = useZonedTime();
  if (since === null) return null;
  return <span className={styles.problem}>{t('unreadable', { time: zonedTime(since, timeZone) })}</span>;
}
