/** A worker thread with a read-only connection. The server starts two: one for short reads, one for searches. */
import { platform } from 'node:os';
import { workerData } from 'node:worker_threads';
import { unavailable } from '#core/errors.ts';
import type { SearchOptions } from '#core/ports.ts';
import type { Query } from '#core/search/search-query.ts';
import type { WantedValues } from '#core/statistics.ts';
import type { PanelAddress } from '#core/target.ts';
import { lowerPriority } from '../low-priority.ts';
import { type CountRequest, countStep } from './count.ts';
import { type Db, openReadOnly } from './database.ts';
import { damaged, damageReport, isDamage, isDiskFailure } from './disk-errors.ts';
import { fieldValues } from './field-values.ts';
import type { TenantLivePosition } from './jobs.ts';
import { LogReader } from './log-reader.ts';
import { busiestHosts, minuteCounts, receivedSince } from './overview.ts';
import { Statements } from './partitions.ts';
import { type RetentionBounds, retentionStep } from './retention.ts';
import { RowReader } from './rows.ts';
import { findRecord, searchPage } from './search.ts';
import { serveWorker } from './thread.ts';

/** What the thread is started with. */
export interface ReaderData {
  readonly path: string;
  /** Runs with a lower priority, so that notifications and panels go first when there are too few cores. */
  readonly lowPriority?: boolean;
}

const { path, lowPriority } = workerData as ReaderData;
// Only Linux has a priority for each thread; elsewhere the call would change the whole process.
if (lowPriority && platform() === 'linux') lowerPriority();

interface Session {
  readonly db: Db;
  readonly sql: Statements;
  readonly reader: RowReader;
  readonly log: LogReader;
}

let session: Session | undefined;
const reportedSqlChars = 200;

function open(): Session {
  const db = openReadOnly(path);
  const sql = new Statements(db);
  const reader = new RowReader(sql);
  return { db, sql, reader, log: new LogReader(sql, reader) };
}

/** Returns a function that tells whether `ms` milliseconds have passed. */
function timer(ms: number): () => boolean {
  const endsAt = performance.now() + ms;
  return () => performance.now() >= endsAt;
}

/** Runs several reads on one snapshot of the database. */
const snapshot = <T>(work: (session: Session) => T): T => read((open) => open.log.snapshot(() => work(open)));

/**
 * Reads on the open connection. After a failed read the connection is closed, and the next read opens a new one, because the
 * disk may have been away for a while.
 * @throws AppError `unavailable` when the file is damaged or the disk fails.
 */
function read<T>(work: (session: Session) => T, what = 'reading'): T {
  try {
    session ??= open();
    return work(session);
  } catch (error) {
    if (isDamage(error)) {
      closeSession();
      thread.notify({ damage: damageReport(error, what) });
      throw unavailable(damaged, error);
    }
    if (!isDiskFailure(error)) throw error;
    closeSession();
    throw unavailable(`the disk refused a read (${(error as Error).message})`, error);
  }
}

function closeSession(): void {
  const broken = session;
  session = undefined;
  try {
    broken?.db.close();
  } catch {
    // The connection is unusable anyway.
  }
}

const thread = serveWorker(
  {
    bounds: ({ tenant }: { tenant: number }) => read(({ log }) => log.bounds(tenant)),
    heads: ({ tenants }: { tenants: readonly number[] }) => read(({ log }) => log.heads(tenants)),
    size: ({ tenant }: { tenant: number }) => read(({ log }) => log.size(tenant)),
    readAfter: (a: { tenant: number; position: number; limit: number }) =>
      read(({ log }) => log.readAfter(a.tenant, a.position, a.limit)),
    live: (a: { tenant: number; panel: PanelAddress; now: number; limit: number }) =>
      read(({ log }) => log.live(a.tenant, a.panel, a.now, a.limit)),
    readLive: (a: { tenant: number; positions: readonly number[]; now: number; chars: number }) =>
      read(({ log }) => log.readLive(a.tenant, a.positions, a.now, a.chars)),
    expired: ({ now, after, limit }: { now: number; after: TenantLivePosition; limit: number }) =>
      read(({ log }) => log.expired(now, after, limit)),
    receiptsOf: ({ tenant, id }: { tenant: number; id: string }) =>
      read(({ log }) => log.receiptsOf(tenant, id)),
    findRetry: (a: { tenant: number; key: string; now: number }) =>
      read(({ log }) => log.findRetry(a.tenant, a.key, a.now)),
    oldestRevision: ({ tenant }: { tenant: number }) => read(({ log }) => log.oldestRevision(tenant)),
    find: ({ tenant, id }: { tenant: number; id: string }) =>
      snapshot((open) => findRecord(open, tenant, id)),
    search: (request: { tenant: number; query: Query; options: SearchOptions }) => {
      const isOver = timer(request.options.timeoutMs ?? Number.POSITIVE_INFINITY);
      return snapshot((open) => searchPage(open, request, isOver));
    },
    count: ({
      stepMs,
      ...count
    }: {
      tenant: number;
      query: Query;
      request: CountRequest;
      stepMs: number;
    }) => {
      const isOver = timer(stepMs);
      return snapshot((open) => countStep(open, count, isOver));
    },
    retentionStep: ({ tenant, bounds }: { tenant: number; bounds: RetentionBounds }) =>
      snapshot(({ sql }) => retentionStep(sql, tenant, bounds)),
    minutes: (a: { tenant: number; from: number }) =>
      snapshot((open) => minuteCounts(open, a.tenant, a.from)),
    received: (a: { tenant: number; from: number }) =>
      snapshot((open) => receivedSince(open, a.tenant, a.from)),
    busiestHosts: (a: { tenant: number; from: number; limit: number }) =>
      snapshot((open) => busiestHosts(open, a.tenant, a.from, a.limit)),
    values: (a: { tenant: number; wanted: WantedValues }) =>
      snapshot((open) => fieldValues(open, a.tenant, a.wanted)),
    sql: ({ sql, parameters }: { sql: string; parameters: readonly unknown[] }) =>
      read(({ db }) => db.prepare(sql).all(...parameters), sql.slice(0, reportedSqlChars)),
  },
  closeSession,
);
