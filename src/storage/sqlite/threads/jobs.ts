/** The jobs of the writer thread: the protocol between `history.ts` and `writer-thread.ts`. */
import type { Clear, ClearOutcome, TenantId } from '#core/ports.ts';
import type { ReceiptStore, ReceiptWrite } from '#core/receipts.ts';
import { type PanelAddress, reaches } from '#core/target.ts';
import type { SqlResult } from '../../sql.ts';
import { acknowledge, appendRepeat } from '../log/acknowledgements.ts';
import { findById } from '../log/log-lookup.ts';
import type { LogWriter } from '../log/log-writer.ts';
import { tablesOf } from '../log/partitions.ts';
import { retain, sweep } from '../log/retention.ts';
import type { Failure } from './thread.ts';

type NewReceipts = Awaited<ReturnType<ReceiptStore['record']>>;

export function clear(
  writer: LogWriter,
  tenant: TenantId,
  id: string,
  given: Pick<Clear, 'by' | 'reason' | 'at'>,
): ClearOutcome {
  const found = findById(writer.sql, tenant, id);
  if (!found) return { kind: 'not-found' };
  const live = writer.sql
    .of<[number, number, number], { expires_at: number | null }>(
      'SELECT expires_at FROM live WHERE tenant = ? AND rank = ? AND position = ?',
    )
    .get(tenant, found.rank, found.position);
  if (!live || (live.expires_at !== null && live.expires_at <= given.at)) return { kind: 'not-live' };
  return { kind: 'cleared', entry: writer.takeOff(tenant, found, id, given) };
}

export function recordReceipts(
  { sql, routes }: LogWriter,
  tenant: TenantId,
  panel: PanelAddress,
  receipts: readonly ReceiptWrite[],
): NewReceipts {
  const fresh: NewReceipts[number][] = [];
  for (const { id, state, at } of receipts) {
    const found = findById(sql, tenant, id);
    if (!found || !reaches(routes.get(tenant, found.route).target, panel)) continue;
    const column = `${state}_at`;
    const { changes } = sql
      .of(
        `INSERT INTO ${tablesOf(found.partition).receipts} (row, panel_id, ${column}) VALUES (?, ?, ?)
         ON CONFLICT DO UPDATE SET ${column} = excluded.${column} WHERE ${column} IS NULL`,
      )
      .run(found.row, panel.id, at);
    if (changes > 0) fresh.push({ id, state, at, receivedAt: found.receivedAt });
  }
  return fresh;
}

interface Statement {
  readonly sql: string;
  readonly parameters: readonly unknown[];
}

/** Statements of the directory. */
export function runSql({ sql }: LogWriter, statements: readonly Statement[]): SqlResult[] {
  return statements.map(({ sql: text, parameters }) => {
    const statement = sql.of<unknown[], Record<string, unknown>>(text);
    if (!statement.reader) return { rows: [], changes: statement.run(...parameters).changes };
    const rows = statement.all(...parameters);
    return { rows, changes: rows.length };
  });
}

/** What the writer can do, each inside the transaction of its batch. */
const logWrites = {
  ...{ append: appendRepeat, clear, acknowledge, receipts: recordReceipts },
  ...{ retain, sweep, sql: runSql },
};

type Writes = typeof logWrites;
export type JobKind = keyof Writes;
type Given<K extends JobKind> = Writes[K] extends (writer: LogWriter, ...given: infer A) => unknown
  ? A
  : never;

/** The name of a write, and what it is given. */
export type JobOf<K extends JobKind> = readonly [kind: K, ...given: Given<K>];
export type Job = { [K in JobKind]: JobOf<K> }[JobKind];
export type JobResult<K extends JobKind = JobKind> = ReturnType<Writes[K]>;

/** The result of one job, or why it has none. */
export type JobAnswer = { readonly value: JobResult } | { readonly failure: Failure };

export function perform(writer: LogWriter, [kind, ...given]: Job): JobResult {
  return (logWrites[kind] as (...all: unknown[]) => JobResult)(writer, ...given);
}
