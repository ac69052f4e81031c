import { Type } from 'typebox';
import { type Alarm, AlarmDetail, type AlarmEvent, AlarmPage } from '#contract/history/alarm.ts';
import { type StandingState, standingStates } from '#contract/history/alarm-states.ts';
import { runbookLinkOf } from '#contract/history/labels.ts';
import { limits } from '#contract/limits.ts';
import { builtInStyles } from '#contract/routing/level-styles.ts';
import { alarmNotifications } from '#core/alarms/notifications.ts';
import { listAlarms } from '#core/alarms/standing.ts';
import { suppressedByCause } from '#core/alarms/suppression.ts';
import { isResolve } from '#core/channels/channels.ts';
import { badRequest, notFound } from '#core/errors.ts';
import type { AlarmCursor } from '#core/log/alarm-places.ts';
import { historyView } from '#core/log/history-view.ts';
import type { AlarmMemory, Entry, HistoryRecord, Suppression } from '#core/log/log.ts';
import type { TenantId } from '#core/log/route.ts';
import { isEscalation } from '#core/log/take-off.ts';
import { instructionsOf } from '#core/routing/instructions.ts';
import { iso, isoOrNull } from '#core/time/time.ts';
import type { Authenticator } from '../callers/auth.ts';
import { EventStream, IdPath, limitUpTo, readLimit, route } from '../openapi/route-schemas.ts';
import { connectionSignal } from '../requests.ts';
import type { App, Services } from '../services.ts';
import { answerSseHead, begin, openSse } from '../sse-response.ts';
import { AlarmChangeStream } from './alarm-change-stream.ts';
import { escalationView } from './notifications.ts';
import { q, queryOf } from './searches.ts';

/** Panels named with an alarm, its notifications, and what was done about it, at the most. */
const [namedPanels, detailNotifications, detailEvents] = [50, 100, 100];

/** What stands now: the list of alarms, one of them, and following them. */
export function alarmRoutes(app: App, services: Services, authenticator: Authenticator): void {
  app.get(
    '/api/alarms',
    route('viewer', {
      summary: 'What stands now: alarms, the highest level first, then those that began last',
      description:
        'An alarm is what the notifications of one key share while it stands; a notification without a key is an alarm of its own. Without `state`, those that are open or acknowledged.',
      querystring: Type.Object({
        q,
        state: Type.Optional(
          Type.String({ description: `One or more of ${standingStates.join(', ')}, with commas between.` }),
        ),
        limit: limitUpTo(limits.alarmPage),
        cursor: Type.Optional(Type.String({ description: 'nextCursor of the page before.' })),
      }),
      response: { 200: AlarmPage },
      expensive: 'search',
    }),
    async (request) => {
      const { tenant } = request.principal;
      const { query } = request;
      const limit = readLimit(query.limit, limits.alarmPage);
      const after = readCursor(query.cursor);
      const page = await listAlarms(services, tenant, {
        query: await queryOf(services, tenant, query.q),
        states: readStates(query.state),
        limit,
        signal: connectionSignal(request),
        ...(after && { after }),
      });
      return {
        alarms: await alarmViews(services, tenant, page.records),
        counts: page.counts,
        nextCursor: page.next && [page.next.rank, page.next.since, page.next.position].join('.'),
      };
    },
  );

  app.get(
    '/api/alarms/stream',
    route('viewer', {
      summary: 'Learn when the list of alarms may have changed (Server-Sent Events)',
      description: 'Events: ready, then change with the head of the log, at most some a second; heartbeats.',
      response: { 200: EventStream },
      expensive: 'history stream',
    }),
    async (request, reply) => {
      if (request.method === 'HEAD') return answerSseHead(reply);
      const sink = openSse(request, reply);
      const stream = new AlarmChangeStream(services, request.principal.tenant, sink);
      const stopChecking = authenticator.watch(request, () => sink.end());
      sink.onGone(() => {
        stopChecking();
        stream.close();
      });
      return begin(sink, stream.started, reply);
    },
  );

  app.get(
    '/api/alarms/:id',
    route('viewer', {
      summary: 'An alarm, its notifications, and what was done about it',
      description: 'The id of any of its notifications names it.',
      params: IdPath,
      response: { 200: AlarmDetail },
    }),
    async ({ principal: { tenant }, params }) => alarmDetail(services, tenant, params.id),
  );
}

