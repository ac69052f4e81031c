/** Sentences of which some parts are drawn differently. */
import type { TFunction } from 'i18next';
import { mapPatternFields } from '#contract/history/fields.ts';
import { isLabelField, type Labels, labelOfField, shownLabels } from '#contract/history/labels.ts';
import type { Panel } from '#contract/panels/panel.ts';
import type { RuleTrace } from '#contract/routing/routing.ts';
import type {
  EscalationStep,
  RuleConditions,
  RuleCreate,
  RuleThen,
  RuleWindow,
  Suppress,
  TextCondition,
} from '#contract/routing/rule.ts';
import { weekdays } from '#contract/time.ts';

/** `value` is a person's text, `mono` a technical one, `level` is drawn in its colour. */
interface SentencePart {
  readonly kind: 'word' | 'value' | 'mono' | 'level';
  readonly text: string;
  /** The level's name, where `kind` is `level`; `text` is its word. */
  readonly level?: string;
}
export type Sentence = readonly SentencePart[];

export const sentenceText = (sentence: Sentence): string => sentence.map(({ text }) => text).join('');

/** A placeholder in a translated text. */
const slot = (name: string) => `\uE000${name}\uE000`;
const slots = <Name extends string>(...names: readonly Name[]) =>
  Object.fromEntries(names.map((name) => [name, slot(name)])) as Record<Name, string>;
const valuesSlot = { values: slot('values') };

/** Replaces the placeholders of a text. */
function fill(text: string, parts: Readonly<Record<string, Sentence>>): Sentence {
  return text
    .split('\uE000')
    .flatMap((piece, i) => (i % 2 === 1 ? (parts[piece] ?? []) : piece === '' ? [] : [word(piece)]));
}

function join(sentences: readonly Sentence[], between: string): Sentence {
  return sentences.flatMap((sentence, i) => (i === 0 ? sentence : [word(between), ...sentence]));
}

const word = (text: string): SentencePart => ({ kind: 'word', text });
const value = (text: string): SentencePart => ({ kind: 'value', text });
const mono = (text: string): SentencePart => ({ kind: 'mono', text });

/** A routing rule as a sentence. */

/** What a sentence is made of, in the reader's language. */
export interface RuleWords {
  readonly t: TFunction<'ruleSentence'>;
  level(name: string): string;
  duration(ms: number): string;
  dateTime(at: string): string;
  weekday(day: (typeof weekdays)[number]): string;
  /** undefined until they have been read: they are not counted then. */
  readonly panels?: readonly Pick<Panel, 'id' | 'name' | 'tags'>[] | undefined;
  readonly channels?: readonly { readonly id: string; readonly name: string }[] | undefined;
  readonly onCall?: readonly { readonly id: string; readonly name: string }[] | undefined;
}

/** The fields that affect routing; the others have the server's defaults. */
export type SentenceRule = Pick<RuleCreate, 'when' | 'then'> &
  Partial<Pick<RuleCreate, 'continue' | 'activeFrom' | 'activeUntil' | 'windows' | 'timeZone'>>;

type Field = keyof RuleConditions;

const shownMost = 4;

/** The whole: "When host matches db-* → 2 panels tagged noc, show 5 s, then stop · until 22 Nov, 08:00". */
export function ruleSentence(rule: SentenceRule, words: RuleWords): Sentence {
  const times = timesSentence(rule, words);
  return [
    ...whenSentence(rule.when ?? {}, words),
    word(' → '),
    ...thenSentence(rule.then, words),
    word(`, ${words.t(rule.continue ? 'goOn' : 'stop')}`),
    ...(times.length > 0 ? [word(' · '), ...times] : []),
  ];
}

export function whenSentence(when: NonNullable<RuleCreate['when']>, words: RuleWords): Sentence {
  const conditions = conditionSentences(when, words);
  if (conditions.length === 0) return [word(words.t('every'))];
  return fill(words.t('when', { conditions: slot('conditions') }), {
    conditions: join(conditions, words.t('and')),
  });
}

/** Each condition by its name, as in `host`, `not.ip` or `labels.env`: "host does not match db-*". */
function conditionSentence(
  when: NonNullable<RuleCreate['when']>,
  name: string,
  words: RuleWords,
): Sentence | undefined {
  const isNot = name.startsWith('not.');
  const given = (isNot ? when.not : when) ?? {};
  const [field = '', label] = isNot ? [name.slice('not.'.length)] : conditionOf(name);
  const [sentence] = sentencesOf(given, field as Field, { isNot, words, label });
  return sentence;
}

