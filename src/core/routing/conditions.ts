/** The conditions of a rule. Each is compiled to a test, to prefilters for the rule index, and to the reason why it failed. */
import { mapPatternFields } from '#contract/history/fields.ts';
import { labelPair } from '#contract/history/labels.ts';
import type { RuleConditions, RuleWhen, TextCondition } from '#contract/routing/rule.ts';
import { blocksOf, compileAddressSet, parseAddressRange } from '../addresses.ts';
import { AppError, badField } from '../errors.ts';
import { compileGlob, foldCase } from './glob.ts';
import { compileRegex, regexTextTooLong } from './regex.ts';
import type { AddressField, EvaluationContext, TextField } from './subject.ts';

/** The properties of a tenant's levels that routing uses, by name. */
export type RankedLevels = ReadonlyMap<string, { readonly rank: number; readonly durationMs: number }>;

/**
 * A necessary test on one text of a notification: one that fails it cannot match the condition. The rule index uses it to skip
 * rules. `text` is case-folded, except for level and token; of addresses, it is the first bits of a block; of labels, it is
 * `name=value`.
 */
export interface Prefilter {
  readonly field: 'level' | 'token' | 'label' | TextField | AddressField;
  readonly how: 'is' | 'starts' | 'ends' | 'contains';
  readonly text: string;
}

/** There is no `contains` prefilter for shorter texts; of longer ones, the rule index uses parts of this length. */
export const containedChars = 4;

export interface Condition {
  /** As in "host" or "not.ip". */
  readonly name: string;
  holds(context: EvaluationContext): boolean;
  /** Why it does not hold. */
  reason(context: EvaluationContext): string;
  /** If the condition holds, at least one of these passes; undefined if the condition has no prefilter. */
  readonly prefilters: readonly Prefilter[] | undefined;
  /** The total weight of its regular expressions, and globs with `?`; see `maxRegexWeight`. */
  readonly regexWeight: number;
}

/** A condition before it is negated. */
interface Matcher {
  holds(context: EvaluationContext): boolean;
  /** The tested value, as in: host "web-1". */
  shown(context: EvaluationContext): string;
  /** The rest of the sentence when the condition does not hold, as in: does not match db-*. */
  readonly failure: string;
  /** The patterns of the condition, as in: db-*, web-*. */
  readonly patterns: string;
  readonly prefilters: readonly Prefilter[] | undefined;
  readonly regexWeight?: number;
}

/**
 * Compiles the conditions of a rule. All conditions must hold; a condition with a list holds if one entry matches. A
 * condition on a field that was not sent (ip, host, key) does not hold, so the same condition under `not` holds.
 *
 * @param path where they stand in the rule.
 * @throws AppError `bad-request` that names the field, for a pattern or level that is invalid.
 */
export function compileConditions(when: RuleWhen, levels: RankedLevels, path = 'when'): readonly Condition[] {
  const conditions: Condition[] = [];
  for (const field of conditionFields) {
    const matcher = compileMatcher(when, field, `${path}.${field}`, levels);
    if (matcher) conditions.push(positive(field, matcher));
    const excluded = when.not && compileMatcher(when.not, field, `${path}.not.${field}`, levels);
    if (excluded) conditions.push(negative(`not.${field}`, excluded));
  }
  for (const [name, patterns] of Object.entries(when.labels ?? {}))
    conditions.push(positive(`labels.${name}`, labelLike(name, patterns, `${path}.labels.${name}`)));
  if (when.not?.labels) conditions.push(negative('not.labels', labelsLike(when.not.labels)));
  return conditions;
}

function positive(name: string, matcher: Matcher): Condition {
  return {
    name,
    holds: (context) => matcher.holds(context),
    reason: (context) => `${matcher.shown(context)} ${matcher.failure}`,
    prefilters: matcher.prefilters,
    regexWeight: matcher.regexWeight ?? 0,
  };
}

function negative(name: string, matcher: Omit<Matcher, 'failure' | 'prefilters'>): Condition {
  return {
    name,
    holds: (context) => !matcher.holds(context),
    reason: (context) => `${matcher.shown(context)} is excluded (${matcher.patterns})`,
    prefilters: undefined,
    regexWeight: matcher.regexWeight ?? 0,
  };
}

/** Labels are compiled by themselves, each as a condition. */
type Field = Exclude<keyof RuleConditions, 'labels'>;
type Compile<F extends Field> = (
  given: NonNullable<RuleConditions[F]>,
  path: string,
  levels: RankedLevels,
) => Matcher;

/** Cheap conditions first, because evaluation of a rule stops at the first condition that fails. */
const compilers: { readonly [F in Field]-?: Compile<F> } = {
  level: levelIn,
  minLevel: levelFrom,
  token: tokenIn,
  ...mapPatternFields((field) => (given: readonly string[], path: string) => globIn(field, given, path)),
  ip: (given, path) => addressIn('ip', given, path),
  sourceIp: (given, path) => addressIn('sourceIp', given, path),
  title: (given, path) => textLike('title', given, path),
  message: (given, path) => textLike('message', given, path),
};
const conditionFields = Object.keys(compilers) as Field[];

