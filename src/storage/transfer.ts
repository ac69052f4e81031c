/**
 * A transfer copies everything from one database to another, between SQLite and PostgreSQL in either direction. Tables are copied
 * row by row, each time from their beginning, because they are small. Each tenant's log is a stream of entries in the order of
 * positions: the ordinary reading of the source, and one transaction of the target for each page. An interrupted transfer goes on
 * after the last position that the target has. At the end both are read and compared.
 */
import { createHash } from 'node:crypto';
import { sql } from 'kysely';
import { AppError } from '#core/errors.ts';
import type { Entry, History } from '#core/log/log.ts';
import type { ReceiptRow, ReceiptStore } from '#core/log/receipts.ts';
import type { TenantId } from '#core/log/route.ts';
import { readMeta, transferMark, writeMeta } from './database/meta.ts';
import type { Database, Schema } from './database/sql.ts';

/** An entry of a log, and what panels reported of it if it is a notification. */
export interface TransferEntry {
  readonly entry: Entry;
  readonly receipts: readonly ReceiptRow[];
}

/** One of the two databases. No server uses it during the transfer. */
export interface TransferDatabase {
  readonly db: Database;
  readonly history: Pick<History & ReceiptStore, 'bounds' | 'readAfter' | 'of'>;
  /**
   * Stores entries at the end of the tenant's log, with their positions and what follows from them; all of them durable, or none.
   * What had expired when the last entry of the page came leaves the live set.
   */
  importPage(tenant: TenantId, page: readonly TransferEntry[]): Promise<void>;
  /** Call it after the tenants were stored with their numbers. */
  readonly afterTenants?: () => Promise<void>;
  /** Converts the id of a notification in the table `idempotency` from and to the form of this database. */
  readonly storedId: { toText(stored: unknown): string; fromText(id: string): unknown };
  close(): Promise<void>;
}

export interface TransferOptions {
  readonly now: number;
  readonly onProgress: (progress: TransferProgress) => void;
  /** Stores what else a server on the target needs, such as the key. Until it is done, no server starts there. */
  readonly complete: () => Promise<void>;
}

export interface TransferProgress {
  readonly step: 'copying' | 'checking';
  /** Entries of all logs. */
  readonly done: number;
  readonly total: number;
}

/** Where a tenant's log begins and ends at the source. */
interface LogRange {
  readonly tenant: TenantId;
  /** The position before its first. */
  readonly after: number;
  readonly head: number;
}

/** What both databases have of a table, or of all logs. */
export interface Compared {
  readonly name: string;
  readonly rows: number;
  /** SHA-256 of the rows as JSON, in hexadecimal. */
  readonly hash: string;
}

export interface TransferResult {
  readonly tenants: number;
  readonly tables: readonly Compared[];
  readonly log: Compared;
}

/** Every table but those of the log, with the columns that order its rows. */
const tables: Readonly<
  Record<Exclude<keyof Schema, 'meta'> | 'idempotency' | 'passkeys', readonly string[]>
> = {
  tenants: ['id'],
  credentials: ['tenant', 'id'],
  levels: ['tenant', 'name'],
  rules: ['tenant', 'id', 'since'],
  rule_hits: ['tenant', 'id'],
  panels: ['tenant', 'id'],
  pairings: ['secret_hash'],
  saved_searches: ['tenant', 'id'],
  mappings: ['tenant', 'name'],
  on_call: ['tenant', 'id'],
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
};
/** Rows of `meta` that describe the history and not the database. */
const metaNames = ['epoch', 'changes', 'clock'];

const pageEntries = 1_000;
const pageRows = 500;

type Row = Readonly<Record<string, unknown>>;

/** When an entry came. */
export const timeOf = (entry: Entry): number => (entry.kind === 'notification' ? entry.receivedAt : entry.at);

/**
 * Copies everything from a complete database, or continues an interrupted copy of the same source; then reads both databases and compares them.
 * @throws AppError `conflict` when the target is not empty, the source has changed since the interruption, or the copy differs.
 */
export async function transfer(
  from: TransferDatabase,
  to: TransferDatabase,
  { now, onProgress, complete }: TransferOptions,
): Promise<TransferResult> {
  const logs = await rangesOf(from);
  await markTarget(from, to, logs);
  for (const [table, keys] of Object.entries(tables)) await copyTable(from, to, table, keys);
  await to.afterTenants?.();
  const total = logs.reduce((sum, { after, head }) => sum + head - after, 0);
  let done = 0;
  const progress = (step: TransferProgress['step']) => (entries: number) => {
    done += entries;
    onProgress({ step, done, total });
  };
  for (const log of logs) if (log.head > 0) await copyLog(from, to, log, progress('copying'));
  await copyEscalations(from, to);
  for (const name of metaNames) {
    const value = await readMeta(from.db, name);
    if (value !== undefined) await writeMeta(to.db, name, value);
  }

  const compared: Compared[] = [];
  for (const [table, keys] of Object.entries(tables))
    compared.push(await compareTable(from, to, table, keys));
  done = 0;
  const log = new Comparison('log', progress('checking'));
  for (const { tenant, after } of logs) await compareLog(from, to, tenant, after, log);
  await compareLive(from, to, now);
  await complete();
  await to.db.write([sql`delete from meta where name = ${transferMark}`]);
  return { tenants: logs.length, tables: compared, log: log.result() };
}

