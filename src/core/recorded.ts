/** A recorded notification, seen by the rules again. */
import type { RuleTrace } from '../contract/routing.ts';
import type { Directory } from './directory.ts';
import type { HistoryRecord } from './ports.ts';
import { compileRules, type Router } from './routing.ts';
import { clipTraces, explain } from './routing-explain.ts';
import type { RoutingSubject } from './subject.ts';
import type { TenantSnapshot } from './tenancy.ts';

/** What the sender sent, as routing sees it; the level's rank is today's. */
export function subjectOf(record: HistoryRecord, router: Router): RoutingSubject {
  return { ...record, level: record.sentLevel, rank: router.rankOf(record.sentLevel), ttl: record.sentTtl };
}

/**
 * Why a notification went where it went: each rule's part in the walk, by the rules that were in force when it arrived.
 */
export async function traceOf(
  rules: Pick<Directory['rules'], 'set'>,
  { record: tenant, router, levels }: TenantSnapshot,
  record: HistoryRecord,
): Promise<readonly RuleTrace[]> {
  const { revision } = record.route;
  const then =
    revision === router.revision
      ? router
      : compileRules(await rules.set(tenant.id, revision), { levels, onError: () => undefined });
  return clipTraces(explain(then, subjectOf(record, then), record.receivedAt).rules).rules;
}
