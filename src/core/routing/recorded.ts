/** A recorded notification, seen by the rules again. */
import type { RuleTrace } from '../../contract/routing.ts';
import { createBreathe } from '../breathe.ts';
import type { Directory } from '../directory.ts';
import type { HistoryRecord } from '../ports.ts';
import type { TenantSnapshot } from '../tenancy.ts';
import type { Router } from './router.ts';
import { compileRulesInSlices } from './routing.ts';
import { clipTraces, explain } from './routing-explain.ts';
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
    past = rules
      .set(tenant.id, revision)
      .then((set) =>
        compileRulesInSlices(set, { levels, onError: () => undefined }, { breathe: createBreathe() }),
      );
    past.catch(() => kept.delete(revision));
    if (kept.size >= pastRoutersKept) kept.delete(kept.keys().next().value as number);
    kept.set(revision, past);
  }
  return past;
}

/**
 * Why a notification went where it went: each rule's part in the walk, by the rules that were in force when it arrived.
 */
export async function traceOf(
  rules: Pick<Directory['rules'], 'set'>,
  snapshot: TenantSnapshot,
  record: HistoryRecord,
): Promise<readonly RuleTrace[]> {
  const then = await routerAt(rules, snapshot, record.route.revision);
  return clipTraces(explain(then, subjectOf(record, then), record.receivedAt).rules).rules;
}
