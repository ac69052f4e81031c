/** A recorded notification, seen by the rules again. */
import type { RuleTrace } from '#contract/routing.ts';
import type { Directory } from '../directory.ts';
import type { HistoryRecord } from '../ports.ts';
import type { TenantSnapshot } from '../tenancy.ts';
import { createYieldToEventLoop } from '../yield-to-event-loop.ts';
import { compileRulesInSlices } from './compile-rules.ts';
import { clipTraces, type Explainer } from './explain.ts';
import type { Router } from './router.ts';
import type { RoutingSubject } from './subject.ts';

/** What the sender sent, as routing sees it; the level's rank is today's. */
export function subjectOf(record: HistoryRecord, router: Router): RoutingSubject {
  return { ...record, level: record.sentLevel, rank: router.rankOf(record.sentLevel), ttl: record.sentTtl };
}

/** Routers of the past, for as long as the snapshot they were made for stands: compiling thousands of rules takes a while. */
const pastRouters = new WeakMap<TenantSnapshot, Map<number, Promise<Router>>>();
const pastRoutersKept = 4;

function routerAt(
  rules: Pick<Directory['rules'], 'set'>,
  snapshot: TenantSnapshot,
  revision: number,
): Promise<Router> {
  const { record: tenant, router, levels } = snapshot;
  if (revision === router.revision) return Promise.resolve(router);
  const kept = pastRouters.get(snapshot) ?? new Map<number, Promise<Router>>();
  pastRouters.set(snapshot, kept);
  let past = kept.get(revision);
  if (!past) {
    // One at a time: a thousand old revisions could be asked for at once.
    const before = [...kept.values()].at(-1);
    past = Promise.allSettled([before])
      .then(() => rules.set(tenant.id, revision))
      .then((set) =>
        compileRulesInSlices(
          set,
          { levels, onError: () => undefined },
          { yieldToEventLoop: createYieldToEventLoop() },
        ),
      );
    past.catch(() => kept.delete(revision));
    if (kept.size >= pastRoutersKept) kept.delete(kept.keys().next().value as number);
    kept.set(revision, past);
  }
  return past;
}

/**
 * Why a notification went where it went: each rule's part in the walk, by the rules that were in force when it arrived.
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
): Promise<readonly RuleTrace[]> {
  const router = await routerAt(rules, snapshot, record.route.revision);
  const question = { router, subject: subjectOf(record, router), at: record.receivedAt };
  return clipTraces((await explainer.explain(snapshot.record.id, question)).rules).rules;
}