async function rangesOf({ db, history }: TransferDatabase): Promise<readonly LogRange[]> {
  const ranges: LogRange[] = [];
  for (const { id: tenant } of await db.read(sql<{ id: number }>`select id from tenants order by id`)) {
    const { first, head } = await history.bounds(tenant);
    ranges.push({ tenant, after: first - 1, head });
  }
  return ranges;
}

/**
 * The mark names the source and has a hash of its logs' ranges, so that a copy in two runs fails early if the log has grown in
 * between. Other changes are found by the comparison at the end.
 */
async function markTarget(
  from: TransferDatabase,
  to: TransferDatabase,
  logs: readonly LogRange[],
): Promise<void> {
  const epoch = await readMeta(from.db, 'epoch');
  const source = `${epoch} ${createHash('sha256').update(JSON.stringify(logs)).digest('hex')}`;
  const mark = await readMeta(to.db, transferMark);
  if (mark === source) return;
  if (mark?.split(' ')[0] === epoch)
    throw new AppError(
      'conflict',
      'the source has changed since this copy began: keep its server stopped, and start again with a new, empty target',
    );
  if (mark !== undefined)
    throw new AppError('conflict', 'the target is an unfinished copy of another database: use a new one');
  const found = await to.db.read(
    sql`select 1 from tenants union all select 1 from people union all select 1 from logs limit 1`,
  );
  if (found.length > 0) throw new AppError('conflict', 'the target is not empty: use a new database');
  await writeMeta(to.db, transferMark, source);
}

async function copyTable(
  from: TransferDatabase,
  { db, storedId }: TransferDatabase,
  table: string,
  keys: readonly string[],
): Promise<void> {
  await db.write([sql`delete from ${sql.table(table)}`]);
  for await (const rows of tablePages(from, table, keys)) {
    const columns = Object.keys(rows[0] ?? {});
    const values = rows.map((row) => {
      const stored = table === 'idempotency' ? { ...row, id: storedId.fromText(String(row.id)) } : row;
      return sql`(${sql.join(columns.map((column) => stored[column]))})`;
    });
    const names = sql.join(columns.map((column) => sql.ref(column)));
    await db.write([sql`insert into ${sql.table(table)} (${names}) values ${sql.join(values)}`]);
  }
}

/** Begins after the last entry that the target has. */
async function copyLog(
  from: TransferDatabase,
  to: TransferDatabase,
  { tenant, after }: Pick<LogRange, 'tenant' | 'after'>,
  onCopied: (entries: number) => void,
): Promise<void> {
  await to.db.write([
    sql`insert into logs (tenant, head, first, first_row, notifications, bytes)
      values (${tenant}, ${after}, ${after + 1}, 0, 0, 0) on conflict (tenant) do nothing`,
  ]);
  const { head: copied } = await to.history.bounds(tenant);
  onCopied(copied - after);
  for await (const page of logPages(from, tenant, copied)) {
    await to.importPage(tenant, page);
    onCopied(page.length);
  }
}

const liveKeys = ['tenant', 'rank', 'position'];
const escalationColumns = sql`tenant, rank, position, escalation, step, step_at, next_step_at`;

/** Of what is live at the target. No entry of the log says how far they are. */
async function copyEscalations(from: TransferDatabase, { db }: TransferDatabase): Promise<void> {
  const escalated = { columns: escalationColumns, where: sql`escalation is not null` };
  const number = (column: string) => sql`cast(${sql.ref(`t.${column}`)} as bigint)`;
  for await (const rows of tablePages(from, 'live', liveKeys, escalated))
    await db.write([
      sql`with t (${escalationColumns}) as (values ${sql.join(rows.map((row) => sql`(${sql.join(Object.values(row))})`))})
        update live set escalation = t.escalation, step = ${number('step')}, step_at = ${number('step_at')},
          next_step_at = ${number('next_step_at')} from t
        where live.tenant = ${number('tenant')} and live.rank = ${number('rank')} and live.position = ${number('position')}`,
    ]);
}

/** The rows of a table in the order of their keys; without `columns`, with all of theirs. */
async function* tablePages(
  { db, storedId }: TransferDatabase,
  table: string,
  keys: readonly string[],
  { columns = sql`*`, where = sql`1 = 1` } = {},
): AsyncGenerator<readonly Row[]> {
  const order = sql.join(keys.map((key) => sql.ref(key)));
  for (let last: Row | undefined; ; ) {
    const rest = last ? sql`and (${order}) > (${sql.join(keys.map((key) => last?.[key]))})` : sql``;
    const found: readonly Row[] = await db.read(
      sql<Row>`select ${columns} from ${sql.table(table)} where ${where} ${rest} order by ${order} limit ${pageRows}`,
    );
    if (found.length > 0)
      yield table === 'idempotency' ? found.map((row) => ({ ...row, id: storedId.toText(row.id) })) : found;
    if (found.length < pageRows) return;
    last = found.at(-1);
  }
}

