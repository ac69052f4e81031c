import { limits } from '#contract/limits.ts';
import type { RuleCreate, RulePatch, RuleSpec } from '#contract/routing/rule.ts';
import {
  type KnownNames,
  type NamingRule,
  type UnmatchedName,
  unmatchedNames,
} from '#contract/routing/rule-names.ts';
import { suppressWarning } from '#contract/routing/suppress-warning.ts';
import { AppError, badField } from '../errors.ts';
import type { YieldToEventLoop } from '../limits/concurrency.ts';
import { offerNearest } from '../search/search-nearest.ts';
import type { RuleSet } from '../tenants/directory.ts';
import { type Condition, compileConditions, type RankedLevels, requireLevel } from './conditions.ts';
import { checkRegexWeight, prepareRegexes } from './regex.ts';
import { type CompiledRule, Router, type RoutingContext } from './router.ts';
import { RuleIndex } from './rule-index.ts';
import { compileSuppress } from './suppress.ts';
import { type Activity, compileActivity } from './windows.ts';

/** A complete rule with defaults for omitted fields. `timeZone` is the tenant's. */
export function newRule(id: string, wanted: RuleCreate, timeZone: string): RuleSpec {
  return {
    id,
    name: wanted.name.trim(),
    enabled: wanted.enabled ?? true,
    when: wanted.when ?? {},
    then: wanted.then,
    continue: wanted.continue ?? false,
    activeFrom: wanted.activeFrom ?? null,
    activeUntil: wanted.activeUntil ?? null,
    windows: wanted.windows ?? [],
    timeZone: wanted.timeZone ?? timeZone,
    note: wanted.note ?? '',
  };
}

/** Fields that are not named keep their value; `when`, `then` and `windows` are replaced as a whole. */
export function changedRule(rule: RuleSpec, patch: RulePatch): RuleSpec {
  return newRule(rule.id, { ...rule, ...patch }, rule.timeZone);
}

interface Named {
  readonly id: string;
  readonly name: string;
}

/** Replaces the names of channels and of the on-call schedule by ids. Unknown names stay, so that validation refuses them. */
export function withIds(
  rule: RuleSpec,
  known: { readonly channels: ReadonlyMap<string, Named>; readonly onCall: ReadonlyMap<string, Named> },
): RuleSpec {
  const { channels, onCall } = rule.then;
  if (!channels && onCall === undefined) return rule;
  const then = {
    ...rule.then,
    ...(channels && { channels: idsOf(channels, known.channels) }),
    ...(onCall !== undefined && { onCall: idsOf([onCall], known.onCall)[0] }),
  };
  return { ...rule, then };
}

/** Names and ids, all as ids, each once. */
export function idsOf(given: readonly string[], known: ReadonlyMap<string, Named>): string[] {
  const byName = new Map([...known.values()].map(({ id, name }) => [name, id]));
  return [...new Set(given.map((each) => (known.has(each) ? each : (byName.get(each) ?? each))))];
}

/** Unknown names of one rule that are named; the others are counted. */
const mostNamed = 3;

const suppressWarnings = {
  all: 'then.suppress: names no condition and no field, so an alarm of this rule suppresses every other one, also of a higher level',
  'each-other':
    'then.suppress.when: has the same conditions as when, so of the alarms that this rule matches only the first is shown',
  'each-other-equal':
    'then.suppress.when: has the same conditions as when, so of the alarms that this rule matches only the first of those with equal values is shown',
} as const;

/**
 * Warns about names that nothing has, and about a `then.suppress` that suppresses too much. With `offers` also says what may be
 * meant, which compares the name with all known ones: too much for each rule of a list.
 */
export function ruleWarnings(rule: NamingRule, known: KnownNames, mode?: 'offers'): string[] {
  const unmatched = unmatchedNames(rule, known);
  const warnings = unmatched.slice(0, mostNamed).map(({ place, at, kind, name, isRevoked }) => {
    const where = `${place}[${at}]`;
    if (isRevoked) return `${where}: the token "${name}" is revoked, so it matches nothing`;
    const names = kind === 'level' ? known.levels : known.usableTokenNames;
    const offer = mode === 'offers' ? offerNearest(name, [...names]).clause : '';
    return `${where}: no ${kind} is named "${name}"${offer}`;
  });
  const more = unmatched.length - warnings.length;
  if (more > 0) warnings.push(`and ${more} more`);
  const suppress = suppressWarning(rule);
  return suppress ? [suppressWarnings[suppress], ...warnings] : warnings;
}

const howToCreate = {
  level: (name: string) => `PUT /api/levels/${name}`,
  token: () => 'POST /api/tokens',
} as const;

/** A level or token that a rule may not name, and how to correct it. */
export interface RefusedName extends UnmatchedName {
  readonly message: string;
}

