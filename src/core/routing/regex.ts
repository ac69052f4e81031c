/**
 * Regular expressions for text that anyone may send, by patterns that anyone may write.
 *
 * re2js takes time in proportion to the size of the pattern and to the length of the text, but a match cannot be
 * interrupted. So its work is bounded before it begins: a pattern has a size, and the larger it is, the fewer characters
 * of a text it reads.
 */
import { LRUCache } from 'lru-cache';
import { RE2JS, RE2Set } from 're2js';
import type { RuleSpec, TextCondition } from '#contract/routing/rule.ts';
import { badField, badRequest } from '../errors.ts';
import type { YieldToEventLoop } from '../limits/concurrency.ts';
import { createLruMap } from '../limits/lru-map.ts';
import type { TenantId } from '../log/route.ts';
import { getOrMake } from '../maps.ts';

/** The most instructions of a pattern: about as many as its characters, with repetitions written out. A title is always read whole. */
export const maxRegexSize = 256;
const maxPatternLength = 1000;
/** The most work of one match, in characters times instructions. The slowest take 60 ns each, so 4 ms (bench/routing.ts). */
const workPerMatch = 65_536;
/** The memory for the states that re2js keeps of a pattern; beyond it, re2js goes on without them. */
const cachedStateBytes = 16 * 1024;

export interface Regex {
  /** How many characters of a text it reads, from the beginning. */
  readonly maxChars: number;
  /** Whether it matches anywhere in what it reads of the text. */
  test(text: string): boolean;
  /** The work of a test, in characters times instructions; see `regexWorkPerNotification`. */
  work(text: string): number;
  /** The cost of compiling and keeping it; see `maxRegexWeight`. */
  readonly weight: number;
}

/** The weight of a pattern in addition to its instructions. */
const weightOfAny = 4;

/**
 * Compiles a pattern in RE2's syntax; it is case-sensitive without (?i).
 *
 * @param path its place in the rule, as in when.ip[0]; error messages begin with it.
 * @throws AppError `bad-request` for syntax RE2 does not have (back-references, look-around) and for patterns that are too large.
 */
export function compileRegex(pattern: string, path: string): Regex {
  return getOrMake<string, Regex>(compiled, pattern, () => makeRegex(pattern, path));
}

/** The most weight of all regular expressions of a tenant's rules: about 2,500 usual patterns. */
export const maxRegexWeight = 100_000;

/** A cache of compiled patterns, as many as one tenant may have: when rules change, most patterns stay the same. */
const compiled = new LRUCache<string, Regex>({
  maxSize: maxRegexWeight,
  sizeCalculation: ({ weight }) => weight,
});

function makeRegex(pattern: string, path: string): Regex {
  if (pattern.length > maxPatternLength)
    throw badField(path, `a regular expression has at most ${maxPatternLength} characters`);
  const size = sizeOf(pattern, path);
  if (size > maxRegexSize) {
    throw badField(
      path,
      `"${pattern}" is too large: it comes to ${size} instructions with its repetitions written out, the most is ${maxRegexSize}; write a list of shorter ones`,
    );
  }
  const maxChars = Math.floor(workPerMatch / size);
  // A set of one, because a set has a limit for its memory.
  const set = new RE2Set(RE2Set.UNANCHORED, 0, cachedStateBytes);
  set.add(pattern);
  set.compile();
  return {
    maxChars,
    test: (text) => set.match(text.slice(0, maxChars)).length > 0,
    work: (text) => Math.min(text.length, maxChars) * size,
    weight: size + weightOfAny,
  };
}

function sizeOf(pattern: string, path: string): number {
  try {
    return RE2JS.compile(pattern).programSize();
  } catch (error) {
    const reason =
      error instanceof Error ? error.message.replace(/^error parsing regexp: /, '') : String(error);
    throw badField(path, `"${pattern}" is no regular expression of RE2: ${reason}${hint(pattern)}`);
  }
}

