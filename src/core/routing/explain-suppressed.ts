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

interface Context {
  readonly directory: Pick<Directory, 'rules'>;
  readonly history: Pick<History, 'find' | 'findCause' | 'findLive'>;
}

/** By what a recorded notification is suppressed, or was when it came; null: by nothing. */
export async function suppressedByOf(
  context: Context,
  snapshot: TenantSnapshot,
  { alarm, route }: HistoryRecord,
): Promise<SuppressedBy | null> {
  const id = alarm?.suppressed?.by ?? route.suppressed?.by;
  return id === undefined ? null : describe(context, { id, route, snapshot, router: snapshot.router });
}

/** By what a notification with this decision of `router` would be suppressed if it came at `now`; null: by nothing. */
export async function wouldBeSuppressedBy(
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
): Promise<SuppressedBy | null> {
  const { history } = context;
  const tenant = snapshot.record.id;
  if (!route.suppress || route.suppress.follows.length === 0 || isResolve({ key, rank })) return null;
  const own = key === null ? recorded : await history.findLive(tenant, key, now);
  const id = await history.findCause(tenant, route.suppress.follows, now, own);
  return id === undefined ? null : describe(context, { id, route, snapshot, router });
}

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
  const common = cause?.route.suppress?.causes.find(({ key }) => follows.includes(key));
  const ruleIn = (rules: Router | undefined) =>
    rules?.rules.find(({ suppress }) => suppress !== undefined && suppress.rule === common?.rule)?.ref;
  const rule =
    common && (ruleIn(router) ?? ruleIn(await routerAt(directory.rules, snapshot, route.revision)));
  return { id, title: cause?.title ?? '', rule: rule ?? null };
}