function readStates(text: string | undefined): readonly StandingState[] {
  if (text === undefined || text === '') return ['open', 'acknowledged'];
  return text.split(',').map((name) => {
    const state = standingStates.find((each) => each === name.trim());
    if (!state) throw badRequest(`state must be one or more of ${standingStates.join(', ')}`);
    return state;
  });
}

function readCursor(text: string | undefined): AlarmCursor | undefined {
  if (text === undefined || text === '') return undefined;
  const match = /^(-?[0-9]{1,9})\.([0-9]{1,16})\.([0-9]{1,16})$/.exec(text);
  if (!match) throw badRequest('cursor must be nextCursor of the page before');
  const [rank, since, position] = match.slice(1).map(Number) as [number, number, number];
  return { rank, since, position };
}

/** Alarms as the API returns them. */
async function alarmViews(
  services: Services,
  tenant: TenantId,
  records: readonly HistoryRecord[],
): Promise<Alarm[]> {
  const { history, receipts, tenancy, now } = services;
  const shown = records.filter((record) => record.receipts.shown > 0).map(({ id }) => id);
  const [snapshot, rows, suppressed] = await Promise.all([
    tenancy.get(tenant),
    receipts.of(tenant, shown),
    history.suppression(tenant, now()),
  ]);
  const suppressedBy = suppressedByCause(suppressed);
  const causeIds = records.flatMap(({ alarm }) => alarm?.suppressed?.by ?? []);
  const causes = await history.titles(tenant, [...new Set(causeIds)]);
  // Of what stands, this reads nothing more.
  const escalations = await Promise.all(records.map((each) => escalationView(services, tenant, each)));
  const at = now();
  return records.map((record, i) => {
    const { state, ...notification } = historyView(record, snapshot, at);
    const memory = record.alarm ?? unremembered(record);
    const { count, highestLevel, shelved, suppressed: by, owner } = memory;
    const isStanding = (state === 'live' || state === 'shelved' || state === 'suppressed') && isAlarm(record);
    const off = shelved ? 'shelved' : by && 'suppressed';
    const panels = (rows.get(record.id) ?? []).flatMap(({ panelId, shownAt }) => {
      const panel = shownAt === null ? undefined : snapshot.panels.get(panelId);
      return panel ? [{ id: panel.id, name: panel.name }] : [];
    });
    return {
      ...notification,
      state: isStanding ? (off ?? (record.acknowledged ? 'acknowledged' : 'open')) : 'ended',
      ...{ since: iso(memory.since), count, highestLevel },
      shelved: shelved && { ...shelved, at: iso(shelved.at), until: iso(shelved.until) },
      owner,
      suppressedBy: by && { id: by.by, title: causes.get(by.by) ?? '' },
      // What a suppressed one suppresses counts for the cause of that.
      suppresses: record.alarm && !by ? suppressedBy(record.position).length : 0,
      escalation: escalations[i] as Alarm['escalation'],
      instructions: instructionsOf(record, snapshot.router),
      runbook: runbookLinkOf(record) ?? null,
      shownOn: panels.slice(0, namedPanels),
    };
  });
}

/** Below `info`, nothing is wrong. */
const isAlarm = ({ rank }: HistoryRecord) => rank >= builtInStyles.info.rank;

/** What is known of one that does not stand. */
const unremembered = ({ receivedAt: since, level: highestLevel, rank }: HistoryRecord): AlarmMemory => ({
  ...{ since, count: 1, highestLevel, highestRank: rank },
  ...{ shelved: null, suppressed: null, owner: null },
});

