/** The words for audit entries, with the names of the tenant's panels, channels, rules and members. */
import { useQuery } from '@tanstack/react-query';
import { useMemo } from 'react';
import { useTranslation } from 'react-i18next';
import type { AuditEntry } from '#contract/people/audit.ts';
import type { Token } from '#contract/people/token.ts';
import type { Rule } from '#contract/routing/rule.ts';
import { membersQuery } from '#web/dashboard/api/queries.ts';
import { rulesQuery } from '#web/dashboard/api/rules.ts';
import { useTenant } from '#web/dashboard/api/tenant.tsx';
import { actorText } from '#web/dashboard/formats/actor.ts';
import { useFormats } from '#web/dashboard/formats/formats.ts';
import type { TextsName } from '#web/dashboard/language.ts';
import {
  ruleSentence,
  thenSentence,
  whenSentence,
  windowsText,
} from '#web/dashboard/rule-text/rule-sentence.ts';
import { useRuleWords } from '#web/dashboard/rule-text/rule-text.tsx';
import { sentenceText } from '#web/dashboard/rule-text/sentence.ts';
import type { AuditWords, SubjectWords } from './audit-detail.ts';
import { isCut, isInstant, isTyped, type TypedField } from './audit-types.ts';

export interface WordsOfAudit extends AuditWords, SubjectWords {
  /** "Rule changed" */
  action(entry: AuditEntry): string;
}

type Limit = number | 'off' | null;

export function useAuditWords(): WordsOfAudit {
  const { t, i18n } = useTranslation('audit');
  const formats = useFormats();
  const rules = useRuleWords();
  const nameOf = useNames();
  return useMemo(() => {
    // A newer server may name other fields, and do other things.
    const find = (texts: TextsName, key: string): string | undefined =>
      i18n.getResource(i18n.language, texts, key) ?? undefined;
    const field = (name: string) =>
      find('audit', `changed.${name}`) ??
      find('channels', `field.${name}`) ??
      find('shell', `field.${name}`) ??
      name;
    const values: Readonly<Record<TypedField, (value: never) => string>> = {
      when: (value: Rule['when']) => sentenceText(whenSentence(value, rules)),
      then: (value: Rule['then']) => sentenceText(thenSentence(value, rules)),
      windows: (value: Rule['windows']) => windowsText(value, undefined, rules) || '–',
      rate: (value: Token['rate']) =>
        typeof value === 'object' && value !== null ? rateText(value) : limitText(value),
      retentionDays: (value: Limit) => limitText(value),
      retentionCount: (value: Limit) => limitText(value),
      expiresAt: (value: string | null) => (value === null ? t('never') : formats.dateTime(value)),
      durationMs: (value: number) => (value === 0 ? t('untilCleared') : formats.duration(value)),
      role: (value: string) => find('shell', `role.${value}`) ?? value,
      kind: (value: string) => find('channels', `kind.${value}`) ?? value,
      minLevel: (value: string) => rules.level(value),
      secrets: (names: readonly string[]) => names.map(field).join(', ') || '–',
      // As in "deploy (0123456789)".
      revokedKeys: (keys: readonly string[]) =>
        keys.map((key) => key.replace(/ \([a-z0-9]+\)$/, '')).join(', '),
      invitedBy: actorText,
      order: (ids: readonly string[]) => ids.map((id) => nameOf(id) ?? t('deletedRule')).join(', '),
      panelId: (id: string) => nameOf(id) ?? t('deletedPanel'),
    };
    const rateText = (value: { perSecond: number; burst: number }) =>
      t('rate.value', { perSecond: formats.number(value.perSecond), burst: formats.number(value.burst) });
    const limitText = (value: Limit) =>
      value === null ? t('limit.server') : value === 'off' ? t('limit.off') : formats.number(value);
    return {
      nameOf,
      action({ action, detail }) {
        const isNew = action.endsWith('.put') && detail.before === null;
        const key = isNew ? action.replace(/put$/, 'create') : action;
        return find('audit', `done.${key}`) ?? action;
      },
      unnamed: (kind) => find('audit', `unnamed.${kind}`),
      field,
      rule: (detail) => sentenceText(ruleSentence(detail as unknown as Rule, rules)),
      value(name, value) {
        if (isTyped(name, value)) return values[name](value as never);
        if (isCut(name, value)) return t('tooLong');
        const word = typeof value === 'object' ? undefined : find('audit', `value.${name}.${value}`);
        if (word !== undefined) return word;
        if (typeof value === 'boolean') return t(value ? 'yes' : 'no');
        if (typeof value === 'number')
          return name.endsWith('Ms') ? formats.duration(value) : formats.number(value);
        return isInstant(value) ? formats.dateTime(value) : undefined;
      },
    };
  }, [t, i18n, formats, rules, nameOf]);
}

function useNames(): (id: string) => string | undefined {
  const tenant = useTenant();
  const { panels, channels } = useRuleWords();
  const { data: rules } = useQuery(rulesQuery(tenant));
  const { data: members } = useQuery(membersQuery(tenant));
  return useMemo(() => {
    const people = members?.map(({ id, email }) => ({ id, name: email }));
    const named = [panels, channels, rules, people].flatMap((list) => list ?? []);
    const names = new Map(named.map(({ id, name }) => [id, name]));
    return (id) => names.get(id);
  }, [panels, channels, rules, members]);
}
