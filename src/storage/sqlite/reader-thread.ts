/** A thread with a connection that cannot write: one runs the short reads, another the searches. */
import { platform } from 'node:os';
import { workerData } from 'node:worker_threads';
import { unavailable } from '#core/errors.ts';
import type { SearchOptions } from '#core/ports.ts';
import type { Query } from '#core/search/search-query.ts';
import type { WantedValues } from '#core/statistics.ts';
import type { PanelAddress } from '#core/target.ts';
import { letOthersGoFirst } from '../low-priority.ts';
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
import { serveThread } from './thread.ts';

/** What the thread is started with. */
export interface ReaderData {
  readonly path: string;
  /** Its work can wait where there are too few cores: notifications and panels go first. */
  readonly yields?: boolean;
}

const { path, yields } = workerData as ReaderData;
// Only Linux has a priority for each thread; elsewhere this would be the whole process.
if (yields && platform() === 'linux') letOthersGoFirst();

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

/** Tells whether so many milliseconds have passed. */
function timer(ms: number): () => boolean {
  const endsAt = performance.now() + ms;
  return () => performance.now() >= endsAt;
}

/** A read out of one snapshot. */
const snapshot = <T>(work: (session: Session) => T): T => read((open) => open.log.snapshot(() => work(open)));

/**
 * Reads on the open connection. One that failed may have met a disk that was gone for a while: the next gets a fresh one.
 * @throws AppError `unavailable` when the file is damaged or the disk fails.
 */
function read<T>(work: (session: Session) => T, what = 'reading'): T {
  try {
    session ??= open();
    return work(session);
  } catch (error) {
    if (isDamage(error)) {
      drop();
      thread.notify({ damage: damageReport(error, what) });
      throw unavailable(damaged, error);
    }
    if (!isDiskFailure(error)) throw error;
    drop();
    throw unavailable(`the disk refused a read (${(error as Error).message})`, error);
  }
}

function drop(): void {
  const broken = session;
  session = undefined;
  try {
    broken?.db.close();
  } catch {
    // A handle that cannot be closed is forgotten.
  }
}

const thread = serveThread(
  {
    bounds: ({ tenant }: { tenant: number }) => read(({ log }) => log.bounds(tenant)),
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
    search: (asked: { tenant: number; query: Query; options: SearchOptions }) => {
      const isOver = timer(asked.options.timeoutMs ?? Number.POSITIVE_INFINITY);
      return snapshot((open) => searchPage(open, asked, isOver));
    },
    count: ({
      stepMs,
      ...asked
    }: {
      tenant: number;
      query: Query;
      request: CountRequest;
      stepMs: number;
    }) => {
      const isOver = timer(stepMs);
      return snapshot((open) => countStep(open, asked, isOver));
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
  drop,
);
