import { Tabs } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import type { Rule } from '#contract/rule.ts';
import { useTenant } from '#web/dashboard/api/tenant.tsx';
import { Remark } from '#web/dashboard/pieces/notice.tsx';
import { RuleText, useRuleWords } from '#web/dashboard/pieces/rules/rule-text.tsx';
import { ExplainPanel } from './ask/explain-panel.tsx';
import { JsonPanel } from './ask/json-panel.tsx';
import { useExplain } from './ask/use-explain.ts';
import { draftOf, ruleOf } from './editor/draft.ts';
import { specOf } from './editor/draft-set.ts';
import styles from './sheet.module.css';
import { Sheet } from './sheet.tsx';

/** A rule for those who may not change it, or, without one, the question where a notification goes. */
export function ReadingSheet({
  rules,
  version,
  rule,
  explain: begin,
  onClose,
}: {
  rules: readonly Rule[];
  version: string;
  rule: Rule | undefined;
  explain: string | undefined;
  onClose: () => void;
}) {
  const { t } = useTranslation('rules');
  const { t: shell } = useTranslation();
  const { role, timeZone } = useTenant();
  const words = useRuleWords();
  const explain = useExplain(undefined, { version, isAsking: true, begin });
  const panel = <ExplainPanel explain={explain} rules={rules.map(specOf)} words={words} own={rule?.id} />;
  if (!rule)
    return (
      <Sheet isWide={false} title={t('explain.title')} onClose={onClose}>
        <div className={styles.single}>{panel}</div>
      </Sheet>
    );
  return (
    <Sheet isWide={false} title={rule.name} onClose={onClose} head={<RuleText rule={rule} words={words} />}>
      <div className={styles.single}>
        <Remark>{shell('mayNot', { role: shell(`role.${role}`) })}</Remark>
        {rule.note !== '' && <p className={styles.note}>{rule.note}</p>}
        <Tabs defaultValue="explain" keepMounted={false}>
          <Tabs.List className={styles.tabs}>
            <Tabs.Tab value="explain">{t('explain.tab')}</Tabs.Tab>
            <Tabs.Tab value="json">JSON</Tabs.Tab>
          </Tabs.List>
          <Tabs.Panel value="explain" className={styles.tab}>
            {panel}
          </Tabs.Panel>
          <Tabs.Panel value="json" className={styles.tab}>
            <JsonPanel rule={ruleOf(draftOf(rule, timeZone), rule.name)} />
          </Tabs.Panel>
        </Tabs>
      </div>
    </Sheet>
  );
}