function hint(pattern: string): string {
  if (/\(\?<?[=!]/.test(pattern)) return '; there is no look-around, use "not" for what must be absent';
  return /\\[1-9k]/.test(pattern) ? '; there are no back-references' : '';
}

/** Limits the cost of one tenant's regular expressions. bench/routing.ts measures the costs that are named here. */

/**
 * The work that rules may spend on one notification, in characters times instructions: 850 usual patterns on a title of 40
 * characters, 85 on a message of 400, 16 of any kind on the longest message. The slowest take 60 ms for it, usual ones 1.
 * Counted and not timed, so that routing is deterministic.
 */
export const regexWorkPerNotification = 1024 * 1024;

/** Thrown by a condition when the work is used up; a shared object, because it may be thrown often. */
export const regexBudgetSpent = new Error(
  'the regular expressions of the rules, and globs with ?, took all the time there is',
);

/** Thrown by a condition that matches nothing in what it reads of a text, and cannot say that nothing in the rest matches. */
export const regexTextTooLong = new Error('a message is longer than its regular expressions read');

/** @throws AppError `bad-request` when the weight exceeds what a tenant may have. */
export function checkRegexWeight(weight: number): void {
  if (weight <= maxRegexWeight) return;
  throw badRequest(
    `the regular expressions of all rules, and globs with ?, come to ${weight} characters, the most is ${maxRegexWeight}: use contains or a glob without ? where that will do, or delete rules`,
  );
}

/**
 * Compiles the regular expressions of rules into the cache of {@link compileRegex}, and yields to other work, so that compiling
 * the rules takes little time afterwards. Errors in patterns are reported when the rules are compiled.
 *
 * @throws AppError `bad-request` if `limited` and they weigh too much, as soon as that is known.
 */
export async function prepareRegexes(
  specs: readonly RuleSpec[],
  yieldToEventLoop: YieldToEventLoop,
  { limited }: { readonly limited: boolean },
): Promise<void> {
  let weight = 0;
  for (const pattern of specs.flatMap(patternsOf)) {
    const regex = tryCompile(pattern);
    if (!regex) {
      // Compiling the rules stops at the same pattern.
      if (limited) return;
      continue;
    }
    weight += regex.weight;
    if (limited) checkRegexWeight(weight);
    const pause = yieldToEventLoop();
    if (pause) await pause;
  }
}

function tryCompile(pattern: string): Regex | undefined {
  try {
    return compileRegex(pattern, '');
  } catch {
    return undefined;
  }
}

function patternsOf({ when, then: { suppress } }: RuleSpec): string[] {
  const all = [when, when.not, suppress?.when, suppress?.when.not];
  const conditions = all.flatMap((each) => [each?.title, each?.message]);
  return conditions.flatMap((condition: TextCondition | undefined) =>
    condition && 'regex' in condition ? [condition.regex].flat() : [],
  );
}

const msPerSecond = 250;
const burstMs = 1_000;
/** The time of routing without regular expressions, which is not counted. */
const freeMs = 0.1;
const mostTenants = 10_000;

/**
 * Limits the time of each tenant's regular expressions in this process to a quarter. When it is used up, rules with regular
 * expressions are skipped until there is time again; intake continues.
 */
export class RegexTime {
  readonly #left = createLruMap<TenantId, { ms: number; at: number }>(mostTenants);

  /** The work that routing may spend on a notification of this tenant. */
  allowance(tenant: TenantId, now: number): number {
    return this.waitMs(tenant, now) === 0 ? regexWorkPerNotification : 0;
  }

  /** How long until the tenant has time again; 0 when it has some. */
  waitMs(tenant: TenantId, now: number): number {
    const bucket = this.#left.get(tenant);
    if (!bucket) return 0;
    const elapsed = Math.max(0, now - bucket.at);
    bucket.ms = Math.min(burstMs, bucket.ms + (elapsed / 1000) * msPerSecond);
    bucket.at = now;
    return bucket.ms > 0 ? 0 : Math.max(1, (-bucket.ms / msPerSecond) * 1000);
  }

  /** Counts the time of routing a notification. */
  spend(tenant: TenantId, ms: number, now: number): void {
    if (ms <= freeMs) return;
    const bucket = this.#left.get(tenant) ?? { ms: burstMs, at: now };
    bucket.ms -= ms - freeMs;
    this.#left.set(tenant, bucket);
  }
}