function compileMatcher<F extends Field>(
  given: RuleConditions,
  field: F,
  path: string,
  levels: RankedLevels,
): Matcher | undefined {
  const value = given[field];
  return value === undefined ? undefined : (compilers[field] as Compile<F>)(value, path, levels);
}

function levelIn(names: readonly string[]): Matcher {
  const set = new Set(names);
  return {
    holds: ({ subject }) => set.has(subject.level),
    shown: ({ subject }) => `level ${subject.level}`,
    failure: names.length === 1 ? `is not ${names[0]}` : `is none of ${listed(names)}`,
    patterns: listed(names),
    prefilters: names.map((text) => ({ field: 'level', how: 'is', text })),
  };
}

/** @throws AppError `bad-request` that names the field. */
export function requireLevel(path: string, name: string, levels: RankedLevels) {
  const level = levels.get(name);
  if (level) return level;
  throw badField(path, `"${name}" is no level here; the levels are ${[...levels.keys()].join(', ')}`);
}

function levelFrom(name: string, path: string, levels: RankedLevels): Matcher {
  const { rank } = requireLevel(path, name, levels);
  return {
    holds: ({ subject }) => subject.rank >= rank,
    shown: ({ subject }) => `level ${subject.level} (${subject.rank})`,
    failure: `is below ${name} (${rank})`,
    patterns: `${name} (${rank}) and above`,
    prefilters: undefined,
  };
}

function tokenIn(idsOrNames: readonly string[]): Matcher {
  const set = new Set(idsOrNames);
  return {
    holds: ({ subject: { tokenId, tokenName, origin } }) =>
      set.has(tokenId) || set.has(tokenName) || (origin !== undefined && set.has(origin)),
    shown: ({ subject }) => `token "${subject.tokenName}"`,
    failure: idsOrNames.length === 1 ? `is not ${quoted(idsOrNames)}` : `is none of ${quoted(idsOrNames)}`,
    patterns: quoted(idsOrNames),
    prefilters: idsOrNames.map((text) => ({ field: 'token', how: 'is', text })),
  };
}

function addressIn(field: AddressField, patterns: readonly string[], path: string): Matcher {
  const ranges = patterns.map((pattern, i) => atPath(`${path}[${i}]`, () => parseAddressRange(pattern)));
  const isWithin = compileAddressSet(ranges);
  const name = field === 'ip' ? 'ip' : 'source IP';
  return {
    holds: (context) => {
      const key = context.address(field);
      return key !== null && isWithin(key);
    },
    shown: ({ subject }) =>
      subject[field] === null ? `no ${name} was sent; it` : `${name} ${subject[field]}`,
    failure: patterns.length === 1 ? `is not in ${patterns[0]}` : `is in none of ${listed(patterns)}`,
    patterns: listed(patterns),
    prefilters: ranges.flatMap(blocksOf).map((text) => ({ field, how: 'starts', text })),
  };
}

function globIn(field: TextField, patterns: readonly string[], path: string): Matcher {
  const { globs, ...any } = anyGlob(patterns, path);
  return {
    ...any,
    holds: (context) => {
      const text = context.folded(field);
      return text !== null && any.fits(text, context);
    },
    shown: ({ subject }) => shownText(field, subject[field]),
    prefilters: prefiltersOf(
      globs.map((glob): Prefilter | undefined => {
        if (glob.isExact) return { field, how: 'is', text: glob.prefix };
        return longestPrefilter([
          { field, how: 'starts', text: glob.prefix },
          { field, how: 'ends', text: glob.suffix },
          { field, how: 'contains', text: glob.literal },
        ]);
      }),
    ),
  };
}

/** A list of globs, of which one must fit a folded text. */
function anyGlob(patterns: readonly string[], path: string) {
  const globs = patterns.map((pattern, i) => compileGlob(pattern, `${path}[${i}]`));
  const exact = new Set(globs.filter((glob) => glob.isExact).map((glob) => glob.prefix));
  const open = globs.filter((glob) => !glob.isExact);
  return {
    globs,
    fits: (folded: string, context: EvaluationContext) =>
      exact.has(folded) ||
      open.some((glob) => {
        context.spend(glob.work(folded));
        return glob.testFolded(folded);
      }),
    failure: patterns.length === 1 ? `does not match ${patterns[0]}` : `matches none of ${listed(patterns)}`,
    patterns: listed(patterns),
    regexWeight: globs.reduce((sum, { weight }) => sum + weight, 0),
  };
}

