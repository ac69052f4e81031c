/** A database as a side of a transfer, and how its tables are walked. */
import { setTimeout } from 'node:timers/promises';
import { sql } from 'kysely';
import type { Entry, History, LogBounds, Notification, TenantId } from '#core/ports.ts';
import type { ReceiptRow } from '#core/receipts.ts';
import type { Builder } from './schema.ts';
import type { SqlExecutor } from './sql.ts';

export interface TransferReceipt extends ReceiptRow {
  /** The notification's. */
  readonly id: string;
}

/** Entries of a tenant's log in order, and the receipts of its notifications. */
export interface TransferPage {
  readonly entries: readonly Entry[];
  readonly receipts: readonly TransferReceipt[];
}

/** One of the two databases: no server uses it meanwhile. */
export interface TransferDatabase {
  readonly builder: Builder;
  readonly executor: SqlExecutor;
  readonly log: Pick<History, 'bounds' | 'readAfter'>;
  receiptsOf(tenant: TenantId, entries: readonly Entry[]): Promise<readonly TransferReceipt[]>;
  /**
   * Answers what stores entries at the end of the tenant's log, at the positions they have; all of them durable, or none. What
   * has expired at `now` is not on panels.
   */
  prepareImport(tenant: TenantId, page: TransferPage, now: number): () => Promise<void>;
  /** After the tenants were stored by their numbers. */
  afterTenants(): Promise<void>;
  /** The id of a notification in the table `idempotency`, which stores it in this database's own form. */
  readonly storedId: { toText(stored: unknown): string; fromText(id: string): unknown };
  close(): Promise<void>;
}

/** The tables of the directory and of accounts, by what orders their rows. */
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
/** A pause before the next read, in which the write of this page goes out: SQLite reads in this thread and would block it. */
const pauseMs = 2;

export async function readPage(
  side: TransferDatabase,
  tenant: TenantId,
  position: number,
): Promise<TransferPage> {
  const { entries } = await side.log.readAfter(tenant, position, pageEntries);
  return { entries, receipts: await side.receiptsOf(tenant, entries) };
}

/** Pages of a log after a position: the next one is read while something is done with one. */
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

/** Whether a notification is on panels that it is for. */
export const isLasting = ({ expiresAt }: Notification, now: number) => expiresAt === null || expiresAt > now;

export async function* pagesOf(
  { builder, executor, storedId }: TransferDatabase,
  table: Table,
): AsyncGenerator<readonly Row[]> {
  const keys: readonly string[] = tables[table];
  const order = sql.join(keys.map((key) => sql.ref(key)));
  let last: Row | undefined;
  for (;;) {
    const after: unknown[] = keys.map((key) => last?.[key]);
    const rest = last ? sql`where (${order}) > (${sql.join(after)})` : sql``;
    const found: readonly Row[] = await executor.read(
      sql<Row>`select * from ${sql.table(table)} ${rest} order by ${order} limit ${pageRows}`.compile(
        builder,
      ),
    );
    const rows =
      table === 'idempotency' ? found.map((row) => ({ ...row, id: storedId.toText(row.id) })) : found;
    if (rows.length > 0) yield rows;
    if (rows.length < pageRows) return;
    last = rows.at(-1);
  }
}
