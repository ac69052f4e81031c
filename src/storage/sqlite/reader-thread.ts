/** A thread with a connection that cannot write: one runs the short reads, another the searches. */
import { workerData } from 'node:worker_threads';
import type { PanelAddress, SearchOptions } from '../../core/ports.ts';
import type { Query } from '../../core/search.ts';
import { type Db, openReadOnly } from './database.ts';
import { LogReader } from './log-reader.ts';
import { findById, searchPage } from './search.ts';
import { serveThread } from './thread.ts';

const { path } = workerData as { path: string };

let db: Db = openReadOnly(path);
let log = new LogReader(db);

/** A read that failed may have met a disk that was gone for a while: the next one gets a fresh connection. */
function read<T>(work: () => T): T {
  try {
    return work();
  } catch (error) {
    const code: unknown = error instanceof Error && 'code' in error ? error.code : undefined;
    if (typeof code === 'string' && /^SQLITE_(IOERR|CORRUPT|NOTADB|CANTOPEN)/.test(code)) reopen();
    throw error;
  }
}

function reopen(): void {
  try {
    db.close();
  } finally {
    db = openReadOnly(path);
    log = new LogReader(db);
  }
}

serveThread(
  {
    bounds: ({ tenant }: { tenant: number }) => read(() => log.bounds(tenant)),
    size: ({ tenant }: { tenant: number }) => read(() => log.size(tenant)),
    readAfter: (a: { tenant: number; position: number; limit: number }) =>
      read(() => log.readAfter(a.tenant, a.position, a.limit)),
    live: (a: { tenant: number; panel: PanelAddress; now: number; limit: number }) =>
      read(() => log.live(a.tenant, a.panel, a.now, a.limit)),
    receiptsOf: ({ tenant, id }: { tenant: number; id: string }) => read(() => log.receiptsOf(tenant, id)),
    find: ({ tenant, id }: { tenant: number; id: string }) => read(() => findById(db, tenant, id)),
    search: ({ tenant, query, options }: { tenant: number; query: Query; options: SearchOptions }) =>
      read(() => searchPage(db, tenant, query, options)),
    sql: ({ sql, parameters }: { sql: string; parameters: readonly unknown[] }) =>
      read(() => db.prepare(sql).all(...parameters)),
  },
  () => db.close(),
);
