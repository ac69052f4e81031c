import { useQuery } from '@tanstack/react-query';
import { useMemo } from 'react';
import { useTranslation } from 'react-i18next';
import { knownNames, type NamingRule, unmatchedNames } from '#contract/routing/rule-names.ts';
import { suppressWarning } from '#contract/routing/suppress-warning.ts';
import { weekdays } from '#contract/time.ts';
import { channelsQuery, levelsQuery, onCallQuery, panelsQuery, tokensQuery } from '../api/queries.ts';
import { useTenant } from '../api/tenant.tsx';
import { useLevelLook } from '../components/level-mark.tsx';
import { clip } from '../formats/formats.ts';
import { localeOf, useFormats } from '../formats/use-formats.tsx';
import { type RuleWords, ruleSentence, type Sentence, type SentenceRule } from './rule-sentence.ts';
import styles from './rule-text.module.css';

/** The words for rule sentences, with the tenant's levels and panels. */
export function useRuleWords(): RuleWords {
  const { t, i18n } = useTranslation('ruleSentence');
  const formats = useFormats();
  const look = useLevelLook();
  const tenant = useTenant();
  const { data: panels } = useQuery(panelsQuery(tenant));
  const { data: channels } = useQuery(channelsQuery(tenant));
  const { data: onCall } = useQuery(onCallQuery(tenant));
  const language = i18n.language;
  return useMemo(() => {
    const weekday = new Intl.DateTimeFormat(localeOf(language), { weekday: 'short', timeZone: 'UTC' });
    return {
      t,
      panels,
      channels,
      onCall,
      level: (name) => look(name).word,
      duration: formats.duration,
      dateTime: formats.dateTime,
      // 5 January 1970 was a Monday.
      weekday: (day) => weekday.format((4 + weekdays.indexOf(day)) * 86_400_000),
    };
  }, [t, formats, look, panels, channels, onCall, language]);
}

/** A rule as a sentence, its values in another style than its words. */
export function RuleText({ rule, words }: { rule: SentenceRule; words: RuleWords }) {
  return <SentenceText sentence={ruleSentence(rule, words)} />;
}

/** A sentence shows the beginning of a long value; the form shows all of it. */
const longest = 120;

export function SentenceText({ sentence }: { sentence: Sentence }) {
  const look = useLevelLook();
  return (
    <span className={styles.sentence}>
      {sentence.map(({ kind, text, level }, i) => {
        const key = `${i} ${text}`;
        if (kind === 'word') return <span key={key}>{text}</span>;
        if (kind === 'level')
          return (
            <b key={key} style={{ color: look(level ?? '').color }}>
              {text}
            </b>
          );
        return (
          <bdi key={key} className={kind === 'mono' ? styles.mono : styles.value}>
            {clip(text, longest)}
          </bdi>
        );
      })}
    </span>
  );
}

/** Warns of levels and tokens in a rule's conditions that do not exist, so that they match nothing. */

export interface NameWarning {
  /** As in `when.token`. */
  readonly place: string;
  readonly text: string;
}

/** Known names that are listed as what may be meant. */
const mostListed = 8;

/** Tokens are known to admins only; others are warned of levels alone. */
export function useNameWarnings(): (rule: NamingRule) => readonly NameWarning[] {
  const { t } = useTranslation('ruleSentence');
  const tenant = useTenant();
  const { data: levels } = useQuery(levelsQuery(tenant));
  const { data: tokens } = useQuery({ ...tokensQuery(tenant), enabled: tenant.may('admin') });
  return useMemo(() => {
    if (!levels) return (_: NamingRule) => [];
    const known = knownNames(levels, tokens ?? []);
    const listed = { level: listOf(known.levels), token: listOf(known.usableTokenNames) };
    const ofSuppress = (rule: NamingRule): NameWarning[] => {
      const warning = suppressWarning(rule);
      return warning ? [{ place: 'then.suppress', text: t(`warning.${warning}`) }] : [];
    };
    return (rule: NamingRule) => [
      ...ofSuppress(rule),
      ...unmatchedNames(rule, known)
        .filter(({ kind }) => kind === 'level' || tokens)
        .map(({ place, kind, name, isRevoked }) => ({
          place,
          text: isRevoked
            ? t('warning.revoked', { name })
            : t(`warning.${kind}`, { name, known: listed[kind] }),
        })),
    ];
  }, [t, levels, tokens]);
}

function listOf(names: ReadonlySet<string>): string {
  const listed = [...names].slice(0, mostListed).join(', ') || '–';
  return names.size > mostListed ? `${listed}, …` : listed;
}