/** The first level or token that does not exist. What the rule named `before` a change may stay. */
export function refusedName(
  rule: NamingRule,
  known: KnownNames,
  before: NamingRule = {},
): RefusedName | undefined {
  const keyOf = ({ kind, name }: UnmatchedName) => `${kind} ${name}`;
  const kept = new Set(unmatchedNames(before, known).map(keyOf));
  const refused = unmatchedNames(rule, known).find((each) => !each.isRevoked && !kept.has(keyOf(each)));
  if (!refused) return undefined;
  const { kind, name } = refused;
  const { clause } = offerNearest(name, [...(kind === 'level' ? known.levels : known.usableTokenNames)]);
  const end = clause.endsWith('?') ? '' : '.';
  const message = `no ${kind} is named "${name}"${clause}${end} To use a new ${kind}, create it first: ${howToCreate[kind](name)}`;
  return { ...refused, message };
}

/** @throws AppError `bad-request`, naming rule and field, for a level or token that `refusedName` finds. */
export function requireKnownNames(
  rule: NamingRule & Pick<RuleSpec, 'name'>,
  known: KnownNames,
  before?: NamingRule,
): void {
  const refused = refusedName(rule, known, before);
  if (!refused) return;
  inRule(rule.name, () => {
    throw badField(`${refused.place}[${refused.at}]`, refused.message);
  });
}

/** @throws AppError `bad-request` naming rule and field, unless `onError` is given. */
export function compileRules(set: RuleSet, context: RoutingContext): Router {
  const steps = compileSteps(set, context);
  for (;;) {
    const { done, value } = steps.next();
    if (done) return value;
  }
}

/**
 * As `compileRules`, but yields to other work. Rules that are the same objects in `previous` are reused; `previous` must have
 * been compiled for the same levels.
 */
export async function compileRulesInSlices(
  set: RuleSet,
  context: RoutingContext,
  {
    yieldToEventLoop,
    previous,
  }: { readonly yieldToEventLoop: YieldToEventLoop; readonly previous?: Router | undefined },
): Promise<Router> {
  await prepareRegexes(set.rules, yieldToEventLoop, { limited: false });
  const steps = compileSteps(set, context, previous);
  for (;;) {
    const { done, value } = steps.next();
    if (done) return value;
    const pause = yieldToEventLoop();
    if (pause) await pause;
  }
}

function* compileSteps(
  { revision, rules }: RuleSet,
  context: RoutingContext,
  previous?: Router,
): Generator<undefined, Router> {
  const before = new Map(previous?.rules.map((rule) => [rule.spec, rule]));
  const compiled: CompiledRule[] = [];
  for (const [ordinal, spec] of rules.entries()) {
    const same = before.get(spec);
    compiled.push(same ? { ...same, ordinal } : compileRule(spec, ordinal, context));
    yield;
  }
  const index = yield* RuleIndex.build(
    compiled.filter(({ spec, broken }) => spec.enabled && broken === undefined),
  );
  return new Router({ revision, rules: compiled, index }, context);
}

function compileRule(spec: RuleSpec, ordinal: number, { levels, onError }: RoutingContext): CompiledRule {
  const ref = { id: spec.id, name: spec.name };
  const rule = {
    ordinal,
    spec,
    ref,
    activity: never,
    conditions: [],
    suppress: undefined,
    regexWeight: 0,
    names: 1 + namedBy(spec),
    broken: undefined,
  };
  if (!spec.enabled) return rule;
  try {
    return inRule(spec.name, () => {
      checkSetLevel(spec, levels);
      const conditions = compileConditions(spec.when, levels);
      const suppress = suppressOf(spec, levels);
      const regexWeight = weightOf([...conditions, ...(suppress?.conditions ?? [])]);
      return { ...rule, activity: compileActivity(spec), conditions, suppress, regexWeight };
    });
  } catch (error) {
    if (!onError) throw error;
    onError(error, ref);
    return { ...rule, broken: error instanceof AppError ? error.message : 'it cannot be read' };
  }
}

const suppressOf = ({ id, then: { suppress } }: RuleSpec, levels: RankedLevels) =>
  suppress && compileSuppress(id, suppress, levels);

const weightOf = (conditions: readonly Condition[]): number =>
  conditions.reduce((sum, { regexWeight }) => sum + regexWeight, 0);

/** How many panels, tags and channels a rule names for the notifications that match it. */
function namedBy({ then: { panels, channels = [], onCall } }: RuleSpec): number {
  const named = channels.length + (onCall === undefined ? 0 : limits.onCallNames);
  if (panels === undefined || typeof panels === 'string') return named;
  return named + ('ids' in panels ? panels.ids : panels.tags).length;
}

const never: Activity = { isActive: () => false, reason: () => 'disabled' };