/** The alarm of a notification, by the last of its notifications. */
async function alarmDetail(services: Services, tenant: TenantId, id: string): Promise<AlarmDetail> {
  const { history, tenancy, now } = services;
  const given = await history.find(tenant, id);
  if (!given) throw notFound('alarm');
  const records = await alarmNotifications(services, tenant, given);
  const snapshot = await tenancy.get(tenant);
  const ids = records.map((record) => record.id);
  const entries = await history.entriesOf(tenant, ids, detailEvents);
  const happened = [...entries, ...suppressedArrivals(records, entries)].sort(
    (a, b) => b.position - a.position,
  );
  const causeIds = happened.flatMap((entry) => (entry.kind === 'suppression' ? entry.by : []));
  const causes = await history.titles(tenant, [...new Set(causeIds)]);
  const [newest = given] = records;
  const [view] = await alarmViews(services, tenant, [newest]);
  const at = now();
  return {
    ...(view as Alarm),
    ...((newest.alarm === null || isResolve(newest)) && endedAlarm(records)),
    suppressedAlarms: view?.suppresses ? await suppressedAlarms(services, tenant, newest) : [],
    notifications: records.slice(0, detailNotifications).map((record) => historyView(record, snapshot, at)),
    events: happened.slice(0, detailEvents).flatMap((entry) => eventView(entry, causes)),
  };
}

/** The first of the alarms that one suppresses. */
async function suppressedAlarms(
  { history, now }: Services,
  tenant: TenantId,
  { position }: HistoryRecord,
): Promise<AlarmDetail['suppressedAlarms']> {
  const suppressed = suppressedByCause(await history.suppression(tenant, now()))(position);
  const first = suppressed.slice(0, detailNotifications).map((each) => each.position);
  const records = await history.recordsAt(tenant, first);
  return records.map(({ id, level, title, host }) => ({ id, level, title, host }));
}

/** What an alarm that has ended is known by: its notifications, as far as history has them. */
function endedAlarm(records: readonly HistoryRecord[]) {
  const highest = records.reduce((high, record) => (record.rank > high.rank ? record : high));
  return {
    since: iso(Math.min(...records.map(({ receivedAt }) => receivedAt))),
    count: Math.max(1, records.filter((record) => !isEscalation(record)).length),
    highestLevel: highest.level,
  };
}

/**
 * The notifications that were suppressed when they came, as entries: their routes say so, and the log has none. Not those of an alarm
 * that was suppressed already.
 */
function suppressedArrivals(records: readonly HistoryRecord[], entries: readonly Entry[]): Suppression[] {
  const arrivals: Suppression[] = [];
  let isSuppressed = false;
  for (const entry of [...records, ...entries].sort((a, b) => a.position - b.position)) {
    const { id, position, route } = entry;
    if (entry.kind === 'notification' && route.suppressed && !isSuppressed)
      arrivals.push({ kind: 'suppression', position, id, at: entry.receivedAt, ...route.suppressed, route });
    if (entry.kind === 'notification') isSuppressed = route.suppressed !== undefined;
    else if (entry.kind === 'suppression') isSuppressed = true;
    else if (entry.kind === 'return' || entry.kind === 'shelving') isSuppressed = false;
  }
  return arrivals;
}

const events = {
  acknowledgement: 'acknowledge',
  shelving: 'shelve',
  suppression: 'suppress',
  assignment: 'assign',
  clear: 'clear',
} as const;
const returns = { acknowledged: 'unacknowledge', shelved: 'unshelve', suppressed: 'unsuppress' } as const;

/** `causes`: titles of the alarms that suppressed it, by their ids. */
function eventView(entry: Entry, causes: ReadonlyMap<string, string>): AlarmDetail['events'] {
  if (entry.kind === 'notification') return [];
  const event: AlarmEvent = entry.kind === 'return' ? returns[entry.from] : events[entry.kind];
  const { id, at, by, note: given = null, until } = { note: null, until: undefined, ...entry };
  const note =
    entry.kind === 'assignment'
      ? (entry.owner?.name ?? null)
      : entry.kind === 'suppression'
        ? (causes.get(by) ?? null)
        : given;
  return [{ event, id, at: iso(at), by, note, until: isoOrNull(until) }];
}
