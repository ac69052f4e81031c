/** Converts rows of the log to the types of core. Every reader of the log uses it. */
import type { CountedNotification, Entry, Notification, NotificationDraft } from '#core/log/log.ts';
import type { Route, TenantId } from '#core/log/route.ts';
import { getOrMake } from '#core/maps.ts';
import {
  columnList,
  type EntryColumns,
  isUuid,
  type NotificationColumns,
  rowBytesOver,
  rowBytesSqlOver,
  sharedFields,
  toChange,
} from '../../log/history-rows.ts';
import { LiveOrder } from './live-order.ts';
import { type Partition, type Statements, tablesOf } from './partitions.ts';

/** A text, or the number of one in the partition's dictionary. */
export type StoredText = number | string;

/** A row of a partition's log `n`, as {@link entryColumns} selects it. */
export interface EntryRow extends EntryColumns {
  readonly tenant: number;
  readonly id_time: number;
  readonly id_rest: Buffer;
  readonly route: number;
  /** Of an acknowledgement or shelf: until when; milliseconds from its time. */
  readonly lasts: number | null;
}

export interface NotificationRow extends EntryRow, NotificationColumns<StoredText> {
  readonly message: string;
  readonly ttl: number | null;
  readonly throttled_on: Buffer | null;
  readonly throttle_count: number;
}

/** A draft whose route is JSON text, which is encoded once for each distinct route. */
export interface DraftRow extends Omit<NotificationDraft, 'route'> {
  readonly route: string;
  /** Whether the route leads to any panel. */
  readonly shown: boolean;
}

/** An entry of the log about a notification. */
export interface ChangeRow {
  readonly reason: string;
  readonly by: string;
  readonly at: number;
  readonly note?: string | null;
  readonly until?: number | null;
}

/** The columns of a row that stay when a partition is written anew. */
export const storedColumns: readonly string[] = [
  ...['row', 'tenant', 'position', 'id_time', 'id_rest', 'delay', 'route', 'cleared', '"by"', 'reason'],
  ...['ttl', 'lasts', 'throttled_on', 'throttle_count'],
  ...columnList.map(([, { column }]) => column),
];

/** Goes with `FROM <log> n`. */
export const entryColumns = [...storedColumns, 'at'].map((column) => `n.${column}`).join(', ');

/** The most texts of dictionaries in the cache, which is emptied at this number. */
const mostTexts = 100_000;
/** Greater than the number of texts in a dictionary. */
const numbersAPartition = 2 ** 20;

/** Reads rows on one connection, and caches the texts and routes that rows name by number. */
export class RowReader {
  readonly routes: Routes;
  readonly #sql: Statements;
  readonly #texts = new Map<number, string>();

  constructor(sql: Statements) {
    this.#sql = sql;
    this.routes = new Routes(sql);
  }

  /** `find` reads the notification of an entry that shows it again. */
  entry(
    row: EntryRow,
    partition: PartitionName,
    find: (tenant: TenantId, id: string) => CountedNotification | undefined,
  ): Entry {
    if (row.cleared === null) return this.notification(row as NotificationRow, partition);
    const id = joinId(row.id_time, row.id_rest);
    const until = row.lasts === null ? null : row.at + row.lasts;
    const route = this.routes.get(row.tenant, row.route);
    return toChange({ ...row, id, until, route }, () => find(row.tenant, id));
  }

  notification(row: NotificationRow, partition: PartitionName): Notification {
    return {
      ...sharedFields(row, (stored) => this.text(stored, partition)),
      id: joinId(row.id_time, row.id_rest),
      ttl: row.ttl ?? row.lasts ?? 0,
      expiresAt: row.lasts === null ? null : row.at + row.lasts,
      route: this.routes.get(row.tenant, row.route),
      throttledOn: row.throttled_on === null ? null : uuidToText(row.throttled_on),
    };
  }

  /** The text that a column of this partition holds. */
  text(stored: StoredText, partition: PartitionName): string;
  text(stored: StoredText | null, partition: PartitionName): string | null;
  text(stored: StoredText | null, partition: PartitionName): string | null {
    if (typeof stored !== 'number') return stored;
    // All generations of a partition use the same numbers.
    const known = partition.id * numbersAPartition + stored;
    let text = this.#texts.get(known);
    if (text === undefined) {
      text = this.#read(tablesOf(partition).dictionary, stored);
      if (this.#texts.size >= mostTexts) this.#texts.clear();
      this.#texts.set(known, text);
    }
    return text;
  }

  #read(dictionary: string, id: number): string {
    const found = this.#sql
      .of<[number], { text: string }>(`SELECT text FROM ${dictionary} WHERE id = ?`)
      .get(id);
    if (!found) throw new Error(`text ${id} of ${dictionary} is missing`);
    return found.text;
  }
}

