/** The jobs of the writer thread: the protocol between `history.ts` and `writer-thread.ts`. */
import type { SqlResult } from '../../sql.ts';
import { acknowledge } from '../log/acknowledgements.ts';
import { append } from '../log/append.ts';
import { clear, recordReceipts } from '../log/changes.ts';
import type { LogWriter } from '../log/log-writer.ts';
import { retain, sweep } from '../log/retention.ts';
import type { Failure } from './thread.ts';

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
  ...{ append, clear, acknowledge, receipts: recordReceipts },
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

/** Why a job has no result. */
export interface FailedJob {
  readonly failure: Failure;
}

/** The result of one job, or why it has none. */
export type JobAnswer = JobResult | FailedJob;

export function perform(writer: LogWriter, [kind, ...given]: Job): JobResult {
  return (logWrites[kind] as (...all: unknown[]) => JobResult)(writer, ...given);
}
