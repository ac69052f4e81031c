import { getRouteApi } from '@tanstack/react-router';
import { useMemo, useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { Rule } from '#contract/routing/rule.ts';
import { useTenant } from '#web/dashboard/api/tenant.tsx';
import { EmptyState, RoleRemark } from '#web/dashboard/components/notice.tsx';
import { RuleText, useRuleWords } from '#web/dashboard/rule-text/rule-text.tsx';
import type { RulesSearch } from '#web/dashboard/search-params.ts';
import { draftOf, ruleOf, specOf } from './draft.ts';
import { ExplainPanel } from './explain-panel.tsx';
import { initialDraftOf } from './initial-draft.ts';
import { JsonPanel, RuleSheet, Sheet, type SheetProps, TryTabs } from './rule-sheet.tsx';
import styles from './sheet.module.css';
import { useExplain } from './use-explain.ts';

const route = getRouteApi('/signed-in/t/$tenant/rules');

/** What the address says is open: a rule, a new one, or a question. */
export function OpenRule({
  rules,
  search,
  onDelete,
}: {
  rules: readonly Rule[];
  search: RulesSearch;
  onDelete: (rule: Rule) => void;
}) {
  const { t } = useTranslation('rules');
  const { may } = useTenant();
  const navigate = route.useNavigate();
  const version = useMemo(() => rules.map(({ id, updatedAt }) => `${id} ${updatedAt}`).join(), [rules]);
  const onClose = () => void navigate({ search: {} });
  const explain = search.explain === 'typed' ? undefined : search.explain;
  const sheet = { rules, version, explain, onClose };
  const rule = rules.find(({ id }) => id === search.id);
  const isNew = search.id === 'new' || (search.id === undefined && search.mute !== undefined);
  if (isNew && may('admin')) return <NewRule key={JSON.stringify(search)} search={search} {...sheet} />;
  if (search.id !== undefined && !isNew && !rule)
    return (
      <Sheet title={t('gone')} onClose={onClose}>
        <EmptyState title={t('gone')}>{t('goneAbout')}</EmptyState>
      </Sheet>
    );
  if (rule && may('admin'))
    return <RuleSheet key={rule.id} opening={{ rule }} {...sheet} onDelete={onDelete} />;
  if (rule || search.explain !== undefined)
    return <ReadOnlySheet key={`${search.id} ${search.explain}`} rule={rule} {...sheet} />;
  return null;
}

function NewRule({ search, ...sheet }: SheetProps & { search: RulesSearch }) {
  const { t } = useTranslation('rules');
  const { timeZone } = useTenant();
  // Changes that others make to the list do not change what was begun.
  const [opening] = useState(() =>
    initialDraftOf(search, sheet.rules, { timeZone, copyName: (name) => t('copyOf', { name }) }),
  );
  return <RuleSheet opening={opening} {...sheet} />;
}

/** A rule for those who may not change it; without one, where a notification would go. */
function ReadOnlySheet({
  rules,
  version,
  rule,
  explain: id,
  onClose,
}: SheetProps & { rule: Rule | undefined }) {
  const { t } = useTranslation('rules');
  const { timeZone } = useTenant();
  const words = useRuleWords();
  const explain = useExplain(undefined, { version, enabled: true, id });
  const panel = <ExplainPanel explain={explain} rules={rules.map(specOf)} words={words} own={rule?.id} />;
  return (
    <Sheet
      title={rule?.name ?? t('explain.title')}
      onClose={onClose}
      head={rule && <RuleText rule={rule} words={words} />}
    >
      <div className={styles.single}>
        {rule ? (
          <>
            <RoleRemark what="mayNot" />
            {rule.note !== '' && <p className={styles.note}>{rule.note}</p>}
            <TryTabs explain={panel} json={<JsonPanel rule={ruleOf(draftOf(rule, timeZone), rule.name)} />} />
          </>
        ) : (
          panel
        )}
      </div>
    </Sheet>
  );
}
