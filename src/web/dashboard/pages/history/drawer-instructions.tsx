import { useTranslation } from 'react-i18next';
import type { NotificationDetail } from '#contract/routing/routing.ts';
import { TextWithLinks } from '#web/dashboard/components/external-link.tsx';
import styles from './notification-drawer.module.css';

/** What to do, as the rules that matched say. */
export function Instructions({ detail: { instructions } }: { detail: NotificationDetail }) {
  const { t } = useTranslation('history');
  return instructions.map(({ rule, text }) => (
    <section key={rule.id} className={styles.section}>
      <h3>{t('instructionsOf', { rule: rule.name })}</h3>
      <p className={styles.instructions}>
        <TextWithLinks text={text} />
      </p>
    </section>
  ));
}
