/** A thread with a connection that cannot write: one runs the short reads, another the searches. */
import { workerData } from 'node:worker_threads';
import type { PanelAddress, SearchOptions } from '../../core/ports.ts';
import type { Query } from '../../core/search.ts';
import { type Db, openReadOnly } from './database.ts';
import { LogReader } from './log-reader.ts';
import { findById, searchPage } from './search.ts';
import { serveThread } from './thread.ts';

const { path } = workerData as { path: string };

interface Session {
  readonly db: Db;
  readonly log: LogReader;
}

let session: Session | undefined;

function open(): Session {
  const db = openReadOnly(path);
  return { db, log: new LogReader(db) };
}

/** Reads on the open connection. One that failed may have met a disk that was gone for a while: the next gets a fresh one. */
function read<T>(work: (session: Session) => T): T {
  session ??= open();
  try {
    return work(session);
  } catch (error) {
    const code: unknown = error instanceof Error && 'code' in error ? error.code : undefined;
    if (typeof code === 'string' && /^SQLITE_(IOERR|CORRUPT|NOTADB|CANTOPEN)/.test(code)) drop();
    throw error;
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

serveThread(
  {
    bounds: ({ tenant }: { tenant: number }) => read(({ log }) => log.bounds(tenant)),
    size: ({ tenant }: { tenant: number }) => read(({ log }) => log.size(tenant)),
    readAfter: (a: { tenant: number; position: number; limit: number }) =>
      read(({ log }) => log.readAfter(a.tenant, a.position, a.limit)),
    live: (a: { tenant: number; panel: PanelAddress; now: number; limit: number }) =>
      read(({ log }) => log.live(a.tenant, a.panel, a.now, a.limit)),
    receiptsOf: ({ tenant, id }: { tenant: number; id: string }) =>
      read(({ log }) => log.receiptsOf(tenant, id)),
    find: ({ tenant, id }: { tenant: number; id: string }) => read(({ db }) => findById(db, tenant, id)),
    search: ({ tenant, query, options }: { tenant: number; query: Query; options: SearchOptions }) =>
      read(({ db }) => searchPage(db, tenant, query, options)),
    sql: ({ sql, parameters }: { sql: string; parameters: readonly unknown[] }) =>
      read(({ db }) => db.prepare(sql).all(...parameters)),
  },
  drop,
);
