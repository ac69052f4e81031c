import rulesIcon from 'virtual:icon/route';
import { Link } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { useTenant } from '#web/dashboard/api/tenant.tsx';
import { EmptyState } from '#web/dashboard/pieces/notice.tsx';
import type { RuleWords } from '#web/dashboard/pieces/rules/rule-sentence.ts';
import { RuleText } from '#web/dashboard/pieces/rules/rule-text.tsx';
import { exampleDraft, examples } from './editor/beginnings.ts';
import { ruleOf } from './editor/draft.ts';
import styles from './empty-rules.module.css';

/** Without rules everything goes to every panel: says so, and offers two to start from. */
export function EmptyRules({ words }: { words: RuleWords }) {
  const { t } = useTranslation('rules');
  const { may, timeZone } = useTenant();
  return (
    <EmptyState
      icon={rulesIcon}
      title={t('emptyTitle')}
      action={
        may('admin') && (
          <ul className={styles.examples}>
            {examples.map((name) => (
              <li key={name}>
                <Link from="/t/$tenant/rules" to="." search={{ id: 'new', example: name }}>
                  <strong>{t(`start.${name}`)}</strong>
                  <RuleText rule={ruleOf(exampleDraft(name, timeZone), '')} words={words} />
                </Link>
              </li>
            ))}
          </ul>
        )
      }
    >
      {t(may('admin') ? 'emptyAbout' : 'emptyReading')}
    </EmptyState>
  );
}
