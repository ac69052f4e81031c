import type { FairQueue } from '#core/limits/concurrency.ts';
import type {
  AppendTerms,
  History,
  NotificationDraft,
  RecordForm,
  SearchOptions,
  SearchPage,
} from '#core/log/log.ts';
import type { ReceiptStore } from '#core/log/receipts.ts';
import type { Route } from '#core/log/route.ts';
import type { Statistics } from '#core/log/statistics.ts';
import { getOrMake } from '#core/maps.ts';
import { isShown, isUuid, toRepeat } from '../log/history-rows.ts';
import { countBudgetMs, Tally } from '../search/log-search.ts';
import type { EscalationTerms } from './log/escalations.ts';
import type { DraftRow } from './log/rows.ts';
import type { CountRequest } from './search/statistics.ts';
import type { LogReads } from './threads/reader-thread.ts';
import type { Remote } from './threads/thread.ts';
import type { WriteQueue } from './threads/write-queue.ts';

/** The longest step of a search on the search thread. Another tenant's search waits at most this long for it. */
const stepMs = 100;

export interface SqliteThreads {
  readonly queue: WriteQueue;
  /** For short reads. */
  readonly reader: Remote<LogReads>;
  /** For searches and other long work, which waits in `searches` for its turn. */
  readonly searcher: Remote<LogReads>;
  readonly searches: FairQueue;
}

/** The log on SQLite: writes go through the one queue, reads to two threads, so that a long search delays no stream. */
export function createSqliteHistory({
  queue,
  reader,
  searcher,
  searches,
}: SqliteThreads): History & ReceiptStore {
  const { bounds, heads, readAfter, find, findLive, oldestRevision, size, stayingBeyond } = reader;
  const { dueReturns, dueSteps, entriesOf, suppressingRules, titles } = reader;
  const toRow = draftRows();
  return {
    ...{
      bounds,
      heads,
      readAfter,
      find,
      findLive,
      oldestRevision,
      size,
      stayingBeyond,
      dueReturns,
      dueSteps,
      entriesOf,
      suppressingRules,
      titles,
    },
    live: (tenant, panel, now, limit) => reader.live(tenant, panel, { now, limit }),
    readLive: (tenant, positions, now, chars) => reader.readLive(tenant, positions, { now, chars }),
    of: reader.receiptsOf,
    firstShown: (tenant, ids) => searches.run(tenant, () => searcher.firstShown(tenant, ids)),

    async append(tenant, draft, idempotency, terms) {
      const result = await queue.push('append', tenant, toRow(draft), idempotency, toEscalation(terms));
      const { id } = draft;
      if (typeof result === 'number')
        return { kind: 'stored', id, entries: [{ ...draft, kind: 'notification', position: result }] };
      if (result.kind !== 'stored') return result;
      const { clears, position, acknowledgement, endsDelivered, off } = result;
      const route = off ? { ...draft.route, ...off } : draft.route;
      const stored = [...clears, { ...draft, route, kind: 'notification' as const, position }];
      return {
        kind: 'stored',
        id,
        entries: acknowledgement ? [...stored, acknowledgement] : stored,
        ...(endsDelivered && { endsDelivered }),
      };
    },

    async findRepeat(tenant, idempotency, now) {
      return toRepeat(await reader.findRetry(tenant, idempotency.key, now), idempotency);
    },

    async clear(tenant, id, by, at, isQuiet = false) {
      if (!isUuid(id)) return { kind: 'not-found' };
      return queue.push('clear', tenant, id.toLowerCase(), { by, at, isQuiet });
    },

    async act(tenant, ids, action, within) {
      const known = ids.map((id) => id.toLowerCase());
      return queue.push('act', tenant, known, action, within);
    },

    async updateSuppression(now, limit) {
      return (await reader.isSuppressionDue(now)) ? queue.push('updateSuppression', now, limit) : new Map();
    },
    async endSuppressing(tenant, rule, revision) {
      await queue.push('endSuppressing', tenant, rule, revision);
    },
    findCause: (tenant, keys, now, except) => reader.causeOf(tenant, keys, { now, except }),
    suppression: (tenant, now) => searches.run(tenant, () => searcher.suppression(tenant, now)),
    settleStep: async (due, at) => void (await queue.push('settleStep', due, at)),

    alarms: (tenant, wanted) => searches.run(tenant, () => searcher.alarms(tenant, wanted)),
    recordsAt: reader.recordsAt,

    async record(tenant, panel, given, mode) {
      const receipts = given.filter(({ id }) => isUuid(id));
      return receipts.length === 0 ? [] : queue.push('receipts', tenant, panel, receipts, mode);
    },

    search(tenant, query, { signal, ...options }) {
      const step = searchInSteps(options, (part) => searcher.search({ tenant, query, options: part }));
      return searches.run(tenant, step, signal);
    },

    async prune(tenant, { olderThan, keep }, now) {
      const step = await searcher.retentionStep(tenant, { olderThan, keep, now });
      if (!step) return 0;
      while (await queue.push('retain', tenant, step, now));
      return step.first - step.from;
    },
  };
}

