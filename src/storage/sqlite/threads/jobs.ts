/** The jobs of the writer thread: the protocol between `history.ts` and `writer-thread.ts`. */
import type { Idempotency } from '#core/log/log.ts';
import { getOrMake } from '#core/maps.ts';
import type { SqlResult } from '../../database/sql.ts';
import { columnList } from '../../log/history-rows.ts';
import { act, clear } from '../log/alarms.ts';
import { append, recordReceipts } from '../log/changes.ts';
import { type EscalationTerms, settleStep } from '../log/escalations.ts';
import type { LogWriter } from '../log/log-writer.ts';
import { retain, sweep } from '../log/retention.ts';
import type { DraftRow } from '../log/rows.ts';
import { endSuppressing, updateSuppression } from '../log/suppress.ts';
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
  ...{ append, clear, act, settleStep, receipts: recordReceipts },
  ...{ updateSuppression, endSuppressing, retain, sweep, sql: runSql },
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

/**
 * How a batch crosses to the writer thread. A message between threads is copied field by field, names and all:
 * as objects, notifications cost more to copy than to store. So those that are appended travel as plain values in a row.
 */

type Append = JobOf<'append'>;

/** Notifications as {@link fieldCount} values each, any other job as itself. */
export interface PackedJobs {
  readonly values: readonly unknown[];
  /** The routes that the notifications name by number: in a batch they are few. */
  readonly routes: readonly string[];
}

/** The fields of a draft that travel as they are: all but the route. */
const draftFields = [
  ...(['id', 'receivedAt', 'ttl', 'expiresAt', 'throttledOn', 'throttleCount', 'shown'] as const),
  ...columnList.map(([field]) => field),
] satisfies readonly (keyof DraftRow)[];
/** Before the fields: tenant, idempotency, escalation and the number of the route. */
const ownFields = 4;
const fieldCount = ownFields + draftFields.length;

export function packJobs(jobs: readonly Job[]): PackedJobs {
  const values: unknown[] = [];
  const routes = new Map<string, number>();
  for (const job of jobs) {
    if (job[0] === 'append')
      packAppend(
        values,
        job,
        getOrMake(routes, job[2].route, () => routes.size),
      );
    else values.push(job);
  }
  return { values, routes: [...routes.keys()] };
}

/** About how many rows a job writes: what a transaction takes grows with it, not with the number of jobs. */
export function weightOf(job: Job): number {
  if (job[0] === 'receipts') return Math.max(1, job[3].length);
  if (job[0] === 'act') return Math.max(1, job[2].length);
  return job[0] === 'sql' ? Math.max(1, job[1].length) : 1;
}

export function unpackJobs({ values, routes }: PackedJobs): Job[] {
  const jobs: Job[] = [];
  for (let at = 0; at < values.length; ) {
    // A notification begins with its tenant.
    if (typeof values[at] === 'number') {
      jobs.push(unpackAppend(values, at, routes));
      at += fieldCount;
    } else {
      jobs.push(values[at] as Job);
      at += 1;
    }
  }
  return jobs;
}

function packAppend(values: unknown[], [, tenant, draft, idempotency, terms]: Append, route: number): void {
  values.push(tenant, idempotency, terms ?? null, route);
  for (const field of draftFields) values.push(draft[field]);
}

function unpackAppend(values: readonly unknown[], at: number, routes: readonly string[]): Append {
  const [tenant, idempotency, terms, route] = values.slice(at, at + ownFields);
  const draft: Partial<Record<keyof DraftRow, unknown>> = { route: routes[route as number] };
  for (const [i, field] of draftFields.entries()) draft[field] = values[at + ownFields + i];
  return [
    'append',
    tenant as number,
    draft as DraftRow,
    idempotency as Idempotency | null,
    terms as EscalationTerms | null,
  ];
}
