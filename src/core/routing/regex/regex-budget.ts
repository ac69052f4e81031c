/** Limits the cost of one tenant's regular expressions. bench/routing.ts measures the costs that are named here. */
import type { RuleSpec, TextCondition } from '#contract/routing/rule.ts';
import type { YieldToEventLoop } from '../../concurrency.ts';
import { badRequest } from '../../errors.ts';
import { createLruMap } from '../../lru-map.ts';
import type { TenantId } from '../../ports.ts';
import { compileRegex, maxRegexWeight, type Regex } from './regex.ts';

/**
 * The work that rules may spend on one notification, in characters times instructions: 850 usual patterns on a title of 40
 * characters, 85 on a message of 400, 16 of any kind on the longest message. The slowest take 60 ms for it, usual ones 1.
 * Counted and not timed, so that routing is deterministic.
 */
export const regexWorkPerNotification = 1024 * 1024;

/** Thrown by a condition when the work is used up; a shared object, because it may be thrown often. */
export const regexBudgetSpent = new Error('the regular expressions of the rules took all the time there is');

/** Thrown by a condition that matches nothing in what it reads of a text, and cannot say that nothing in the rest matches. */
export const regexTextTooLong = new Error('a message is longer than its regular expressions read');

/** @throws AppError `bad-request` when the weight exceeds what a tenant may have. */
export function checkRegexWeight(weight: number): void {
  if (weight <= maxRegexWeight) return;
  throw badRequest(
    `the regular expressions of all rules come to ${weight} characters, the most is ${maxRegexWeight}: use contains or glob where that will do, or delete rules`,
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

function patternsOf({ when }: RuleSpec): string[] {
  const conditions = [when.title, when.message, when.not?.title, when.not?.message];
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