/** A connection that reads the log. */
export interface LogConnection {
  readonly sql: Statements;
  readonly reader: RowReader;
  readonly liveOrder: LiveOrder;
}

export const connectLog = (sql: Statements): LogConnection => ({
  sql,
  reader: new RowReader(sql),
  liveOrder: new LiveOrder(sql),
});

export type PartitionName = Pick<Partition, 'id' | 'generation'>;

/** 16 bytes to the canonical lower-case text. */
export const uuidToText = (bytes: Buffer): string => withDashes(bytes.toString('hex'));

/** Text to 16 bytes. @throws Error when the text is no UUID. */
export function toBlob(id: string): Buffer {
  if (!isUuid(id)) throw new Error(`not a UUID: ${id}`);
  return Buffer.from(id.replaceAll('-', ''), 'hex');
}

/** An id as the log stores it. @throws Error when the text is no UUID. */
export function splitId(id: string): { readonly time: number; readonly rest: Buffer } {
  const bytes = toBlob(id);
  return { time: bytes.readUIntBE(0, 6), rest: bytes.subarray(6) };
}

export const joinId = (time: number, rest: Buffer): string =>
  withDashes(time.toString(16).padStart(12, '0') + rest.toString('hex'));

const withDashes = (hex: string): string =>
  `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;

/** The estimated bytes of a row on disk beside its texts: columns, keys and terms. */
const rowOverheadBytes = 220;
export const rowBytes = rowBytesOver(rowOverheadBytes);
export const rowBytesSql = rowBytesSqlOver(rowOverheadBytes);

/** Routing decisions. Each distinct decision is stored once; rows of the log refer to it by number. */

/** The most characters of routes of one tenant that are cached: some 20,000 usual routes. With more, its cache is emptied. */
const maxCachedChars = 4_000_000;

interface NumberedRoute {
  readonly id: number;
  readonly route: Route;
}

interface TenantRoutes {
  /** Stored as used by the newest partition. */
  readonly byText: Map<string, NumberedRoute>;
  readonly byId: Map<number, Route>;
  cachedChars: number;
}

/** The routes of one connection. Cached routes are never stale: a route never changes, and numbers are not reused. */
export class Routes {
  readonly #sql: Statements;
  readonly #tenants = new Map<TenantId, TenantRoutes>();

  constructor(statements: Statements) {
    this.#sql = statements;
  }

  /**
   * Returns the route for this JSON text; stores it if it is new. The caller then writes a row of `partition`, the newest, that
   * refers to it. The route is kept as long as that partition.
   */
  use(tenant: TenantId, text: string, partition: number): NumberedRoute {
    const routes = this.#ofTenant(tenant);
    const known = routes.byText.get(text);
    if (known) return known;
    const stored = this.#sql
      .of<[number, string, number], { id: number }>(
        `INSERT INTO routes (tenant, route, partition) VALUES (?, ?, ?)
         ON CONFLICT DO UPDATE SET partition = excluded.partition RETURNING id`,
      )
      .get(tenant, text, partition) as { id: number };
    const route = { id: stored.id, route: JSON.parse(text) as Route };
    makeRoom(routes, text.length);
    routes.byText.set(text, route);
    return route;
  }

  /** As `use`, for a route that is stored already. */
  touch(id: number, partition: number): void {
    this.#sql
      .of<[number, number, number], never>('UPDATE routes SET partition = ? WHERE id = ? AND partition < ?')
      .run(partition, id, partition);
  }

  /** @throws Error when the route is missing. The log refers to it, so the database is damaged. */
  get(tenant: TenantId, id: number): Route {
    const routes = this.#ofTenant(tenant);
    const known = routes.byId.get(id);
    if (known) return known;
    const row = this.#sql
      .of<[number, number], { route: string }>('SELECT route FROM routes WHERE id = ? AND tenant = ?')
      .get(id, tenant);
    if (!row) throw new Error(`route ${id} of tenant ${tenant} is missing`);
    const route = JSON.parse(row.route) as Route;
    makeRoom(routes, row.route.length);
    routes.byId.set(id, route);
    return route;
  }

  /** Must be called after a rollback, because cached routes may not be stored, and when a new partition takes the rows. */
  forget(): void {
    this.#tenants.clear();
  }

  #ofTenant(tenant: TenantId): TenantRoutes {
    return getOrMake(this.#tenants, tenant, () => ({ byText: new Map(), byId: new Map(), cachedChars: 0 }));
  }
}

function makeRoom(routes: TenantRoutes, chars: number): void {
  routes.cachedChars += chars;
  if (routes.cachedChars <= maxCachedChars) return;
  routes.byText.clear();
  routes.byId.clear();
  routes.cachedChars = chars;
}