/** The entries of a log after a position, to its head. */
async function* logPages(
  { history }: TransferDatabase,
  tenant: TenantId,
  after: number,
): AsyncGenerator<readonly TransferEntry[]> {
  const { head } = await history.bounds(tenant);
  for (let position = after; position < head; ) {
    const { entries } = await history.readAfter(tenant, position, pageEntries);
    const last = position + entries.length;
    if (entries.length === 0 || entries.at(-1)?.position !== last)
      throw new Error(`the log is not whole after position ${position}`);
    const ids = entries.flatMap(({ kind, id }) => (kind === 'notification' ? id : []));
    const receipts = await history.of(tenant, ids);
    yield entries.map((entry) => ({
      entry,
      receipts: entry.kind === 'notification' ? (receipts.get(entry.id) ?? []) : [],
    }));
    position = last;
  }
}

/** @throws AppError `conflict` naming table and tenant when the rows differ. */
export async function compareTable(
  from: TransferDatabase,
  to: TransferDatabase,
  table: string,
  keys: readonly string[],
): Promise<Compared> {
  const comparison = new Comparison(table);
  await comparison.add(tablePages(from, table, keys), tablePages(to, table, keys), ({ tenant }) =>
    tenant === undefined ? `table ${table}` : `table ${table} of tenant ${String(tenant)}`,
  );
  return comparison.result();
}

/** Compares the notifications that panels should show at `now`, and their escalations. @throws AppError as {@link compareTable}. */
export async function compareLive(from: TransferDatabase, to: TransferDatabase, now: number): Promise<void> {
  const shown = {
    columns: escalationColumns,
    where: sql`(expires_at is null or expires_at > ${now})`,
  };
  const read = (side: TransferDatabase) => tablePages(side, 'live', liveKeys, shown);
  const where = ({ tenant }: Row) => `what is live of tenant ${String(tenant)}`;
  await new Comparison('live').add(read(from), read(to), where);
}

/** @throws AppError as {@link compareTable}, naming the first position that differs. */
export async function compareLog(
  from: TransferDatabase,
  to: TransferDatabase,
  tenant: TenantId,
  after: number,
  comparison: Comparison,
): Promise<void> {
  const [bounds, copied] = [await from.history.bounds(tenant), await to.history.bounds(tenant)];
  if (bounds.first !== copied.first || bounds.head !== copied.head)
    throw differs(`where the log of tenant ${tenant} begins and ends`);
  const read = (side: TransferDatabase) => logPages(side, tenant, after);
  const where = ({ entry }: TransferEntry) => `the log of tenant ${tenant} at position ${entry.position}`;
  await comparison.add(read(from), read(to), where);
}

/** Counts and hashes what is the same in both databases. */
export class Comparison {
  readonly #name: string;
  readonly #onPage: (rows: number) => void;
  readonly #hash = createHash('sha256');
  #rows = 0;

  constructor(name: string, onPage: (rows: number) => void = () => undefined) {
    this.#name = name;
    this.#onPage = onPage;
  }

  /** `where` names the place of the first difference, from the row or its copy. @throws AppError `conflict` when they differ. */
  async add<T>(
    from: AsyncIterator<readonly T[]>,
    to: AsyncIterator<readonly T[]>,
    where: (row: T) => string,
  ): Promise<void> {
    for (;;) {
      const [rows, copies] = (await Promise.all([from.next(), to.next()])).map(
        ({ value }) => (value ?? []) as readonly T[],
      ) as [readonly T[], readonly T[]];
      for (let i = 0; i < Math.max(rows.length, copies.length); i++) {
        const text = asText(rows[i]);
        if (text !== asText(copies[i])) throw differs(where((rows[i] ?? copies[i]) as T));
        this.#hash.update(`${text}\n`);
      }
      if (rows.length === 0) return;
      this.#rows += rows.length;
      this.#onPage(rows.length);
    }
  }

  result(): Compared {
    return { name: this.#name, rows: this.#rows, hash: this.#hash.digest('hex') };
  }
}

/** The same for equal values, in whichever order their fields are. */
const asText = (value: unknown): string | undefined =>
  JSON.stringify(value, (_, part: unknown) =>
    part === null || typeof part !== 'object' || Array.isArray(part)
      ? part
      : Object.fromEntries(
          Object.keys(part)
            .sort()
            .map((key) => [key, part[key as keyof typeof part]]),
        ),
  );

const differs = (what: string) =>
  new AppError(
    'conflict',
    `the copy differs in ${what}. Make sure that no server runs on either database, and start again with a new target`,
  );
