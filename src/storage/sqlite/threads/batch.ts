/**
 * How a batch crosses to the writer thread. A message between threads is copied field by field, names and all:
 * as objects, notifications cost more to copy than to store. So those that are appended travel as plain values in a row.
 */
import type { Idempotency } from '#core/ports.ts';
import type { DraftRow } from '../log/rows.ts';
import type { Job, JobOf } from './jobs.ts';

type Append = JobOf<'append'>;

/** Notifications as {@link fieldCount} values each, any other job as itself. */
export interface PackedJobs {
  readonly values: readonly unknown[];
  /** The routes that the notifications name by number: in a batch they are few. */
  readonly routes: readonly string[];
}

const fieldCount = 22;

export function packJobs(jobs: readonly Job[]): PackedJobs {
  const values: unknown[] = [];
  const routes = new Map<string, number>();
  for (const job of jobs) {
    if (job[0] === 'append') packAppend(values, job, numberOf(routes, job[2].route));
    else values.push(job);
  }
  return { values, routes: [...routes.keys()] };
}

/** About how many rows a job writes: what a transaction takes grows with it, not with the number of jobs. */
export function weightOf(job: Job): number {
  if (job[0] === 'receipts') return Math.max(1, job[3].length);
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

function packAppend(values: unknown[], [, tenant, d, idempotency]: Append, route: number): void {
  values.push(tenant, idempotency, route);
  values.push(d.id, d.receivedAt, d.title, d.message, d.level, d.rank, d.ttl, d.sentLevel, d.sentTtl);
  values.push(d.expiresAt, d.ip, d.host, d.key, d.url, d.sourceIp, d.tokenId, d.throttledOn);
  values.push(d.throttleCount, d.shown);
}

function unpackAppend(values: readonly unknown[], at: number, routes: readonly string[]): Append {
  const draft = {
    route: routes[values[at + 2] as number],
    id: values[at + 3],
    receivedAt: values[at + 4],
    title: values[at + 5],
    message: values[at + 6],
    level: values[at + 7],
    rank: values[at + 8],
    ttl: values[at + 9],
    sentLevel: values[at + 10],
    sentTtl: values[at + 11],
    expiresAt: values[at + 12],
    ip: values[at + 13],
    host: values[at + 14],
    key: values[at + 15],
    url: values[at + 16],
    sourceIp: values[at + 17],
    tokenId: values[at + 18],
    throttledOn: values[at + 19],
    throttleCount: values[at + 20],
    shown: values[at + 21],
  } satisfies Record<keyof DraftRow, unknown> as DraftRow;
  return ['append', values[at] as number, draft, values[at + 1] as Idempotency | null];
}

function numberOf(routes: Map<string, number>, route: string): number {
  let number = routes.get(route);
  if (number === undefined) {
    number = routes.size;
    routes.set(route, number);
  }
  return number;
}
