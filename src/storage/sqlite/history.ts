import { addressKey } from '../../core/addresses.ts';
import type {
  AppendOutcome,
  ClearOutcome,
  History,
  HistoryRecord,
  Idempotency,
  LogBounds,
  LogPage,
  NotificationDraft,
  PanelAddress,
  ReceiptRow,
  ReceiptStore,
  ReceiptWrite,
  Route,
  SearchOptions,
  SearchPage,
  TenantId,
} from '../../core/ports.ts';
import type { Query } from '../../core/search.ts';
import { isEmpty } from '../../core/target.ts';
import type { DraftRow } from './jobs.ts';
import type { LiveSet } from './log-reader.ts';
import type { Thread } from './thread.ts';
import type { WriteQueue } from './write-queue.ts';

/** The log on SQLite: writes go through the one queue, reads to two threads, so that a long search delays no stream. */
export class SqliteHistory implements History, ReceiptStore {
  readonly #queue: WriteQueue;
  readonly #reader: () => Thread;
  readonly #searcher: () => Thread;
  /** Routing hands out the same object for the same decision, so its text is made once. */
  readonly #routeTexts = new WeakMap<Route, string>();

  constructor(queue: WriteQueue, reader: () => Thread, searcher: () => Thread) {
    this.#queue = queue;
    this.#reader = reader;
    this.#searcher = searcher;
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
      entries: [...result.clears, { kind: 'notification', position: result.position, ...draft }],
    };
  }

  async clear(tenant: TenantId, id: string, by: string, at: number): Promise<ClearOutcome> {
    const result = await this.#queue.push({ kind: 'clear', tenant, id, by, at });
    return result.kind === 'cleared' ? { kind: 'cleared', entry: result.clear } : result;
  }

  bounds(tenant: TenantId): Promise<LogBounds> {
    return this.#reader().call('bounds', { tenant });
  }

  readAfter(tenant: TenantId, position: number, limit: number): Promise<LogPage> {
    return this.#reader().call('readAfter', { tenant, position, limit });
  }

  live(tenant: TenantId, panel: PanelAddress, now: number, limit: number): Promise<LiveSet> {
    return this.#reader().call('live', { tenant, panel, now, limit });
  }

  find(tenant: TenantId, id: string): Promise<HistoryRecord | undefined> {
    return this.#reader().call('find', { tenant, id });
  }

  search(tenant: TenantId, query: Query, options: SearchOptions): Promise<SearchPage> {
    return this.#searcher().call('search', { tenant, query, options });
  }

  async prune(
    tenant: TenantId,
    { olderThan, keep }: { olderThan: number | null; keep: number | null },
    now: number,
  ): Promise<number> {
    const { dropped } = await this.#queue.push({ kind: 'prune', tenant, olderThan, keep, now });
    return dropped;
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
    const { route, ...rest } = draft;
    let text = this.#routeTexts.get(route);
    if (text === undefined) {
      text = JSON.stringify(route);
      this.#routeTexts.set(route, text);
    }
    return {
      ...rest,
      route: text,
      shown: !route.muted && !isEmpty(route.target) && draft.throttledOn === null,
      muted: route.muted,
      ipKey: draft.ip === null ? null : addressKey(draft.ip),
      sourceIpKey: addressKey(draft.sourceIp),
    };
  }
}