const toEscalation = ({ escalation, step = 0, replaces }: AppendTerms = {}): EscalationTerms | null =>
  escalation || replaces !== undefined
    ? { escalation: escalation ? JSON.stringify(escalation) : null, step, replaces: replaces ?? null }
    : null;

/** Converts drafts to rows. Routing returns the same object for equal decisions, so its JSON is made once. */
function draftRows(): (draft: NotificationDraft) => DraftRow {
  const texts = new WeakMap<Route, string>();
  return (draft) => toDraftRow(draft, getOrMake(texts, draft.route, JSON.stringify));
}

/** `route`: the draft's route as JSON. */
export const toDraftRow = (draft: NotificationDraft, route: string): DraftRow => ({
  ...draft,
  route,
  shown: isShown(draft),
});

/**
 * A search in steps. Each step is a search with a short time limit, and continues where the previous one ended. The last step
 * returns the whole page: when it is full, at the beginning of the log, or when the time is over.
 */
function searchInSteps<Form extends RecordForm>(
  { limit, timeoutMs = Number.POSITIVE_INFINITY, ...options }: Omit<SearchOptions<Form>, 'signal'>,
  searchPart: (options: SearchOptions<Form>) => Promise<SearchPage<RecordForm>>,
): () => Promise<SearchPage<Form> | undefined> {
  const endsAt = performance.now() + timeoutMs;
  const records: SearchPage<Form>['records'][number][] = [];
  let before = options.before;
  let head: number | undefined;
  return async () => {
    const wanted = {
      ...options,
      limit: limit - records.length,
      timeoutMs: Math.min(stepMs, timeoutMs),
      ...(before !== undefined && { before }),
    };
    // Results of the thread have no type parameter.
    const part = (await searchPart(wanted)) as SearchPage<Form>;
    records.push(...part.records);
    head ??= part.head;
    if (part.searchedTo !== null && performance.now() < endsAt) {
      before = part.next ?? undefined;
      return undefined;
    }
    return { ...part, records, head };
  };
}

/** The longest step of a count on the search thread. A search waits at most this long for it. */
const countStepMs = 30;

/** Statistics on SQLite. The search thread does counts that may take long, so that they delay no stream. */
export function createSqliteStatistics({ searcher, searches }: Omit<SqliteThreads, 'queue'>): Statistics {
  return {
    busiestHosts: (tenant, from, limit) =>
      searches.run(tenant, () => searcher.busiestHosts(tenant, from, limit)),

    // It takes a few milliseconds and needs no time limit.
    values: (tenant, { signal, ...wanted }) =>
      searches.run(tenant, () => searcher.values(tenant, wanted), signal),

    count(tenant, query, times, { now, timeoutMs = Number.POSITIVE_INFINITY, signal }) {
      const tally = new Tally(times);
      const endsAt = performance.now() + timeoutMs;
      let leftMs = countBudgetMs;
      let next: number | undefined;
      let store: CountRequest['store'];
      const step = async () => {
        const request = {
          ...{ ...times, now, timeoutMs: countStepMs },
          ...(next !== undefined && { next }),
          ...(store && { store }),
        };
        const part = await searcher.count({ tenant, query, request });
        tally.addAll(part.counts);
        leftMs -= part.tookMs;
        store = part.store;
        next = part.next ?? undefined;
        const isOver = next === undefined || leftMs <= 0 || performance.now() >= endsAt;
        return isOver ? { counts: tally.rows(), searchedTo: part.searchedTo } : undefined;
      };
      return searches.run(tenant, step, signal);
    },
  };
}
