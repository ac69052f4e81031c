import { getRouteApi } from '@tanstack/react-router';
import { useMemo, useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { Rule } from '#contract/rule.ts';
import { useTenant } from '#web/dashboard/api/tenant.tsx';
import { EmptyState } from '#web/dashboard/pieces/notice.tsx';
import type { RulesSearch } from '#web/dashboard/searches.ts';
import { beginningOf } from './editor/beginnings.ts';
import { RuleSheet } from './editor/rule-sheet.tsx';
import { ReadingSheet } from './reading-sheet.tsx';
import { Sheet } from './sheet.tsx';

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
