/** What a rule did with a notification, as a sentence. */
import type { RuleTrace } from '#contract/routing/routing.ts';
import type { RuleConditions } from '#contract/routing/rule.ts';
import {
  conditionSentence,
  type RuleWords,
  type SentenceRule,
  thenSentence,
  windowsText,
} from './rule-sentence.ts';
import { sentenceText } from './sentence.ts';

/** The notification's fields, to show the value that a condition compared. */
export type TracedNotification = Partial<Readonly<Record<keyof RuleConditions, string | null>>>;

/**
 * Why the rule did not match, or what it does. For a rule that no longer exists, the server's reason.
 *
 * @param endedBy The number of the rule that ended the walk, where this one was not tried.
 */
export function traceSentence(
  trace: RuleTrace,
  words: RuleWords,
  {
    rule,
    endedBy,
    notification,
    now = Date.now(),
  }: {
    readonly rule?: SentenceRule | undefined;
    readonly endedBy?: number | undefined;
    readonly notification?: TracedNotification | undefined;
    readonly now?: number;
  },
): string {
  const { t } = words;
  if (trace.outcome === 'disabled') return t('trace.disabled');
  if (trace.outcome === 'not-tried')
    return endedBy === undefined ? trace.reason : t('trace.notTried', { number: endedBy });
  if (!rule) return trace.reason;
  if (trace.outcome === 'matched')
    return `${sentenceText(thenSentence(rule.then, words))}, ${t(rule.continue ? 'goOn' : 'stop')}`;
  return trace.outcome === 'inactive'
    ? inactiveSentence(rule, words, now)
    : failedSentence(trace, words, { rule, notification });
}

function failedSentence(
  trace: RuleTrace,
  words: RuleWords,
  { rule, notification }: { rule: SentenceRule; notification: TracedNotification | undefined },
): string {
  const failed = trace.condition && conditionSentence(rule.when ?? {}, trace.condition, words);
  if (!trace.condition || !failed) return trace.reason;
  const condition = sentenceText(failed);
  const field = trace.condition.replace('not.', '') as keyof RuleConditions;
  const seen = notification?.[field === 'minLevel' ? 'level' : field];
  // A message is too long for a sentence, and is shown above it.
  if (seen === undefined || field === 'message' || seen === '') return words.t('trace.failed', { condition });
  if (seen === null) return words.t('trace.failedUnsent', { condition });
  const shown = field === 'level' || field === 'minLevel' ? words.level(seen) : seen;
  return words.t('trace.failedSeen', { condition, seen: shown });
}

function inactiveSentence(rule: SentenceRule, words: RuleWords, now: number): string {
  const { activeFrom, activeUntil, windows = [], timeZone } = rule;
  if (activeFrom && Date.parse(activeFrom) > now)
    return words.t('trace.early', { time: words.dateTime(activeFrom) });
  if (activeUntil && Date.parse(activeUntil) <= now)
    return words.t('trace.ended', { time: words.dateTime(activeUntil) });
  return words.t('trace.outside', { windows: windowsText(windows, timeZone, words) });
}
