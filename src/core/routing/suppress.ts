/**
 * Which alarms suppress which, as `then.suppress` of rules says: while an alarm that such a rule matched stands, others that match
 * `suppress.when` and have the same values in the fields of `equal` are on no panel and in no channel. Both get a key, made of the
 * rule and these values, so that a store finds one by the other without the rules. A field that one of them lacks agrees with nothing.
 */
import { hash } from 'node:crypto';
import type { Suppress } from '#contract/routing/rule.ts';
import type { SuppressKey, SuppressKeys } from '../log/route.ts';
import { type Condition, compileConditions, type RankedLevels } from './conditions.ts';
import type { RoutingSubject } from './subject.ts';
import { throttleValues } from './throttle.ts';

export interface CompiledSuppress {
  /** As in {@link SuppressKey}. */
  readonly rule: string;
  readonly equal: Suppress['equal'];
  readonly conditions: readonly Condition[];
}

/** 22 characters: keys are stored with each alarm. */
const digest = (value: unknown) => hash('sha256', JSON.stringify(value), 'base64url').slice(0, 22);

/** @throws AppError `bad-request`, as `compileConditions`. */
export const compileSuppress = (
  ruleId: string,
  suppress: Suppress,
  levels: RankedLevels,
): CompiledSuppress => ({
  rule: digest([ruleId, suppress]),
  equal: suppress.equal,
  conditions: compileConditions(suppress.when, levels, 'then.suppress.when'),
});

/** undefined: it lacks one of the fields. */
function keyOf({ rule, equal }: CompiledSuppress, subject: RoutingSubject): SuppressKey | undefined {
  const values = throttleValues(equal, subject);
  return values.includes(null) ? undefined : { key: digest([rule, values]), rule };
}

/** Of a notification that rules matched: what it suppresses, and by what it is suppressed. undefined: neither. */
export function suppressKeysOf(
  {
    asCause,
    asSuppressed,
  }: { readonly asCause: readonly CompiledSuppress[]; readonly asSuppressed: readonly CompiledSuppress[] },
  subject: RoutingSubject,
): SuppressKeys | undefined {
  const causes = asCause.flatMap((each) => keyOf(each, subject) ?? []);
  const follows = asSuppressed.flatMap((each) => keyOf(each, subject)?.key ?? []);
  return causes.length === 0 && follows.length === 0 ? undefined : { causes, follows };
}
