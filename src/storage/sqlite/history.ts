import type {
  History,
  NotificationDraft,
  RecordForm,
  Route,
  SearchOptions,
  SearchPage,
} from '#core/ports.ts';
import type { ReceiptStore } from '#core/receipts.ts';
import { isEmpty } from '#core/target.ts';
import type { FairQueue } from '../fair-queue.ts';
import { toClearing, toRepeat } from '../history-rows.ts';
import type { DraftRow } from './log/rows.ts';
import type { LogReads } from './threads/reader-thread.ts';
import type { Remote } from './threads/thread.ts';
import type { WriteQueue } from './threads/write-queue.ts';

/** What a search may take of the search thread at once: another tenant's search waits no longer for it. */
const stepMs = 100;

export interface SqliteThreads {
  readonly queue: WriteQueue;
  /** For short reads. */
  readonly reader: Remote<LogReads>;
  /** For searches, and whatever else may take long: that waits in `searches` for its turn. */
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
  const { bounds, heads, readAfter, find, oldestRevision, size } = reader;
  const toRow = draftRows();
  return {
    ...{ bounds, heads, readAfter, find, oldestRevision, size },
    live: (tenant, panel, now, limit) => reader.live(tenant, panel, { now, limit }),
    readLive: (tenant, positions, now, chars) => reader.readLive(tenant, positions, { now, chars }),
    of: reader.receiptsOf,
    firstShown: (tenant, ids) => searches.run(tenant, () => searcher.firstShown(tenant, ids)),

    async append(tenant, draft, idempotency) {
      const result = await queue.push('append', tenant, toRow(draft), idempotency);
      if (result.kind !== 'stored') return result;
      const { clears, position, acknowledgement } = result;
      const stored = [...clears, { ...draft, kind: 'notification' as const, position }];
      return {
        kind: 'stored',
        id: draft.id,
        entries: acknowledgement ? [...stored, acknowledgement] : stored,
      };
    },

    async findRepeat(tenant, idempotency, now) {
      return toRepeat(await reader.findRetry(tenant, idempotency.key, now), idempotency);
    },

    clear: (tenant, id, by, at) => queue.push('clear', tenant, id.toLowerCase(), { ...toClearing(by), at }),

    acknowledge: (tenant, id, given) => queue.push('acknowledge', tenant, id.toLowerCase(), given),

    record: (tenant, panel, receipts) => queue.push('receipts', tenant, panel, receipts),

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

/** Makes rows of drafts. Routing hands out the same object for the same decision, so its text is made once. */
function draftRows(): (draft: NotificationDraft) => DraftRow {
  const texts = new WeakMap<Route, string>();
  return (draft) => {
    let text = texts.get(draft.route);
    if (text === undefined) {
      text = JSON.stringify(draft.route);
      texts.set(draft.route, text);
    }
    return toDraftRow(draft, text);
  };
}

/** `route`: the draft's as JSON. */
export function toDraftRow(draft: NotificationDraft, route: string): DraftRow {
  const { muted, target } = draft.route;
  return { ...draft, route, shown: !muted && !isEmpty(target) && draft.throttledOn === null };
}

/**
 * A search as steps, each a page with little time that goes on where the one before ended. A step answers the whole page
 * once it is full, the log's beginning is reached, or the time is over.
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
    // The thread's answers have no type parameter.
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
