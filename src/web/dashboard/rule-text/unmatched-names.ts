/** Warns of levels and tokens in a rule's conditions that do not exist, so that they match nothing. */
import { useQuery } from '@tanstack/react-query';
import { useMemo } from 'react';
import { useTranslation } from 'react-i18next';
import type { RuleWhen } from '#contract/routing/rule.ts';
import { knownNames, unmatchedNames } from '#contract/routing/rule-names.ts';
import { levelsQuery, tokensQuery } from '../api/queries.ts';
import { useTenant } from '../api/tenant.tsx';

export interface NameWarning {
  /** As in `when.token`. */
  readonly place: string;
  readonly text: string;
}

/** Known names that are listed as what may be meant. */
const mostListed = 8;

/** Tokens are known to admins only; others are warned of levels alone. */
export function useNameWarnings(): (when: RuleWhen) => readonly NameWarning[] {
  const { t } = useTranslation('ruleSentence');
  const tenant = useTenant();
  const { data: levels } = useQuery(levelsQuery(tenant));
  const { data: tokens } = useQuery({ ...tokensQuery(tenant), enabled: tenant.may('admin') });
  return useMemo(() => {
    if (!levels) return (_: RuleWhen) => [];
    const known = knownNames(levels, tokens ?? []);
    const listed = { level: listOf(known.levels), token: listOf(known.usableTokenNames) };
    return (when: RuleWhen) =>
      unmatchedNames(when, known)
        .filter(({ kind }) => kind === 'level' || tokens)
        .map(({ place, kind, name, isRevoked }) => ({
          place,
          text: isRevoked
            ? t('warning.revoked', { name })
            : t(`warning.${kind}`, { name, known: listed[kind] }),
        }));
  }, [t, levels, tokens]);
}

function listOf(names: ReadonlySet<string>): string {
  const listed = [...names].slice(0, mostListed).join(', ') || '–';
  return names.size > mostListed ? `${listed}, …` : listed;
}
