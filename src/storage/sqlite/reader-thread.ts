/** A thread with a connection that cannot write: one runs the short reads, another the searches. */
import { platform } from 'node:os';
import { workerData } from 'node:worker_threads';
import { unavailable } from '../../core/errors.ts';
import type { WantedValues } from '../../core/figures.ts';
import type { SearchOptions } from '../../core/ports.ts';
import type { Query } from '../../core/search/search-query.ts';
import type { PanelAddress } from '../../core/target.ts';
import { letOthersGoFirst } from '../low-priority.ts';
import { type Db, openReadOnly } from './database.ts';
import { damaged, damageReport, isDamage, isDiskFailure } from './disk-errors.ts';
import { type CountRequest, countStep } from './figures/count.ts';
import { fieldValues } from './figures/field-values.ts';
import { busiestHosts, minuteCounts, receivedSince } from './figures/minutes.ts';
import type { TenantLivePlace } from './jobs.ts';
import { LogReader } from './log-reader.ts';
import { oldestRevision, unusedRoutes } from './route-use.ts';
import { findById, searchPage } from './search/search.ts';
import { defaultTuning, tuningOfLaterSteps } from './search/tuning.ts';
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
  readonly log: LogReader;
}

let session: Session | undefined;
const reportedSqlChars = 200;

function open(): Session {
  const db = openReadOnly(path);
  return { db, log: new LogReader(db) };
}

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
    stillLive: (a: { tenant: number; positions: readonly number[]; now: number; chars: number }) =>
      read(({ log }) => log.stillLive(a.tenant, a.positions, a.now, a.chars)),
    expired: ({ now, after, limit }: { now: number; after: TenantLivePlace; limit: number }) =>
      read(({ log }) => log.expired(now, after, limit)),
    receiptsOf: ({ tenant, id }: { tenant: number; id: string }) =>
      read(({ log }) => log.receiptsOf(tenant, id)),
    findRetry: (a: { tenant: number; key: string; now: number }) =>
      read(({ log }) => log.findRetry(a.tenant, a.key, a.now)),
    unusedRoutes: ({ tenant, after }: { tenant: number; after: number }) =>
      read(({ db, log }) => log.snapshot(() => unusedRoutes(db, tenant, after))),
    oldestRevision: ({ tenant }: { tenant: number }) => read(({ db }) => oldestRevision(db, tenant)),
    // The routes of a connection are kept beside it; a new one reads what there is.
    forgetRoutes: () => drop(),
    find: ({ tenant, id }: { tenant: number; id: string }) => read(({ db }) => findById(db, tenant, id)),
    search: (a: { tenant: number; query: Query; options: SearchOptions; isFirst: boolean }) =>
      read(({ db }) =>
        searchPage(db, a.tenant, a.query, a.options, a.isFirst ? defaultTuning : tuningOfLaterSteps),
      ),
    count: (a: { tenant: number; query: Query; request: CountRequest }) =>
      read(({ db }) => countStep(db, a.tenant, a.query, a.request)),
    minutes: (a: { tenant: number; from: number }) => read(({ db }) => minuteCounts(db, a.tenant, a.from)),
    received: (a: { tenant: number; from: number }) => read(({ db }) => receivedSince(db, a.tenant, a.from)),
    busiestHosts: (a: { tenant: number; from: number; limit: number }) =>
      read(({ db }) => busiestHosts(db, a.tenant, a.from, a.limit)),
    values: (a: { tenant: number; wanted: WantedValues }) =>
      read(({ db }) => fieldValues(db, a.tenant, a.wanted)),
    sql: ({ sql, parameters }: { sql: string; parameters: readonly unknown[] }) =>
      read(({ db }) => db.prepare(sql).all(...parameters), sql.slice(0, reportedSqlChars)),
  },
  drop,
);
