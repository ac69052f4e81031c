/** Explain and replay requests: a typed or a recorded notification, the rules in force or draft rules. */
import { mapOptionalTexts } from '#contract/history/fields.ts';
import type { ExplainRequest, RoutingOutcome, RuleTrace } from '#contract/routing/routing.ts';
import type { RuleSpec } from '#contract/routing/rule.ts';
import { canonicalAddress } from '../addresses.ts';
import { AppError, badField } from '../errors.ts';
import { type CheckedFields, checkFields } from '../intake/notification.ts';
import { createYieldToEventLoop, type YieldToEventLoop } from '../limits/concurrency.ts';
import { channelsReached, panelsReached, targetView } from '../log/history-view.ts';
import type { HistoryRecord } from '../log/log.ts';
import type { OnCallPlan } from '../on-call/on-call.ts';
import type { CredentialRecord, Directory } from '../tenants/directory.ts';
import type { TenantSnapshot } from '../tenants/tenancy.ts';
import type { RankedLevels } from './conditions.ts';
import { clipTraces, type Explainer, type Explanation, subjectOf, withSuppressing } from './explain.ts';
import { prepareRegexes } from './regex.ts';
import type { NamedPanel, ReplayChannel } from './replay-counts.ts';
import type { Router } from './router.ts';
import { compileRulesInSlices, newRule, type RuleSurroundings, validateRule, withIds } from './rules.ts';
import type { RoutingSubject } from './subject.ts';

type DraftRules = NonNullable<ExplainRequest['rules']>;
type Typed = Exclude<ExplainRequest['notification'], string>;

/** The levels, panels and channels that draft rules refer to: the tenant's, or those of the draft. */
export interface DraftSurroundings extends Pick<TenantSnapshot, 'record'> {
  readonly levels: RankedLevels;
  readonly panels: ReadonlyMap<string, NamedPanel>;
  readonly channels: ReadonlyMap<string, ReplayChannel>;
  readonly onCall: ReadonlyMap<string, OnCallPlan>;
}

/**
 * Compiles draft rules after the same checks as when they are saved. An error thrown by `yieldToEventLoop` ends the work.
 *
 * @throws AppError `bad-request` naming rule and field.
 */
export async function draftRouter(
  drafts: DraftRules,
  snapshot: DraftSurroundings,
  yieldToEventLoop: YieldToEventLoop = createYieldToEventLoop(),
): Promise<Router> {
  const { levels, panels, channels, onCall, record } = snapshot;
  const specs = drafts.map(({ id, ...draft }, i) =>
    withIds(newRule(id ?? `draft-${i + 1}`, draft, record.timeZone), snapshot),
  );
  await prepareRegexes(specs, yieldToEventLoop, { limited: true });
  for (const [i, spec] of specs.entries()) {
    checkDraft(spec, i, { levels, panels, channels, onCall });
    const pause = yieldToEventLoop();
    if (pause) await pause;
  }
  return compileRulesInSlices({ revision: 0, rules: specs }, { levels, onCall }, { yieldToEventLoop });
}

/** Errors contain the index of the draft rule in the request. */
function checkDraft(spec: RuleSpec, i: number, surroundings: RuleSurroundings): void {
  try {
    validateRule(spec, surroundings);
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    throw new AppError(error.code, error.message, {
      place: { pointer: `/rules/${i}${error.place?.pointer ?? ''}` },
    });
  }
}

/** The typed fields, with defaults for the others. @throws AppError `bad-request` for what /api/notify refuses too. */
export function subjectOfRequest(
  typed: Typed,
  router: Router,
  tokens: readonly CredentialRecord[],
): RoutingSubject {
  const fields = checkTyped(typed);
  const token = typed.token ?? '';
  const { id, name } = typeof token === 'string' ? { id: token, name: token } : token;
  const known = tokens.find((each) => each.id === id) ?? tokens.find((each) => each.name === name);
  return {
    ...fields,
    rank: router.rankOf(fields.level),
    sourceIp: sourceAddress(typed.sourceIp ?? '127.0.0.1'),
    tokenId: known?.id ?? id,
    tokenName: known?.name ?? name,
  };
}