/** A text with a gap for values. */
const phrase = (
  { t }: RuleWords,
  key:
    | 'sendTo'
    | 'notifyOnCall'
    | 'setLevel'
    | 'showFor'
    | 'escalateTo'
    | 'escalateAs'
    | 'tagged'
    | 'group'
    | 'acknowledgeFor',
  values: Sentence,
) => fill(t(key, valuesSlot), { values });

/** What is done: "2 panels tagged noc, show 5 s". */
export function thenSentence(then: RuleCreate['then'], words: RuleWords): Sentence {
  const { t } = words;
  const { panels, channels, setLevel, setTtl, throttle, escalate = [], group, acknowledgeForMs } = then;
  const done: Sentence[] = [];
  if (then.mute) done.push([word(t('mute'))]);
  if (panels !== undefined) done.push(panelsSentence(panels, words));
  if (channels)
    done.push(phrase(words, 'sendTo', namesOf(channels, words.channels, t('unknownChannel'), words)));
  if (then.onCall !== undefined) {
    const name = namesOf([then.onCall], words.onCall, t('unknownOnCall'), words);
    done.push(phrase(words, 'notifyOnCall', name));
  }
  if (setLevel !== undefined) done.push(phrase(words, 'setLevel', [level(setLevel, words)]));
  if (setTtl === 0) done.push([word(t('showUntilCleared'))]);
  else if (setTtl !== undefined) done.push(phrase(words, 'showFor', [value(words.duration(setTtl))]));
  if (throttle) {
    const key = throttle.by.length > 0 ? 'throttleBy' : 'throttle';
    done.push(
      fill(t(key, slots('duration', 'values')), {
        duration: [value(words.duration(throttle.perMs))],
        values: fieldsSentence(throttle.by, words),
      }),
    );
  }
  done.push(...escalate.map((step, i) => stepSentence(step, i === 0, words)));
  if (then.suppress) done.push(suppressSentence(then.suppress, words));
  if (then.instructions !== undefined) done.push([word(t('instructions'))]);
  if (group) done.push(phrase(words, 'group', fieldsSentence(group, words)));
  if (acknowledgeForMs === 0) done.push([word(t('acknowledgeStay'))]);
  else if (acknowledgeForMs !== undefined)
    done.push(phrase(words, 'acknowledgeFor', [value(words.duration(acknowledgeForMs))]));
  return done.length > 0 ? join(done, ', ') : [word(t('nothing'))];
}

/** "label cluster and title" */
const fieldsSentence = (fields: NonNullable<RuleThen['throttle']>['by'], words: RuleWords): Sentence =>
  join(
    fields.map((field) =>
      isLabelField(field) ? labelWords(labelOfField(field), words) : [word(words.t(`field.${field}`))],
    ),
    words.t('and'),
  );

/** "suppress alarms whose title contains “unreachable” with the same label site while the alarm stands" */
function suppressSentence({ when, equal }: Suppress, words: RuleWords): Sentence {
  const conditions = join(conditionSentences(when, words), words.t('and'));
  const same = fieldsSentence(equal, words);
  return fill(words.t('suppress', slots('whose', 'same')), {
    whose: conditions.length === 0 ? [] : fill(words.t('suppressWhose', slots('conditions')), { conditions }),
    same: equal.length === 0 ? [] : fill(words.t('suppressSame', valuesSlot), { values: same }),
  });
}

const stepSlots = slots('duration', 'panels', 'level', 'unless');

/** "escalate as critical after 5 min", "then to panels tagged management after another 15 min unless shown" */
function stepSentence(step: EscalationStep, isFirst: boolean, words: RuleWords): Sentence {
  const { afterMs, unless, setLevel, panels } = step;
  return fill(words.t(isFirst ? 'escalate' : 'escalateThen', stepSlots), {
    duration: [value(words.duration(afterMs))],
    panels: panels === undefined ? [] : phrase(words, 'escalateTo', panelsSentence(panels, words)),
    level: setLevel === undefined ? [] : phrase(words, 'escalateAs', [level(setLevel, words)]),
    unless: unless === 'shown' ? [word(words.t('escalateUnlessShown'))] : [],
  });
}

