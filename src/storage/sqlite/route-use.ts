/** Which routes the log still refers to: notifications by their index, and clears that outlived what they cleared. */
import type { Database } from 'better-sqlite3';
import { entryOf } from './rows.ts';

export interface UnusedRoutes {
  readonly ids: readonly number[];
  /** The log's head when this was read. */
  readonly head: number;
  /** Where to go on; null at the end. */
  readonly next: number | null;
}

/** Routes looked at in one call: a few milliseconds. */
const chunk = 1_000;
/** Notifications not indexed yet are looked through; with more of them nothing is dropped this time. */
const mostUnindexed = 20_000;

/** Routes after the id `after` that nothing refers to. The newest is never among them: its successor gets the id after it. */
export function unusedRoutes(db: Database, tenant: number, after: number): UnusedRoutes {
  const log = db
    .prepare<[number], { head: number; first: number; indexed: number }>(
      'SELECT head, first, indexed FROM logs WHERE tenant = ?',
    )
    .get(tenant);
  if (!log || log.head - log.indexed > mostUnindexed) return { ids: [], head: 0, next: null };
  const ids = db
    .prepare<[number, number], number>(
      `SELECT id FROM routes WHERE tenant = ? AND id > ? ORDER BY id LIMIT ${chunk}`,
    )
    .pluck()
    .all(tenant, after);
  const newest = db
    .prepare<[number], number>('SELECT max(id) FROM routes WHERE tenant = ?')
    .pluck()
    .get(tenant);
  const recent = db
    .prepare<[number, number, number, number], number>(
      `SELECT DISTINCT route FROM notifications WHERE entry > ${entryOf('?', '?')} AND entry <= ${entryOf('?', '?')}`,
    )
    .pluck()
    .all(tenant, log.indexed, tenant, log.head);
  const ofClears = db
    .prepare<[number, number, number, number], number>(
      `SELECT DISTINCT route FROM clears WHERE cleared >= ${entryOf('?', '?')} AND cleared < ${entryOf('?', '?')}`,
    )
    .pluck()
    .all(tenant, 0, tenant, log.first);
  const used = new Set([...recent, ...ofClears, newest]);
  const isIndexed = db
    .prepare<[number, bigint], number>(
      "SELECT 1 FROM postings WHERE tenant = ? AND field = 'route' AND value = ? LIMIT 1",
    )
    .pluck();
  return {
    ids: ids.filter((id) => !used.has(id) && isIndexed.get(tenant, BigInt(id)) === undefined),
    head: log.head,
    next: ids.length < chunk ? null : (ids.at(-1) ?? null),
  };
}

/** The lowest revision by which a route that is kept was decided; undefined without any. */
export function oldestRevision(db: Database, tenant: number): number | undefined {
  const found = db
    .prepare<[number], number | null>("SELECT min(route ->> '$.revision') FROM routes WHERE tenant = ?")
    .pluck()
    .get(tenant);
  return found ?? undefined;
}