/** The label must be there, with a value that fits one of the globs. */
function labelLike(name: string, patterns: readonly string[], path: string): Matcher {
  const { globs, ...any } = anyGlob(patterns, path);
  const folded = foldCase(name);
  return {
    ...any,
    holds: (context) => context.labels.some(([given, value]) => given === folded && any.fits(value, context)),
    shown: ({ labels }) => {
      const value = labels.find(([given]) => given === folded)?.[1];
      return value === undefined ? `no label ${name} was sent; it` : `label ${name} "${value}"`;
    },
    prefilters: globs.map(({ isExact, prefix }) => ({
      field: 'label',
      how: isExact ? 'is' : 'starts',
      text: labelPair(folded, prefix),
    })),
  };
}

/** All of the labels must be there so. */
function labelsLike(wanted: NonNullable<RuleConditions['labels']>): Omit<Matcher, 'failure' | 'prefilters'> {
  const all = Object.entries(wanted).map(([name, patterns]) =>
    labelLike(name, patterns, `when.not.labels.${name}`),
  );
  return {
    holds: (context) => all.every((label) => label.holds(context)),
    shown: (context) => all.map((label) => label.shown(context)).join(', '),
    patterns: Object.entries(wanted)
      .map(([name, patterns]) => labelPair(name, listed(patterns)))
      .join(' with '),
    regexWeight: all.reduce((sum, { regexWeight = 0 }) => sum + regexWeight, 0),
  };
}

function textLike(field: 'title' | 'message', condition: TextCondition, path: string): Matcher {
  if ('glob' in condition) return globIn(field, asList(condition.glob), `${path}.glob`);
  return 'contains' in condition
    ? contains(field, asList(condition.contains))
    : regexIn(field, condition.regex, `${path}.regex`);
}

function contains(field: 'title' | 'message', patterns: readonly string[]): Matcher {
  const folded = patterns.map(foldCase);
  return {
    holds: (context) => {
      const text = context.folded(field);
      return text !== null && folded.some((pattern) => text.includes(pattern));
    },
    shown: ({ subject }) => shownText(field, subject[field]),
    failure:
      patterns.length === 1 ? `does not contain ${quoted(patterns)}` : `contains none of ${quoted(patterns)}`,
    patterns: `contains ${quoted(patterns)}`,
    prefilters: prefiltersOf(folded.map((text) => longestPrefilter([{ field, how: 'contains', text }]))),
  };
}

function regexIn(field: 'title' | 'message', given: string | readonly string[], path: string): Matcher {
  const patterns = asList(given);
  const regexes = patterns.map((pattern, i) =>
    compileRegex(pattern, typeof given === 'string' ? path : `${path}[${i}]`),
  );
  const readByAll = Math.min(...regexes.map(({ maxChars }) => maxChars));
  const shownPatterns = patterns.map((pattern) => `/${pattern}/`);
  return {
    holds: (context) => {
      const text = context.subject[field];
      const isFound = regexes.some((regex) => {
        context.spend(regex.work(text));
        return regex.test(text);
      });
      // Neither the condition nor its negation holds, so that a long text mutes nothing by mistake.
      if (!isFound && text.length > readByAll) throw regexTextTooLong;
      return isFound;
    },
    shown: ({ subject }) => shownText(field, subject[field]),
    failure:
      patterns.length === 1
        ? `does not match ${shownPatterns[0]}`
        : `matches none of ${listed(shownPatterns)}`,
    patterns: listed(shownPatterns),
    prefilters: undefined,
    regexWeight: regexes.reduce((sum, { weight }) => sum + weight, 0),
  };
}

/** The prefilter with the longest text, the first of equals; undefined if all are too short for the index. */
function longestPrefilter(prefilters: readonly Prefilter[]): Prefilter | undefined {
  const shortest = { is: 0, starts: 1, ends: 1, contains: containedChars };
  const useful = prefilters.filter(({ how, text }) => text.length >= shortest[how]);
  return useful.reduce<Prefilter | undefined>(
    (best, prefilter) => (best && best.text.length >= prefilter.text.length ? best : prefilter),
    undefined,
  );
}

/** One entry of a list is enough to match, so the list has prefilters only if every entry has one. */
function prefiltersOf(prefilters: readonly (Prefilter | undefined)[]): readonly Prefilter[] | undefined {
  return prefilters.every((prefilter) => prefilter !== undefined) ? prefilters : undefined;
}

const asList = (given: string | readonly string[]): readonly string[] =>
  typeof given === 'string' ? [given] : given;

function shownText(field: TextField, text: string | null): string {
  if (text === null) return `no ${field} was sent; it`;
  return field === 'message' ? 'the message' : `${field} "${text}"`;
}

const maxListed = 5;

function listed(items: readonly string[]): string {
  const shown = items.slice(0, maxListed).join(', ');
  return items.length > maxListed ? `${shown} and ${items.length - maxListed} more` : shown;
}

const quoted = (items: readonly string[]) => listed(items.map((item) => `"${item}"`));

/** Runs `read`; an error gets the path of the field in the rule. */
function atPath<T>(path: string, read: () => T): T {
  try {
    return read();
  } catch (error) {
    throw error instanceof AppError ? badField(path, error.message) : error;
  }
}