/** What a rule does at once and by each step of its escalation, with its path in the rule. */
function* effectsOf({ then }: RuleSpec): Generator<readonly [path: string, effect: EscalationEffect]> {
  yield ['then', then];
  for (const [i, step] of (then.escalate ?? []).entries()) yield [`then.escalate[${i}]`, step];
}

type EscalationEffect = Pick<RuleSpec['then'], 'panels' | 'setLevel'>;

/** @throws AppError `bad-request` when a level to be set does not exist. */
function checkSetLevel(spec: RuleSpec, levels: RankedLevels): void {
  for (const [path, { setLevel }] of effectsOf(spec))
    if (setLevel !== undefined) requireLevel(`${path}.setLevel`, setLevel, levels);
}

/** Errors of a rule begin with its name. */
function inRule<T>(name: string, read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    throw new AppError(error.code, `rule "${name}": ${error.message}`, { place: error.place });
  }
}

export interface RuleSurroundings {
  readonly levels: RankedLevels;
  /** The tenant's panels by id. */
  readonly panels: { has(id: string): boolean };
  /** Its channels by id. */
  readonly channels: { has(id: string): boolean };
  /** Its on-call schedules by id. */
  readonly onCall: { has(id: string): boolean };
  /** The current rules that it joins. */
  readonly router?: Pick<Router, 'rules' | 'regexWeight'>;
}

/**
 * Refuses a rule that cannot work: invalid patterns, missing levels, panels, channels and time zones,
 * times that never come, too many regular expressions for a tenant, and a `then` without effect. Tags need not exist yet; the
 * names in `level` and `token` are checked by `requireKnownNames`, only when a rule is saved. Disabled rules are checked too.
 *
 * @throws AppError `bad-request`, naming rule and field: rule "db to the NOC": when.ip[0]: …
 */
export function validateRule(spec: RuleSpec, surroundings: RuleSurroundings): void {
  const { levels, router } = surroundings;
  inRule(spec.name, () => {
    const conditions = compileConditions(spec.when, levels);
    const suppress = suppressOf(spec, levels);
    const own = weightOf([...conditions, ...(suppress?.conditions ?? [])]);
    if (suppress) checkSuppressRules(spec, router);
    const before = router?.rules.find(({ ref }) => ref.id === spec.id)?.regexWeight ?? 0;
    // A change that costs no more than before is accepted, so that a tenant beyond the limit can still fix its rules.
    if (own > before) checkRegexWeight(own - before + (router?.regexWeight ?? 0));
    compileActivity(spec);
    checkSetLevel(spec, levels);
    checkTargets(spec, surroundings);
    if (!doesAnything(spec))
      throw badField(
        'then',
        'does nothing; give panels, channels, onCall, setLevel, setTtl, mute, throttle, escalate, instructions, suppress, group or acknowledgeForMs',
      );
  });
}

/** @throws AppError `bad-request` when the tenant has the most of them, and this is another one. */
function checkSuppressRules({ id, enabled }: RuleSpec, router: RuleSurroundings['router']): void {
  const others = router?.rules.filter(({ suppress, ref }) => suppress !== undefined && ref.id !== id) ?? [];
  if (enabled && others.length >= limits.suppressRules)
    throw badField('then.suppress', `at most ${limits.suppressRules} rules of a tenant can suppress alarms`);
}

function checkTargets(spec: RuleSpec, { panels, channels, onCall }: RuleSurroundings): void {
  for (const [path, { panels: target }] of effectsOf(spec)) {
    if (typeof target !== 'object') continue;
    if ('ids' in target)
      requireKnown(`${path}.panels.ids`, target.ids, panels, "panel's id; GET /api/panels lists them");
  }
  const named = spec.then.channels ?? [];
  requireKnown('then.channels', named, channels, "channel's id or name; GET /api/channels lists them");
  const schedule = spec.then.onCall;
  if (schedule !== undefined && !onCall.has(schedule))
    throw badField(
      'then.onCall',
      `"${schedule}" is no on-call schedule's id or name; GET /api/on-call lists them`,
    );
}

/** @throws AppError `bad-request`, naming the first of these ids that is not known. */
export function requireKnown(
  field: string,
  ids: readonly string[],
  known: { has(id: string): boolean },
  what: string,
): void {
  const unknown = ids.findIndex((id) => !known.has(id));
  if (unknown >= 0) throw badField(`${field}[${unknown}]`, `"${ids[unknown]}" is no ${what}`);
}

function doesAnything({ then }: RuleSpec): boolean {
  return (
    then.panels !== undefined ||
    then.channels !== undefined ||
    then.onCall !== undefined ||
    then.setLevel !== undefined ||
    then.setTtl !== undefined ||
    then.mute === true ||
    then.escalate !== undefined ||
    then.instructions !== undefined ||
    then.throttle !== undefined ||
    then.suppress !== undefined ||
    then.group !== undefined ||
    then.acknowledgeForMs !== undefined
  );
}
