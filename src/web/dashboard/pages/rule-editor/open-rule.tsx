import { Tabs } from '@mantine/core';
import { getRouteApi } from '@tanstack/react-router';
import { useMemo, useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { Rule } from '#contract/rule.ts';
import { useTenant } from '#web/dashboard/api/tenant.tsx';
import { EmptyState, Remark } from '#web/dashboard/components/notice.tsx';
import { RuleText, useRuleWords } from '#web/dashboard/components/rule-text.tsx';
import type { RulesSearch } from '#web/dashboard/search-params.ts';
import { draftOf, ruleOf, specOf } from './draft.ts';
import { ExplainPanel } from './explain-panel.tsx';
import { beginningOf } from './initial-draft.ts';
import { JsonPanel } from './json-panel.tsx';
import { RuleSheet, Sheet } from './rule-sheet.tsx';
import styles from './sheet.module.css';
import { useExplain } from './use-explain.ts';

const route = getRouteApi('/signed-in/t/$tenant/rules');

/** What the address says is open: a rule, a new one, or a question. */
export function OpenSheet({
  rules,
  search,
  onDelete,
}: {
  rules: readonly Rule[];
  search: RulesSearch;
  onDelete: (rule: Rule) => void;
}) {
  const { may } = useTenant();
  const navigate = route.useNavigate();
  const version = useMemo(() => rules.map(({ id, updatedAt }) => `${id} ${updatedAt}`).join(), [rules]);
  const close = () => void navigate({ search: {} });
  const explain = search.explain === 'typed' ? undefined : search.explain;
  const given = { rules, version, explain, onClose: close };
  const rule = rules.find(({ id }) => id === search.id);
  const isNew = search.id === 'new' || (search.id === undefined && search.mute !== undefined);
  if (isNew && may('admin'))
    return <NewRule key={JSON.stringify(search)} search={search} {...given} onDelete={undefined} />;
  if (search.id !== undefined && !isNew && !rule) return <Gone onClose={close} />;
  if (rule && may('admin'))
    return <RuleSheet key={rule.id} opening={{ rule }} {...given} onDelete={onDelete} />;
  if (rule || search.explain !== undefined)
    return <ReadingSheet key={`${search.id} ${search.explain}`} rule={rule} {...given} />;
  return null;
}

function NewRule({
  search,
  ...given
}: { search: RulesSearch } & Omit<Parameters<typeof RuleSheet>[0], 'opening'>) {
  const { t } = useTranslation('rules');
  const { timeZone } = useTenant();
  // What others do to the list meanwhile does not touch what was begun.
  const [opening] = useState(() =>
    beginningOf(search, given.rules, { timeZone, copyName: (name) => t('copyOf', { name }) }),
  );
  return <RuleSheet opening={opening} {...given} />;
}

function Gone({ onClose }: { onClose: () => void }) {
  const { t } = useTranslation('rules');
  return (
    <Sheet isWide={false} title={t('gone')} onClose={onClose}>
      <EmptyState title={t('gone')}>{t('goneAbout')}</EmptyState>
    </Sheet>
  );
}

/** A rule for those who may not change it, or, without one, the question where a notification goes. */
function ReadingSheet({
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
