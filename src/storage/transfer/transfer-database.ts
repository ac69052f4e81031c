/** The source or the target of a transfer, and how its tables are read page by page. */
import { setTimeout } from 'node:timers/promises';
import { sql } from 'kysely';
import type { ReceiptRow } from '#core/history/receipts.ts';
import type { Entry, History, LogBounds, Notification, TenantId } from '#core/ports.ts';
import type { Database } from '../sql.ts';

export interface TransferReceipt extends ReceiptRow {
  /** The id of the notification. */
  readonly id: string;
}

/** Entries of a tenant's log in order, and the receipts of its notifications. */
export interface TransferPage {
  readonly entries: readonly Entry[];
  readonly receipts: readonly TransferReceipt[];
}

/** One of the two databases. No server uses it during the transfer. */
export interface TransferDatabase {
  readonly db: Database;
  readonly log: Pick<History, 'bounds' | 'readAfter'>;
  receiptsOf(tenant: TenantId, entries: readonly Entry[]): Promise<readonly TransferReceipt[]>;
  /**
   * Returns a function that stores entries at the end of the tenant's log, with their positions; all of them durable, or none.
   * Notifications that have expired at `now` are not added to the live set.
   */
  prepareImport(tenant: TenantId, page: TransferPage, now: number): () => Promise<void>;
  /** Call it after the tenants were stored with their numbers. */
  afterTenants(): Promise<void>;
  /** Converts the id of a notification in the table `idempotency` from and to the form of this database. */
  readonly storedId: { toText(stored: unknown): string; fromText(id: string): unknown };
  close(): Promise<void>;
}

/** The tables of the directory and of accounts, with the columns that order their rows. */
export const tables = {
  tenants: ['id'],
  credentials: ['tenant', 'id'],
  levels: ['tenant', 'name'],
  rules: ['tenant', 'id', 'since'],
  rule_hits: ['tenant', 'id'],
  panels: ['tenant', 'id'],
  pairings: ['secret_hash'],
  saved_searches: ['tenant', 'id'],
  mappings: ['tenant', 'name'],
  channels: ['tenant', 'id'],
  deliveries: ['tenant', 'channel', 'position'],
  push_devices: ['tenant', 'channel', 'id'],
  idempotency: ['tenant', 'key'],
  audit: ['tenant', 'id'],
  people: ['id'],
  members: ['tenant', 'person'],
  invitations: ['tenant', 'id'],
  sessions: ['id'],
  sign_in_methods: ['id'],
  due_times: ['tenant', 'kind', 'subject'],
  verifications: ['id'],
  two_factors: ['id'],
  passkeys: ['id'],
} as const;
export type Table = keyof typeof tables;
export const tableNames = Object.keys(tables) as Table[];

export type Row = Readonly<Record<string, unknown>>;

const pageEntries = 1_000;
const pageRows = 500;
/** A pause before the next read, in which the write of this page is sent: SQLite reads in this thread and would block it. */
const pauseMs = 2;

export async function readPage(
  side: TransferDatabase,
  tenant: TenantId,
  position: number,
): Promise<TransferPage> {
  const { entries } = await side.log.readAfter(tenant, position, pageEntries);
  return { entries, receipts: await side.receiptsOf(tenant, entries) };
}

/** The pages of a log after a position. It reads the next page while the caller processes the current one. */
export async function* pagesAhead<Page extends TransferPage>(
  { head }: LogBounds,
  after: number,
  read: (after: number) => Promise<Page>,
): AsyncGenerator<Page> {
  let position = after;
  let next = position < head ? read(position) : undefined;
  while (next) {
    const page = await next;
    const last = position + page.entries.length;
    if (page.entries.at(-1)?.position !== last)
      throw new Error(`the log is not whole after position ${position}`);
    position = last;
    next = last < head ? setTimeout(pauseMs).then(() => read(last)) : undefined;
    next?.catch(() => undefined);
    yield page;
  }
}

/** Whether a notification has not expired at `now`. */
export const isLasting = ({ expiresAt }: Notification, now: number) => expiresAt === null || expiresAt > now;

export async function* pagesOf(
  { db, storedId }: TransferDatabase,
  table: Table,
): AsyncGenerator<readonly Row[]> {
  const keys: readonly string[] = tables[table];
  const order = sql.join(keys.map((key) => sql.ref(key)));
  let last: Row | undefined;
  for (;;) {
    const after: unknown[] = keys.map((key) => last?.[key]);
    const rest = last ? sql`where (${order}) > (${sql.join(after)})` : sql``;
    const found: readonly Row[] = await db.read(
      sql<Row>`select * from ${sql.table(table)} ${rest} order by ${order} limit ${pageRows}`,
    );
    const rows =
      table === 'idempotency' ? found.map((row) => ({ ...row, id: storedId.toText(row.id) })) : found;
    if (rows.length > 0) yield rows;
    if (rows.length < pageRows) return;
    last = rows.at(-1);
  }
}
