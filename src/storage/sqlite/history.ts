import type {
  Acknowledged,
  AcknowledgeOutcome,
  AppendOutcome,
  ClearOutcome,
  History,
  HistoryRecord,
  Idempotency,
  LogBounds,
  LogPage,
  NotificationDraft,
  Route,
  SearchOptions,
  SearchPage,
  TenantId,
} from '#core/ports.ts';
import type { ReceiptRow, ReceiptStore, ReceiptWrite } from '#core/receipts.ts';
import type { Query } from '#core/search/search-query.ts';
import type { PanelAddress } from '#core/target.ts';
import { isEmpty } from '#core/target.ts';
import type { FairQueue } from '../fair-queue.ts';
import { toRepeat } from '../history-rows.ts';
import type { DraftRow } from './jobs.ts';
import type { RetentionStep } from './retention.ts';
import type { WorkerClient } from './thread.ts';
import type { WriteQueue } from './write-queue.ts';

/** What a search may take of the search thread at once: another tenant's search waits no longer for it. */
const stepMs = 100;

export interface SqliteThreads {
  readonly queue: WriteQueue;
  /** For short reads, and for searches; each starts with its first call. */
  readonly reader: () => WorkerClient;
  readonly searcher: () => WorkerClient;
  /** What is done on the thread for searches waits here for its turn. */
  readonly searches: FairQueue;
}

/** The log on SQLite: writes go through the one queue, reads to two threads, so that a long search delays no stream. */
export class SqliteHistory implements History, ReceiptStore {
  readonly #queue: WriteQueue;
  readonly #reader: () => WorkerClient;
  readonly #searcher: () => WorkerClient;
  readonly #searches: FairQueue;
  /** Routing hands out the same object for the same decision, so its text is made once. */
  readonly #routeTexts = new WeakMap<Route, string>();

  constructor({ queue, reader, searcher, searches }: SqliteThreads) {
    this.#queue = queue;
    this.#reader = reader;
    this.#searcher = searcher;
    this.#searches = searches;
  }

  async append(
    tenant: TenantId,
    draft: NotificationDraft,
    idempotency: Idempotency | null,
  ): Promise<AppendOutcome> {
    const result = await this.#queue.push({ kind: 'append', tenant, draft: this.#toRow(draft), idempotency });
    if (result.kind !== 'stored') return result;
    return {
      kind: 'stored',
      id: draft.id,
      entries: [...result.clears, { ...draft, kind: 'notification', position: result.position }],
    };
  }

  async findRepeat(tenant: TenantId, idempotency: Idempotency, now: number) {
    const retry = { tenant, key: idempotency.key, now };
    return toRepeat(await this.#reader().call('findRetry', retry), idempotency);
  }

  async clear(tenant: TenantId, id: string, by: string, at: number): Promise<ClearOutcome> {
    const result = await this.#queue.push({ kind: 'clear', tenant, id: id.toLowerCase(), by, at });
    return result.kind === 'cleared' ? { kind: 'cleared', entry: result.clear } : result;
  }

  acknowledge(tenant: TenantId, id: string, given: Acknowledged): Promise<AcknowledgeOutcome> {
    return this.#queue.push({ kind: 'acknowledge', tenant, id: id.toLowerCase(), given });
  }

  bounds(tenant: TenantId): Promise<LogBounds> {
    return this.#reader().call('bounds', { tenant });
  }

  async heads(tenants: readonly TenantId[]): Promise<ReadonlyMap<TenantId, number>> {
    return new Map(await this.#reader().call<[TenantId, number][]>('heads', { tenants }));
  }

  readAfter(tenant: TenantId, position: number, limit: number): Promise<LogPage> {
    return this.#reader().call('readAfter', { tenant, position, limit });
  }

  live(tenant: TenantId, panel: PanelAddress, now: number, limit: number): ReturnType<History['live']> {
    return this.#reader().call('live', { tenant, panel, now, limit });
  }

  readLive(
    tenant: TenantId,
    positions: readonly number[],
    now: number,
    chars: number,
  ): ReturnType<History['readLive']> {
    return this.#reader().call('readLive', { tenant, positions, now, chars });
  }

  find(tenant: TenantId, id: string): Promise<HistoryRecord | undefined> {
    return this.#reader().call('find', { tenant, id });
  }

  search(tenant: TenantId, query: Query, { signal, ...options }: SearchOptions): Promise<SearchPage> {
    const step = searchInSteps(options, (part) =>
      this.#searcher().call<SearchPage>('search', { tenant, query, options: part }),
    );
    return this.#searches.run(tenant, step, signal);
  }

  async prune(
    tenant: TenantId,
    { olderThan, keep }: { olderThan: number | null; keep: number | null },
    now: number,
  ): Promise<number> {
    const bounds = { olderThan, keep, now };
    const step = await this.#searcher().call<RetentionStep | undefined>('retentionStep', { tenant, bounds });
    if (!step) return 0;
    while ((await this.#queue.push({ kind: 'retain', tenant, step, now })).more);
    return step.first - step.from;
  }

  oldestRevision(tenant: TenantId): Promise<number | undefined> {
    return this.#reader().call('oldestRevision', { tenant });
  }

  size(tenant: TenantId): Promise<{ notifications: number; bytes: number }> {
    return this.#reader().call('size', { tenant });
  }

  record(tenant: TenantId, panel: PanelAddress, receipts: readonly ReceiptWrite[]) {
    return this.#queue.push({ kind: 'receipts', tenant, panel, receipts });
  }

  of(tenant: TenantId, id: string): Promise<readonly ReceiptRow[]> {
    return this.#reader().call('receiptsOf', { tenant, id });
  }

  #toRow(draft: NotificationDraft): DraftRow {
    const { route } = draft;
    let text = this.#routeTexts.get(route);
    if (text === undefined) {
      text = JSON.stringify(route);
      this.#routeTexts.set(route, text);
    }
    return toDraftRow(draft, text);
  }
}

/** `route`: the draft's as JSON. */
export function toDraftRow(draft: NotificationDraft, route: string): DraftRow {
  const { muted, target } = draft.route;
  return { ...draft, route, shown: !muted && !isEmpty(target) && draft.throttledOn === null, muted };
}

/**
 * A search as steps, each a page with little time that goes on where the one before ended. A step answers the whole page
 * once it is full, the log's beginning is reached, or the time is over.
 */
function searchInSteps(
  { limit, timeoutMs = Number.POSITIVE_INFINITY, ...options }: Omit<SearchOptions, 'signal'>,
  searchPart: (options: SearchOptions) => Promise<SearchPage>,
): () => Promise<SearchPage | undefined> {
  const endsAt = performance.now() + timeoutMs;
  const records: HistoryRecord[] = [];
  let before = options.before;
  let head: number | undefined;
  return async () => {
    const wanted = {
      ...options,
      limit: limit - records.length,
      timeoutMs: Math.min(stepMs, timeoutMs),
      ...(before !== undefined && { before }),
    };
    const part = await searchPart(wanted);
    records.push(...part.records);
    head ??= part.head;
    if (part.searchedTo !== null && performance.now() < endsAt) {
      before = part.next ?? undefined;
      return undefined;
    }
    return { ...part, records, head };
  };
}
