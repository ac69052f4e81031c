import type { ReplayResponse } from '../contract/routing.ts';
import type { HistoryRecord, PanelAddress, Route, TenantId } from './ports.ts';
import type { Decision, Router } from './routing.ts';
import { isEmpty, reaches } from './target.ts';
import { Throttle, type Throttled } from './throttle.ts';

/** What is asked of a recorded notification; the token's name as it is now. */
export type Recorded = Pick<
  HistoryRecord,
  | 'id'
  | 'receivedAt'
  | 'title'
  | 'message'
  | 'level'
  | 'ttl'
  | 'sentLevel'
  | 'sentTtl'
  | 'ip'
  | 'host'
  | 'key'
  | 'sourceIp'
  | 'tokenId'
  | 'tokenName'
  | 'route'
  | 'throttledOn'
>;

export type Comparison = Omit<ReplayResponse, 'complete'>;
type Example = ReplayResponse['examples'][number];

const maxExamples = 100;
/** The throttle of a replay is its own, so any number will do. */
const replayTenant: TenantId = 0;

/**
 * Routes recorded notifications anew, from what their senders sent, and compares the outcome with the recorded one. A
 * notification counts as changed when its level, ttl, panels, muting or throttling would differ, not when only other
 * rules would say the same.
 *
 * @param recorded oldest first: throttles count on what came before.
 * @param panels the tenant's panels as they are now: a notification counts as shown when it reaches one of them.
 * @returns counts, and the newest examples, newest first.
 */
export async function replay(
  recorded: AsyncIterable<Recorded> | Iterable<Recorded>,
  router: Router,
  panels: readonly PanelAddress[],
): Promise<Comparison> {
  const throttle = new Throttle();
  const reachesAny = memoize(
    (route: Route) => !route.muted && panels.some((panel) => reaches(route.target, panel)),
  );
  const counts = { considered: 0, changed: 0, shownBefore: 0, shownAfter: 0 };
  const examples: Example[] = [];
  for await (const record of recorded) {
    const decision = router.route(
      { ...record, level: record.sentLevel, rank: router.rankOf(record.sentLevel), ttl: record.sentTtl },
      record.receivedAt,
    );
    const throttled = throttle.check(replayTenant, decision.throttle, record.id, record.receivedAt);
    counts.considered += 1;
    if (record.throttledOn === null && reachesAny(record.route)) counts.shownBefore += 1;
    if (!throttled && reachesAny(decision.route)) counts.shownAfter += 1;
    if (!differs(record, decision, throttled)) continue;
    counts.changed += 1;
    examples.push(exampleOf(record, decision, throttled));
    if (examples.length > maxExamples) examples.shift();
  }
  return { ...counts, examples: examples.reverse() };
}

function differs(record: Recorded, decision: Decision, throttled: Throttled | undefined): boolean {
  return (
    record.level !== decision.level ||
    record.ttl !== decision.ttl ||
    record.route.muted !== decision.route.muted ||
    (record.throttledOn !== null) !== (throttled !== undefined) ||
    !sameTarget(record.route, decision.route)
  );
}

function sameTarget(a: Route, b: Route): boolean {
  if (a.target === b.target) return true;
  if (a.target.all || b.target.all || isEmpty(a.target) || isEmpty(b.target)) {
    return a.target.all === b.target.all && isEmpty(a.target) === isEmpty(b.target);
  }
  return sameMembers(a.target.ids, b.target.ids) && sameMembers(a.target.tags, b.target.tags);
}

/** Neither holds anything twice. */
function sameMembers(a: readonly string[], b: readonly string[]): boolean {
  return a.length === b.length && a.every((member) => b.includes(member));
}

function exampleOf(record: Recorded, decision: Decision, throttled: Throttled | undefined): Example {
  return {
    id: record.id,
    title: record.title,
    host: record.host,
    receivedAt: new Date(record.receivedAt).toISOString(),
    before: {
      level: record.level,
      ttl: record.ttl,
      throttled: record.throttledOn !== null,
      ...shownRoute(record.route),
    },
    after: {
      level: decision.level,
      ttl: decision.ttl,
      throttled: throttled !== undefined,
      ...shownRoute(decision.route),
    },
  };
}

function shownRoute({ muted, target, rules }: Route) {
  return {
    muted,
    target: { all: target.all, ids: [...target.ids], tags: [...target.tags] },
    rules: rules.map(({ name }) => name),
  };
}

/** Routes are interned, so there are few of them. */
function memoize(ask: (route: Route) => boolean): (route: Route) => boolean {
  const answers = new WeakMap<Route, boolean>();
  return (route) => {
    let answer = answers.get(route);
    if (answer === undefined) {
      answer = ask(route);
      answers.set(route, answer);
    }
    return answer;
  };
}
