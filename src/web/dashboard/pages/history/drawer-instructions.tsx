import { useTranslation } from 'react-i18next';
import { runbookOf } from '#contract/history/labels.ts';
import type { HistoryNotification } from '#contract/history/notification.ts';
import type { NotificationDetail } from '#contract/routing/routing.ts';
import { ExternalLink, TextWithLinks } from '#web/dashboard/components/external-link.tsx';
import styles from './notification-drawer.module.css';

/** What to do, as the rules that matched say, and the link of the runbook. */
export function Instructions({
  notification: { labels },
  instructions,
}: {
  notification: HistoryNotification;
  /** Empty until they are read. */
  instructions: NotificationDetail['instructions'];
}) {
  const { t } = useTranslation('history');
  const runbook = runbookOf(labels);
  return (
    <>
      {instructions.map(({ rule, text }) => (
        <section key={rule.id} className={styles.section}>
          <h3>{t('instructionsOf', { rule: rule.name })}</h3>
          <p className={styles.instructions}>
            <TextWithLinks text={text} />
          </p>
        </section>
      ))}
      {runbook !== undefined && (
        <section className={styles.section}>
          <h3>{t('field.runbook')}</h3>
          <p className={styles.instructions}>
            <ExternalLink url={runbook} />
          </p>
        </section>
      )}
    </>
  );
}
