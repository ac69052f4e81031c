/**
 * What stands now: the list of alarms, and what people do about them. An alarm is what the notifications of one key share while it
 * stands, or one notification without a key. It is open, acknowledged or shelved until it ends; a time that is over opens it again.
 * An acknowledgement without a time of its own has that of the last rule that says so, else that of the level: the store knows both.
 */
import type { StandingState } from '#contract/history/alarm-states.ts';
import { limits } from '#contract/limits.ts';
import type { ChannelService } from '../channels/channels.ts';
import { badField, unavailable } from '../errors.ts';
import type { AlarmCursor, AlarmPlace, AlarmPlaces, AlarmsWanted } from '../log/alarm-places.ts';
import type { Bus } from '../log/bus.ts';
import {
  type AlarmAction,
  type AlarmOutcome,
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

export interface AlarmList extends Pick<AlarmPlaces, 'counts'> {
  readonly records: readonly HistoryRecord[];
  readonly next: AlarmCursor | null;
}

/** A page of alarms: by rank, then those that began last first. `counts`: of all that match, in each state. */
export async function listAlarms(
  context: AlarmsContext,
  tenant: TenantId,
  { limit, after, ...wanted }: AlarmQuery & { readonly limit: number; readonly after?: AlarmCursor },
): Promise<AlarmList> {
  // One more than the limit shows that there is a next page.
  const { places, counts } = await alarmPlaces(context, tenant, {
    ...wanted,
    limit: limit + 1,
    ...(after && { after }),
  });
  const page = places.slice(0, limit);
  const records = await context.history.recordsAt(
    tenant,
    page.map(({ position }) => position),
  );
  return { records, counts, next: places.length > limit ? (page.at(-1) as AlarmPlace) : null };
}

async function alarmPlaces(
  context: AlarmsContext,
  tenant: TenantId,
  { query, signal, ...wanted }: AlarmQuery & Pick<AlarmsWanted, 'limit' | 'after'>,
): Promise<AlarmPlaces> {
  const among = query.kind === 'all' ? undefined : await standingAt(context, tenant, { query, signal });
  return context.history.alarms(tenant, { ...wanted, now: context.now(), ...(among && { among }) });
}

/** Positions read at once for a query. */
const searchedAtOnce = 1_000;

/** The positions of the standing notifications that match. */
async function standingAt(
  { history, now }: AlarmsContext,
  tenant: TenantId,
  { query, signal }: { readonly query: Query; readonly signal: AbortSignal | undefined },
): Promise<readonly number[]> {
  const positions: number[] = [];
  const standing = join('and', [query, { kind: 'is', states: ['live', 'shelved', 'suppressed'] }]);
  const endsAt = now() + limits.searchMs;
  let before: number | undefined;
  do {
    const timeoutMs = endsAt - now();
    if (timeoutMs <= 0) throw unavailable('the search took too long: ask for fewer alarms');
    const page = await history.search(tenant, standing, {
      ...{ form: 'position', limit: searchedAtOnce, now: now(), timeoutMs },
      ...(before !== undefined && { before }),
      ...(signal && { signal }),
    });
    positions.push(...page.records);
    before = page.next ?? undefined;
  } while (before !== undefined);
  return positions;
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
  wanted: AlarmQuery,
): Promise<string[]> {
  const limit = limits.alarmsAtOnce;
  const { places, counts } = await alarmPlaces(context, tenant, { ...wanted, limit });
  const matching = wanted.states.reduce((sum, state) => sum + counts[state], 0);
  if (matching > limits.alarmsAtOnce)
    throw badField(
      'q',
      `matches ${matching} alarms, and one call changes at most ${limits.alarmsAtOnce}: narrow the search`,
    );
  return places.map(({ id }) => id);
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