/** When it is active: "until 22 Nov, 08:00, Mon–Fri 08:00–18:00 (Europe/Berlin)"; nothing, when always. */
function timesSentence(
  rule: Pick<SentenceRule, 'activeFrom' | 'activeUntil' | 'windows' | 'timeZone'>,
  words: RuleWords,
): Sentence {
  const times: Sentence[] = [];
  const instant = (key: 'from' | 'until', at: string) =>
    fill(words.t(key, { time: slot('time') }), { time: [value(words.dateTime(at))] });
  if (rule.activeFrom) times.push(instant('from', rule.activeFrom));
  if (rule.activeUntil) times.push(instant('until', rule.activeUntil));
  if (rule.windows && rule.windows.length > 0)
    times.push([value(windowsText(rule.windows, rule.timeZone, words))]);
  return join(times, ', ');
}

/** "Mon–Fri 08:00–18:00, Sat 10:00–12:00 (Europe/Berlin)" */
export function windowsText(
  windows: readonly RuleWindow[],
  timeZone: string | undefined,
  words: RuleWords,
): string {
  const each = windows.map(({ days, from, until }) =>
    words.t('window', { days: daysText(days, words), from, until }),
  );
  const text = each.join(', ');
  return timeZone === undefined ? text : words.t('windowZone', { windows: text, zone: timeZone });
}

/** A name for a rule that has none yet: what it is about, and what it does. At most 100 characters. */
export function suggestedName(rule: SentenceRule, words: RuleWords): string {
  const when = rule.when ?? {};
  const conditions = conditionSentences(when, words);
  const [only] = conditions.length === 1 && !when.not ? plainFields.filter((field) => when[field]) : [];
  const what =
    conditions.length === 0
      ? words.t('name.everything')
      : sentenceText(
          only ? anyOf(comparison(when, only, words).values, words) : join(conditions, words.t('and')),
        );
  const name = rule.then.mute
    ? words.t('name.mute', { what })
    : `${what} → ${sentenceText(thenSentence(rule.then, words))}`;
  const letters = [...name];
  return letters.length > 100 ? `${letters.slice(0, 99).join('')}…` : name;
}

function conditionSentences(when: NonNullable<RuleCreate['when']>, words: RuleWords): Sentence[] {
  return [false, true].flatMap((isNot) =>
    conditionFields.flatMap((field) => sentencesOf(isNot ? (when.not ?? {}) : when, field, { isNot, words })),
  );
}

interface SentenceOptions {
  readonly isNot: boolean;
  readonly words: RuleWords;
  /** This label alone. */
  readonly label?: string | undefined;
}

/** A sentence for each condition of a field: labels have one each, unless they must not be there together. */
function sentencesOf(given: RuleConditions, field: Field, options: SentenceOptions): Sentence[] {
  const { isNot, words, label: only } = options;
  if (field !== 'labels') {
    if (given[field] === undefined) return [];
    return [oneCondition([word(words.t(`field.${field}`))], comparison(given, field, words), options)];
  }
  const labels = Object.entries(given.labels ?? {}).filter(([name]) => only === undefined || name === only);
  const isTogether = isNot && labels.length > 1;
  const each = labels.map(([name, patterns]) =>
    oneCondition(labelWords(name, words), labelComparison(patterns), { isNot: isNot && !isTogether, words }),
  );
  if (!isTogether) return each;
  return [fill(words.t('notAll', { conditions: slot('conditions') }), { conditions: join(each, ', ') })];
}

function oneCondition(
  field: Sentence,
  { verb, values }: Comparison,
  { isNot, words }: SentenceOptions,
): Sentence {
  const sentence = words.t(isNot ? `${verb}Not` : verb, { field: slot('field'), ...valuesSlot });
  return fill(sentence, { field, values: anyOf(values, words) });
}

/** "label env" */
const labelWords = (name: string, { t }: RuleWords): Sentence =>
  fill(t('field.label', { name: slot('name') }), { name: [mono(name)] });

interface Comparison {
  readonly verb: 'is' | 'matches' | 'within' | 'contains' | 'atLeast' | 'present';
  readonly values: readonly SentencePart[];
}

type PlainField = Exclude<Field, 'labels'>;
type Compare<F extends PlainField> = (given: NonNullable<RuleConditions[F]>, words: RuleWords) => Comparison;

/** `pattern`: what makes a value a pattern, and `verb` the verb for patterns. */
const listOf =
  (pattern: RegExp, verb: 'matches' | 'within') =>
  (values: readonly string[]): Comparison => ({
    verb: values.some((each) => pattern.test(each)) ? verb : 'is',
    values: values.map(mono),
  });
