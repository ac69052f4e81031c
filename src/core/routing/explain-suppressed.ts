/** Why a notification is on no panel: by which alarm it is suppressed, and by which rule (`then.suppress`). */
import type { RoutingOutcome } from '#contract/routing/routing.ts';
import { isResolve } from '../channels/channels.ts';
import type { History, HistoryRecord } from '../log/log.ts';
import type { Route } from '../log/route.ts';
import type { Directory } from '../tenants/directory.ts';
import type { TenantSnapshot } from '../tenants/tenancy.ts';
import { routerAt } from './explain-request.ts';
import type { Decision, Router } from './router.ts';

type SuppressedBy = NonNullable<RoutingOutcome['suppressedBy']>;
type Suppressed = Pick<RoutingOutcome, 'suppressed' | 'suppressedBy'>;

export const notSuppressed: Suppressed = { suppressed: false, suppressedBy: null };

interface Context {
  readonly directory: Pick<Directory, 'rules'>;
  readonly history: Pick<History, 'find' | 'findCause' | 'findLive'>;
}

/** Whether a recorded notification is suppressed now, and by what it is or was when it came. */
export async function suppressionOf(
  context: Context,
  snapshot: TenantSnapshot,
  { alarm, route }: HistoryRecord,
): Promise<Suppressed> {
  const now = alarm?.suppressed?.by;
  const id = now ?? route.suppressed?.by;
  return {
    suppressed: now !== undefined,
    suppressedBy:
      id === undefined ? null : await describe(context, { id, route, snapshot, router: snapshot.router }),
  };
}

/** Whether and by what a notification with this decision of `router` would be suppressed if it came at `now`. */
export async function wouldSuppress(
  context: Context,
  snapshot: TenantSnapshot,
  {
    now,
    router,
    decision: { route, rank },
    key,
    id: recorded,
  }: {
    readonly now: number;
    readonly router: Router;
    readonly decision: Decision;
    readonly key: string | null;
    /** Of a recorded one: it does not suppress itself. */
    readonly id?: string | undefined;
  },
): Promise<Suppressed> {
  const { history } = context;
  const tenant = snapshot.record.id;
  const by = async (id: string | undefined, of: Route): Promise<Suppressed> => {
    if (id === undefined) return notSuppressed;
    return { suppressed: true, suppressedBy: await describe(context, { id, route: of, snapshot, router }) };
  };
  if (route.muted) return notSuppressed;
  const own = key === null ? recorded : await history.findLive(tenant, key, now);
  const repeated = key === null || own === undefined ? undefined : await history.find(tenant, own);
  if (isResolve({ key, rank })) return by(repeated?.alarm?.suppressed?.by, repeated?.route ?? route);
  const follows = route.suppress?.follows ?? [];
  if (follows.length === 0 || (repeated && keepsState(repeated, rank))) return notSuppressed;
  return by(await history.findCause(tenant, follows, now, own), route);
}

/** Whether a repeat of this rank is acknowledged or shelved as the alarm is, so that no cause suppresses it. */
const keepsState = ({ acknowledged, alarm, rank }: HistoryRecord, ofRepeat: number): boolean =>
  ofRepeat <= rank && (acknowledged !== null || (alarm !== null && alarm.shelved !== null));

/** A cause, and the rule by which it suppresses what has this route: as in `router`, or else as when that came. */
async function describe(
  { directory, history }: Context,
  {
    id,
    route,
    snapshot,
    router,
  }: {
    readonly id: string;
    readonly route: Route;
    readonly snapshot: TenantSnapshot;
    readonly router: Router;
  },
): Promise<SuppressedBy> {
  const cause = await history.find(snapshot.record.id, id);
  const follows = route.suppress?.follows ?? [];
  const common = cause?.route.suppress?.causes.filter(({ key }) => follows.includes(key)) ?? [];
  const suppressing = new Set(common.map(({ rule }) => rule));
  const ruleIn = (rules: Router | undefined) =>
    rules?.rules.find(({ suppress }) => suppress !== undefined && suppressing.has(suppress.rule))?.ref;
  const rule =
    common.length === 0
      ? undefined
      : (ruleIn(router) ?? ruleIn(await routerAt(directory.rules, snapshot, route.revision)));
  return { id, title: cause?.title ?? '', rule: rule ?? null };
}
