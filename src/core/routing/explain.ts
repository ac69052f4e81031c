/** Routes recorded notifications again, from the fields that their senders sent. */
import type { OptionalText } from '#contract/history/fields.ts';
import { limits } from '#contract/limits.ts';
import type { RoutingOutcome, RuleTrace } from '#contract/routing/routing.ts';
import type { EscalationStep, RuleSpec } from '#contract/routing/rule.ts';
import { AppError } from '../errors.ts';
import { keepEscalated, type OwnSender, ownDecision, ownSenderId } from '../intake/own-sender.ts';
import { createYieldToEventLoop, type YieldToEventLoop } from '../limits/concurrency.ts';
import type { HistoryRecord } from '../log/log.ts';
import type { Route, RouteOnCall, TenantId } from '../log/route.ts';
import { RegexTime, regexBudgetSpent, regexTextTooLong } from './regex.ts';
import { type CompiledRule, type Decision, type Router, tooManyNames } from './router.ts';
import { EvaluationContext, type RoutingSubject } from './subject.ts';

/** The fields that routing needs; the token's name is the current one. */
export type Recorded = Pick<
  HistoryRecord,
  | 'id'
  | 'receivedAt'
  | 'title'
  | 'message'
  | 'level'
  | 'rank'
  | 'ttl'
  | 'sentLevel'
  | 'sentTtl'
  | OptionalText
  | 'sourceIp'
  | 'tokenId'
  | 'tokenName'
  | 'route'
  | 'throttledOn'
>;

/** The subject as the sender sent it, with the current rank of its level. */
export function subjectOf(record: Recorded, router: Pick<Router, 'rankOf'>): RoutingSubject {
  const { sentLevel, sentTtl, route } = record;
  return { ...record, level: sentLevel, rank: router.rankOf(sentLevel), ttl: sentTtl, origin: route.origin };
}

/** An escalation, and a repeat of one, keeps its panels in addition to those that the rules choose; a test goes to its panel only. */
export function routeRecorded(record: Recorded, router: Router, at: number): Decision {
  const subject = subjectOf(record, router);
  const { route } = record;
  const isOf = (sender: OwnSender) => record.tokenId === ownSenderId(sender);
  const decided = router.route(subject, at, undefined, route.onCall);
  const decision = ownDecision(decided, subject, {
    escalatedTo: isOf('escalation') ? route : undefined,
    only: isOf('test') ? route.target : undefined,
  });
  return route.repeats === undefined || decision.route.muted ? decision : keepEscalated(decision, record);
}

export interface Explanation {
  /** The decision of `router.route`. */
  readonly decision: Decision;
  /** Every rule, in the order of evaluation. */
  readonly rules: readonly RuleTrace[];
}

export interface Question {
  readonly router: Router;
  readonly subject: RoutingSubject;
  readonly at: number;
  /** Set for a recorded notification. */
  readonly recorded?: Recorded | undefined;
  /** Who was on call when a notification came that is not routed as a recorded one. */
  readonly onCall?: Route['onCall'];
}

/** Explains decisions. Each tenant has a time budget for it, as large as its budget for regular expressions at intake, but separate. */
export class Explainer {
  readonly #now: () => number;
  readonly #time = new RegexTime();

  constructor(now: () => number) {
    this.#now = now;
  }

  /**
   * Yields to the event loop between rules. An error thrown by `yieldToEventLoop` ends the work.
   *
   * @throws AppError `rate-limited` when the tenant has used up its time.
   */
  async explain(
    tenant: TenantId,
    question: Question,
    yieldToEventLoop: YieldToEventLoop = createYieldToEventLoop(),
  ): Promise<Explanation> {
    const waitMs = this.#time.waitMs(tenant, this.#now());
    if (waitMs > 0)
      throw new AppError(
        'rate-limited',
        'explaining has taken all the time that this tenant has for it: wait',
        {
          retryAfterSeconds: waitMs / 1000,
        },
      );
    const steps = explainSteps(question);
    let tookMs = 0;
    try {
      for (;;) {
        const started = performance.now();
        const { done, value } = steps.next();
        tookMs += performance.now() - started;
        if (done) return value;
        const pause = yieldToEventLoop();
        if (pause) await pause;
      }
    } finally {
      this.#time.spend(tenant, tookMs, this.#now());
    }
  }
}

/** Yields after each traced rule. Routing and tracing each have the budget that one notification has at intake. */
function* explainSteps({
  router,
  subject,
  at,
  recorded,
  onCall,
}: Question): Generator<undefined, Explanation> {
  const decision = recorded
    ? routeRecorded(recorded, router, at)
    : router.route(subject, at, undefined, onCall);
  const matched = new Set(decision.route.rules);
  const context = new EvaluationContext(subject);
  const rules: RuleTrace[] = [];
  let names = 0;
  let ended: string | undefined;
  for (const rule of router.rules) {
    if (ended !== undefined) {
      rules.push({ ...rule.ref, outcome: 'not-tried', reason: ended });
    } else if (matched.has(rule.ref)) {
      rules.push(traceMatched(rule, decision.route));
      names += rule.names;
      if (!rule.spec.continue) ended = `rule ${rule.ordinal + 1} stopped the evaluation`;
      else if (names >= limits.namesPerNotification) ended = tooManyNames.message;
    } else {
      rules.push(traceUnmatched(rule, context, at));
      yield;
    }
  }
  return { decision, rules };
}