const globs = listOf(/[*?]/, 'matches');
const addresses = listOf(/[/-]/, 'within');

/** What a sentence says of each condition, in reading order. */
const comparisons: { readonly [F in PlainField]-?: Compare<F> } = {
  ...mapPatternFields(() => globs),
  level: (names, words) => ({ verb: 'is', values: names.map((name) => level(name, words)) }),
  minLevel: (name, words) => ({ verb: 'atLeast', values: [level(name, words)] }),
  ip: addresses,
  sourceIp: addresses,
  title: textComparison,
  message: textComparison,
  token: (names) => ({ verb: 'is', values: names.map(value) }),
};
const plainFields = Object.keys(comparisons) as PlainField[];
export const conditionFields: readonly Field[] = [...plainFields, 'labels'];

const comparison = (given: RuleConditions, field: PlainField, words: RuleWords): Comparison =>
  (comparisons[field] as Compare<PlainField>)(given[field] as NonNullable<RuleConditions[PlainField]>, words);

/** Of one label; `*` fits every value, and a value may be empty. */
const labelComparison = (patterns: readonly string[]): Comparison =>
  patterns.includes('*')
    ? { verb: 'present', values: [] }
    : globs(patterns.map((pattern) => (pattern === '' ? '""' : pattern)));

function textComparison(condition: TextCondition, { t }: RuleWords): Comparison {
  const many = (given: string | readonly string[]) => (typeof given === 'string' ? [given] : given);
  if ('contains' in condition)
    return { verb: 'contains', values: many(condition.contains).map((text) => value(t('quoted', { text }))) };
  if ('glob' in condition) return { verb: 'matches', values: many(condition.glob).map(mono) };
  return { verb: 'matches', values: many(condition.regex).map((each) => mono(`/${each}/`)) };
}

function panelsSentence(target: NonNullable<RuleCreate['then']['panels']>, words: RuleWords): Sentence {
  const { t, panels } = words;
  if (target === 'all') return [word(t('everyPanel'))];
  if (target === 'none') return [word(t('noPanel'))];
  if ('tags' in target) {
    const values = anyOf(target.tags.map(mono), words);
    if (!panels) return phrase(words, 'tagged', values);
    const count = panels.filter(({ tags }) => tags.some((tag) => target.tags.includes(tag))).length;
    return fill(t('taggedCount', { count, ...valuesSlot }), { values });
  }
  return namesOf(target.ids, panels, t('unknownPanel'), words);
}

function namesOf(
  ids: readonly string[],
  known: readonly { readonly id: string; readonly name: string }[] | undefined,
  unknown: string,
  words: RuleWords,
): Sentence {
  const names = ids.map((id) => {
    const found = known?.find((each) => each.id === id);
    return found ? value(found.name) : known ? word(unknown) : mono(id);
  });
  const each = names.map((name) => [name]);
  return names.length > shownMost ? anyOf(names, words) : join(each, ', ');
}

/** Days in a row as a span. */
function daysText(days: RuleWindow['days'], words: RuleWords): string {
  const sorted = weekdays.filter((day) => days.includes(day));
  const first = weekdays.indexOf(sorted[0] ?? 'mon');
  const inARow = sorted.length > 2 && sorted.every((day, i) => weekdays.indexOf(day) === first + i);
  const [from, until] = [sorted[0], sorted.at(-1)];
  if (inARow && from && until) return `${words.weekday(from)}–${words.weekday(until)}`;
  return sorted.map((day) => words.weekday(day)).join(', ');
}

function anyOf(values: readonly SentencePart[], words: RuleWords): Sentence {
  const or = words.t('or');
  const shown = values.length > shownMost ? values.slice(0, shownMost - 1) : values;
  const head = join(
    shown.map((each) => [each]),
    shown.length < values.length ? ', ' : or,
  );
  if (shown.length === values.length) return head;
  return fill(words.t('more', { ...valuesSlot, count: values.length - shown.length }), { values: head });
}

const level = (name: string, words: RuleWords): SentencePart => ({
  kind: 'level',
  text: words.level(name),
  level: name,
});

/** What a rule did with a notification, as a sentence. */

/** The notification's fields, to show the value that a condition compared. */
export type TracedNotification = Partial<Readonly<Record<PlainField, string | null>>> & {
  readonly labels?: Labels;
};

interface TraceContext {
  readonly rule?: SentenceRule | undefined;
  readonly endedBy?: number | undefined;
  readonly notification?: TracedNotification | undefined;
}