/** As for /api/notify, except that title and message may be absent or blank. */
function checkTyped({ title, message, level, ttl, ...typed }: Typed): CheckedFields {
  const isBlank = (text: string | null | undefined) => (text ?? '').trim() === '';
  try {
    const checked = checkFields({
      title: isBlank(title) ? '-' : title,
      message: isBlank(message) ? '-' : message,
      ...{ level, ttl },
      ...mapOptionalTexts((name) => typed[name]),
    });
    return {
      ...checked,
      ...(isBlank(title) && { title: '' }),
      ...(isBlank(message) && { message: '' }),
    };
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    // Its messages begin with the name of the field.
    const [field = ''] = error.message.split(' ', 1);
    throw new AppError(error.code, `notification.${error.message}`, {
      place: { pointer: `/notification/${field.replace('.', '/')}` },
    });
  }
}

/** An explanation as the API returns it. */
export function outcomeOf(
  { decision, rules }: Explanation,
  {
    snapshot,
    throttled,
    suppressed,
    suppressedBy,
  }: { readonly snapshot: TenantSnapshot } & Pick<
    RoutingOutcome,
    'throttled' | 'suppressed' | 'suppressedBy'
  >,
): RoutingOutcome {
  const { level, rank, ttl, route } = decision;
  const acknowledgeForMs = route.acknowledgeForMs ?? snapshot.levels.get(level)?.acknowledgeForMs;
  return {
    level,
    rank,
    ttl,
    muted: route.muted,
    ...(route.group && { group: [...route.group] }),
    ...(acknowledgeForMs && { acknowledgeForMs }),
    throttled,
    suppressed,
    suppressedBy,
    target: targetView(route.target),
    ...panelsReached(route.target, snapshot),
    channels: throttled || suppressed ? [] : channelsReached(route, snapshot),
    ...clipTraces(withSuppressing(rules, { suppressed, suppressedBy })),
  };
}

function sourceAddress(text: string): string {
  const canonical = canonicalAddress(text.trim());
  if (canonical === undefined)
    throw badField('notification.sourceIp', 'must be an IPv4 or IPv6 address, as in 10.0.0.5 or fd00::5');
  return canonical;
}

/** A tenant's rules as of an earlier revision; `router` is undefined when these are deleted. */
interface PastRouter {
  readonly revision: number;
  readonly router: Promise<Router | undefined>;
}

/** The last one requested, for as long as the snapshot is current: compiling thousands of rules takes a while. */
const pastRouters = new WeakMap<TenantSnapshot, PastRouter>();

/** undefined: these rules are deleted. */
export function routerAt(
  rules: Pick<Directory['rules'], 'setAt'>,
  snapshot: TenantSnapshot,
  revision: number,
): Promise<Router | undefined> {
  const { record: tenant, router: current, levels, onCall } = snapshot;
  if (revision === current.revision) return Promise.resolve(current);
  const last = pastRouters.get(snapshot);
  if (last?.revision === revision) return last.router;
  // One at a time: a client may request a thousand old revisions at once.
  const router = Promise.allSettled([last?.router])
    .then(() => rules.setAt(tenant.id, revision))
    .then(
      (set) =>
        set &&
        compileRulesInSlices(
          set,
          { levels, onCall, onError: () => undefined },
          { yieldToEventLoop: createYieldToEventLoop() },
        ),
    );
  const past = { revision, router };
  pastRouters.set(snapshot, past);
  router.catch(() => {
    if (pastRouters.get(snapshot) === past) pastRouters.delete(snapshot);
  });
  return router;
}

/**
 * Why a notification went where it went: each rule's part in the walk, by the rules that were in force when it arrived. null when these
 * rules are deleted.
 *
 * @throws AppError `rate-limited` when the tenant has used up its time for explaining.
 */
export async function traceOf(
  {
    directory: { rules },
    explainer,
  }: { readonly directory: Pick<Directory, 'rules'>; readonly explainer: Explainer },
  snapshot: TenantSnapshot,
  record: HistoryRecord,
  suppression: Pick<RoutingOutcome, 'suppressed' | 'suppressedBy'>,
): Promise<RuleTrace[] | null> {
  const router = await routerAt(rules, snapshot, record.route.revision);
  if (!router) return null;
  const { receivedAt: at, route } = record;
  const question = { router, subject: subjectOf(record, router), at, onCall: route.onCall };
  const { rules: traces } = await explainer.explain(snapshot.record.id, question);
  return clipTraces(withSuppressing(traces, suppression)).rules;
}
