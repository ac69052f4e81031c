/**
 * What stands now: the list of alarms, and what people do about them. An alarm is what the notifications of one key share while it
 * stands, or one notification without a key. It is open, acknowledged or shelved until it ends; a time that is over opens it again.
 * An acknowledgement without a time of its own has that of the last rule that says so, else that of the level: the store knows both.
 */
import type { StandingState } from '#contract/history/alarm-states.ts';
import { limits } from '#contract/limits.ts';
import type { ChannelService } from '../channels/channels.ts';
import { badField, unavailable } from '../errors.ts';
import type { Bus } from '../log/bus.ts';
import {
  type AlarmAction,
  type AlarmOutcome,
  type AlarmPlace,
  belfryAsActor,
  type History,
  type HistoryRecord,
} from '../log/log.ts';
import type { TenantId } from '../log/route.ts';
import type { PanelAddress } from '../log/target.ts';
import { join, type Query } from '../search/search-query.ts';

export interface AlarmsContext {
  readonly history: Pick<History, 'alarms' | 'recordsAt' | 'search' | 'act'>;
  readonly bus: Pick<Bus, 'publish'>;
  readonly channels: Pick<ChannelService, 'wake'>;
  readonly now: () => number;
}

export interface AlarmQuery {
  /** The alarms whose standing notification matches. */
  readonly query: Query;
  readonly states: readonly StandingState[];
  readonly signal?: AbortSignal;
}

/** In the order of a list: the place after which the next page begins. */
export type AlarmCursor = Pick<AlarmPlace, 'rank' | 'since' | 'position'>;

export interface AlarmList {
  readonly records: readonly HistoryRecord[];
  readonly counts: Readonly<Record<StandingState, number>>;
  readonly next: AlarmCursor | null;
}

/** A page of alarms: by rank, then those that began last first. `counts`: of all that match, in each state. */
export async function listAlarms(
  context: AlarmsContext,
  tenant: TenantId,
  { states, limit, after, ...wanted }: AlarmQuery & { readonly limit: number; readonly after?: AlarmCursor },
): Promise<AlarmList> {
  const places = await matchingPlaces(context, tenant, wanted);
  const counts = { open: 0, acknowledged: 0, shelved: 0, suppressed: 0 };
  for (const { state } of places) counts[state] += 1;
  const rest = places.filter(
    (place) => states.includes(place.state) && (after === undefined || comparePlaces(place, after) > 0),
  );
  const page = rest.slice(0, limit);
  const records = await context.history.recordsAt(
    tenant,
    page.map(({ position }) => position),
  );
  return { records, counts, next: rest.length > limit ? (page.at(-1) as AlarmPlace) : null };
}

/** Negative: `a` is before `b` in a list. */
function comparePlaces(a: AlarmCursor, b: AlarmCursor): number {
  return b.rank - a.rank || b.since - a.since || b.position - a.position;
}

/** Records read at once for a query. */
const searchedAtOnce = 1_000;

async function matchingPlaces(
  { history, now }: AlarmsContext,
  tenant: TenantId,
  { query, signal }: Omit<AlarmQuery, 'states'>,
): Promise<readonly AlarmPlace[]> {
  const places = await history.alarms(tenant, now());
  if (query.kind === 'all' || places.length === 0) return places;
  const matching = new Set<number>();
  const standing = join('and', [query, { kind: 'is', states: ['live', 'shelved', 'suppressed'] }]);
  const endsAt = now() + limits.searchMs;
  let before: number | undefined;
  do {
    const timeoutMs = endsAt - now();
    if (timeoutMs <= 0) throw unavailable('the search took too long: ask for fewer alarms');
    const page = await history.search(tenant, standing, {
      ...{ limit: searchedAtOnce, now: now(), timeoutMs },
      ...(before !== undefined && { before }),
      ...(signal && { signal }),
    });
    for (const { position } of page.records) matching.add(position);
    before = page.next ?? undefined;
  } while (before !== undefined);
  return places.filter(({ position }) => matching.has(position));
}

/** Alarms that are changed in one transaction: other tenants have their turn after it. */
const changedAtOnce = 200;

/** Applies an action to alarms, named by the ids of any of their notifications. The answers are in the order of `ids`. */
export async function actOnAlarms(
  context: AlarmsContext,
  tenant: TenantId,
  ids: readonly string[],
  action: AlarmAction,
  within?: PanelAddress,
): Promise<AlarmOutcome[]> {
  const outcomes: AlarmOutcome[] = [];
  for (let from = 0; from < ids.length; from += changedAtOnce) {
    const some = await context.history.act(tenant, ids.slice(from, from + changedAtOnce), action, within);
    outcomes.push(...some);
    const entries = some.flatMap((outcome) => (outcome.kind === 'done' ? outcome.entry : []));
    if (entries.length > 0) context.bus.publish(tenant, entries);
    if (entries.length > 0 && action.kind !== 'assign') context.channels.wake(tenant);
  }
  return outcomes;
}

/**
 * The ids of all alarms that match.
 * @throws AppError `bad-request` when these are more than `limits.alarmsAtOnce`.
 */
export async function alarmIds(
  context: AlarmsContext,
  tenant: TenantId,
  { states, ...wanted }: AlarmQuery,
): Promise<string[]> {
  const matching = await matchingPlaces(context, tenant, wanted);
  const places = matching.filter(({ state }) => states.includes(state));
  if (places.length > limits.alarmsAtOnce)
    throw badField(
      'q',
      `matches ${places.length} alarms, and one call changes at most ${limits.alarmsAtOnce}: narrow the search`,
    );
  const ids: string[] = [];
  for (let from = 0; from < places.length; from += limits.alarmPage) {
    const positions = places.slice(from, from + limits.alarmPage).map(({ position }) => position);
    for (const { id } of await context.history.recordsAt(tenant, positions)) ids.push(id);
  }
  return ids;
}

const returnsAtOnce = 200;

/** Opens the alarms whose shelf or acknowledgement has ended. On several nodes each of them may call it: the first one counts. */
export async function openReturned(
  context: AlarmsContext & { readonly history: Pick<History, 'dueReturns'> },
  stopped: () => boolean,
): Promise<void> {
  for (;;) {
    const at = context.now();
    const due = await context.history.dueReturns(at, returnsAtOnce);
    for (const [tenant, ofTenant] of Map.groupBy(due, (each) => each.tenant))
      for (const [kind, some] of Map.groupBy(ofTenant, (each) => each.kind)) {
        const ids = some.map(({ id }) => id);
        await actOnAlarms(context, tenant, ids, { kind, at, by: belfryAsActor, isDue: true });
      }
    if (due.length < returnsAtOnce || stopped()) return;
  }
}