/**
 * Why the rule did not match, or what it does. For a rule that no longer exists, the server's reason.
 *
 * @param endedBy The number of the rule that ended the walk, where this one was not tried.
 */
export function traceSentence(
  trace: RuleTrace,
  words: RuleWords,
  { rule, endedBy, notification, now = Date.now() }: TraceContext & { readonly now?: number },
): string {
  const sentence = outcomeSentence(trace, words, { rule, endedBy, notification, now });
  // The server's reason says so itself.
  return trace.suppresses && sentence !== trace.reason ? words.t('trace.suppresses', { sentence }) : sentence;
}

function outcomeSentence(
  trace: RuleTrace,
  words: RuleWords,
  { rule, endedBy, notification, now }: TraceContext & { readonly now: number },
): string {
  const { t } = words;
  if (trace.outcome === 'disabled') return t('trace.disabled');
  if (trace.outcome === 'not-tried')
    return endedBy === undefined ? trace.reason : t('trace.notTried', { number: endedBy });
  if (!rule) return trace.reason;
  if (trace.outcome === 'matched')
    return `${sentenceText(thenSentence(rule.then, words))}${onCallText(trace, words)}, ${t(rule.continue ? 'goOn' : 'stop')}`;
  return trace.outcome === 'inactive'
    ? inactiveSentence(rule, words, now)
    : failedSentence(trace, words, { rule, notification });
}

/** Who was on call: "(on call: Ana)". */
function onCallText({ onCall }: RuleTrace, { t }: RuleWords): string {
  if (!onCall) return '';
  const people = onCall.people.length > 0 ? onCall.people.join(', ') : t('nobody');
  return ` ${t('trace.onCall', { people })}`;
}

function failedSentence(
  trace: RuleTrace,
  words: RuleWords,
  { rule, notification }: { rule: SentenceRule; notification: TracedNotification | undefined },
): string {
  const failed = trace.condition && conditionSentence(rule.when ?? {}, trace.condition, words);
  if (!trace.condition || !failed) return trace.reason;
  const condition = sentenceText(failed);
  const seen = notification && seenBy(trace.condition, rule.when ?? {}, notification, words);
  if (seen === undefined || seen === '') return words.t('trace.failed', { condition });
  if (seen === null) return words.t('trace.failedUnsent', { condition });
  return words.t('trace.failedSeen', { condition, seen });
}

/** The field, and the label, of a condition's name that is not negated. */
const conditionOf = (name: string): readonly [field: string, label?: string] =>
  name.startsWith('labels.') ? ['labels', name.slice('labels.'.length)] : [name];

/** What a condition compared; null: nothing was sent, undefined: it is not shown. */
function seenBy(
  condition: string,
  when: NonNullable<RuleCreate['when']>,
  notification: TracedNotification,
  words: RuleWords,
): string | null | undefined {
  const [name, label] = conditionOf(condition.replace(/^not\./, ''));
  const field = name as Field;
  if (field === 'labels')
    return (
      notification.labels && seenLabels(notification.labels, label ?? Object.keys(when.not?.labels ?? {}))
    );
  // A message is too long for a sentence, and is shown above it.
  if (field === 'message') return undefined;
  const seen = notification[field === 'minLevel' ? 'level' : field];
  return seen && (field === 'level' || field === 'minLevel') ? words.level(seen) : seen;
}

/** The value of one label, or several with their names; the case of names does not count. */
function seenLabels(labels: Labels, wanted: string | readonly string[]): string | null {
  const names = (typeof wanted === 'string' ? [wanted] : wanted).map((name) => name.toLowerCase());
  const seen = Object.entries(labels).filter(([name]) => names.includes(name.toLowerCase()));
  if (names.length === 1 || seen.length === 0) return seen[0]?.[1] ?? null;
  return shownLabels(Object.fromEntries(seen));
}

function inactiveSentence(rule: SentenceRule, words: RuleWords, now: number): string {
  const { activeFrom, activeUntil, windows = [], timeZone } = rule;
  if (activeFrom && Date.parse(activeFrom) > now)
    return words.t('trace.early', { time: words.dateTime(activeFrom) });
  if (activeUntil && Date.parse(activeUntil) <= now)
    return words.t('trace.ended', { time: words.dateTime(activeUntil) });
  return words.t('trace.outside', { windows: windowsText(windows, timeZone, words) });
}