/** Says so at the rule that suppresses it, or did when it came. */
export const withSuppressing = (
  rules: readonly RuleTrace[],
  { suppressed, suppressedBy }: Pick<RoutingOutcome, 'suppressed' | 'suppressedBy'>,
): readonly RuleTrace[] =>
  rules.map((trace) =>
    trace.id === suppressedBy?.rule?.id
      ? {
          ...trace,
          suppresses: true,
          reason: suppressed
            ? `${trace.reason}; it suppresses this one while the alarm "${suppressedBy.title}" stands`
            : `${trace.reason}; it suppressed this one when it came, by the alarm "${suppressedBy.title}"`,
        }
      : trace,
  );

/**
 * At most `most` traces, in order. The first rule that was not tried has priority, because its reason says why the evaluation ended;
 * then those that matched, or suppress it.
 */
export function clipTraces(
  traces: readonly RuleTrace[],
  most = 1000,
): { rules: RuleTrace[]; rulesOmitted: number } {
  const end = traces.find(({ outcome }) => outcome === 'not-tried');
  const counts = ({ outcome, suppresses }: RuleTrace) => outcome === 'matched' || suppresses === true;
  const matched = traces.filter(counts);
  const others = traces.filter((trace) => trace !== end && !counts(trace));
  const kept = new Set([...(end ? [end] : []), ...matched, ...others].slice(0, most));
  return { rules: traces.filter((trace) => kept.has(trace)), rulesOmitted: traces.length - kept.size };
}

function traceMatched({ spec, ref }: CompiledRule, { onCall = [] }: Route): RuleTrace {
  const own = onCall.find(({ id }) => id === spec.then.onCall);
  const named = own && { onCall: { ...own, people: [...own.people] } };
  return { ...ref, outcome: 'matched', reason: effects(spec, own), ...named };
}

/** Why a rule did not match. */
function traceUnmatched(
  { spec, ref, broken, activity, conditions }: CompiledRule,
  context: EvaluationContext,
  now: number,
): RuleTrace {
  if (!spec.enabled) return { ...ref, outcome: 'disabled', reason: 'disabled' };
  if (broken !== undefined) return { ...ref, outcome: 'failed', reason: `cannot work: ${broken}` };
  try {
    if (!activity.isActive(now)) return { ...ref, outcome: 'inactive', reason: activity.reason(now) };
    const failed = conditions.find((condition) => !condition.holds(context));
    if (failed) return { ...ref, outcome: 'failed', condition: failed.name, reason: failed.reason(context) };
    return { ...ref, outcome: 'failed', reason: outOfBudget };
  } catch (error) {
    return { ...ref, outcome: 'failed', reason: reasonOf(error) };
  }
}

function reasonOf(error: unknown): string {
  if (error === regexBudgetSpent) return outOfBudget;
  return error === regexTextTooLong
    ? 'skipped: the message is longer than its regular expressions read, and they find nothing in the beginning'
    : 'failed with an error, so it is skipped';
}

const outOfBudget =
  'skipped: the regular expressions of the rules before it, and globs with ?, took all the time there is for one notification';

/** The effects of a rule that matches. */
function effects({ then, continue: goesOn }: RuleSpec, onCall: RouteOnCall | undefined): string {
  const done: string[] = [];
  if (then.panels !== undefined) done.push(`names ${panelsText(then.panels)}`);
  if (then.channels !== undefined)
    done.push(then.channels.length === 1 ? 'adds one channel' : `adds ${then.channels.length} channels`);
  if (then.onCall !== undefined) done.push(onCallText(onCall));
  if (then.setLevel !== undefined) done.push(`sets the level to ${then.setLevel}`);
  if (then.setTtl !== undefined)
    done.push(then.setTtl === 0 ? 'keeps it until cleared' : `sets the ttl to ${then.setTtl} ms`);
  if (then.mute) done.push('mutes it');
  if (then.throttle) done.push(`shows one in ${then.throttle.perMs / 1000} s${sameText(then.throttle.by)}`);
  if (then.group) done.push(`groups it on panels by ${then.group.join(', ')}`);
  if (then.suppress) done.push(`suppresses others while its alarm stands${sameText(then.suppress.equal)}`);
  if (then.acknowledgeForMs !== undefined) done.push(acknowledgementText(then.acknowledgeForMs));
  if (then.escalate) done.push(...then.escalate.map(escalationText));
  if (then.instructions !== undefined) done.push('has instructions');
  return `${done.length > 0 ? done.join(', ') : 'does nothing'}; ${goesOn ? 'later rules are checked too' : 'stops here'}`;
}

function onCallText(onCall: RouteOnCall | undefined): string {
  if (!onCall) return 'adds nobody: its on-call schedule is deleted';
  const { name, people } = onCall;
  return people.length === 0
    ? `adds nobody: nobody is on call (${name})`
    : `adds who is on call: ${people.join(', ')} (${name})`;
}

const acknowledgementText = (ms: number): string =>
  ms === 0 ? 'lets acknowledgements last without end' : `ends acknowledgements after ${ms / 1000} s`;

function escalationText({ afterMs, unless, setLevel, panels }: EscalationStep, i: number): string {
  const after = `${i === 0 ? 'escalates it' : 'again'} ${afterMs / 1000} s later unless ${unless ?? 'acknowledged'}`;
  const level = setLevel === undefined ? '' : ` with the level ${setLevel}`;
  return `${after}${level}${panels === undefined ? '' : ` on ${panelsText(panels)}`}`;
}

function panelsText(panels: NonNullable<RuleSpec['then']['panels']>): string {
  if (panels === 'all') return 'every panel';
  if (panels === 'none') return 'no panel';
  if ('tags' in panels) return `panels tagged ${panels.tags.join(', ')}`;
  return panels.ids.length === 1 ? 'one panel' : `${panels.ids.length} panels`;
}

const sameText = (by: readonly string[]) => (by.length === 0 ? '' : ` of the same ${by.join(', ')}`);
