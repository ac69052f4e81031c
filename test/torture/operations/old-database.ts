/** Databases as earlier Belfrys left them, with as many notifications as one likes. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { uuidv7 } from 'uuidv7';
import { builtInLevels } from '../../../src/contract/level-styles.ts';
import { indexSlice } from '../../../src/storage/sqlite/indexer.ts';
import { root } from '../../support/server-process.ts';

const folder = join(root, 'src/storage/sqlite/migrations');

/** Every schema there ever was, the newest last: a migration is never changed once it is released. */
export const schemas: readonly { readonly version: number; readonly sql: string }[] = readdirSync(folder)
  .filter((file) => file.endsWith('.sql'))
  .sort()
  .map((file) => ({ version: Number(file.slice(0, 4)), sql: readFileSync(join(folder, file), 'utf8') }));

export const newest = schemas.at(-1)?.version ?? 0;

/** Hosts are dealt out in turn, so that how many notifications each has is known. */
export const hosts = 100;

/** Makes a database of schema `version` with the tenant `default` and `rows` notifications, all indexed as then. */
export function createOldDatabase(path: string, version: number, rows: number): void {
  const db = new Database(path);
  db.pragma('journal_mode = WAL');
  db.pragma('synchronous = OFF');
  for (const each of schemas.filter((schema) => schema.version <= version)) db.exec(each.sql);
  db.pragma(`user_version = ${version}`);
  db.prepare(
    "INSERT INTO tenants (name, title, changed, created_at) VALUES ('default', 'Default', 1, 1)",
  ).run();
  const tenant = db.prepare('SELECT id FROM tenants').pluck().get() as number;
  const level = db.prepare("INSERT INTO levels VALUES (?, ?, ?, '#808080', 'bell', 'none', 30000)");
  for (const [i, name] of builtInLevels.entries()) level.run(tenant, name, (i + 1) * 10);
  db.prepare('INSERT INTO routes (tenant, id, route) VALUES (?, 1, ?)').run(
    tenant,
    '{"revision":0,"rules":[],"muted":false,"target":{"all":true,"ids":[],"tags":[]}}',
  );
  const insert =
    db.prepare(`INSERT INTO notifications (entry, id, received_at, title, message, level, rank, ttl, sent_level,
    sent_ttl, expires_at, ip, ip_key, host, host_key, key, url, source_ip, source_ip_key, token_id, route, muted, throttled_on,
    throttle_count) VALUES (?, ?, ?, ?, ?, 'info', 20, 1000, 'info', NULL, ?, NULL, NULL, ?, ?, NULL, NULL, '127.0.0.1', ?,
    'tokentoken', 1, 0, NULL, 0)`);
  const loopback = Buffer.from('00000000000000000000ffff7f000001', 'hex');
  const start = Date.now() - rows * 10;
  db.transaction(() => {
    for (let n = 1; n <= rows; n++) {
      const host = `db-${n % hosts}`;
      const at = start + n * 10;
      const id = Buffer.from(uuidv7().replaceAll('-', ''), 'hex');
      insert.run(
        BigInt(tenant) * 2n ** 40n + BigInt(n),
        id,
        at,
        `n-${n}`,
        `word${n % 1_000} is full`,
        at + 1_000,
        host,
        host,
        loopback,
      );
    }
  })();
  db.prepare(
    'INSERT INTO logs (tenant, head, first, indexed, notifications, bytes) VALUES (?, ?, 1, 0, ?, ?)',
  ).run(tenant, rows, rows, rows * 400);
  if (version === 1) indexAsFirst(db, tenant, rows);
  else while (indexSlice(db, 5_000).behind);
  db.pragma('wal_checkpoint(TRUNCATE)');
  db.pragma('synchronous = FULL');
  db.close();
}

/** What the first Belfry's indexes held. */
function indexAsFirst(db: Database.Database, tenant: number, rows: number): void {
  const position = 'entry & 0xffffffffff';
  db.exec(`
    INSERT INTO index_id SELECT entry >> 40, id, ${position} FROM notifications;
    INSERT INTO index_host SELECT entry >> 40, host_key, ${position} FROM notifications;
    INSERT INTO index_source SELECT entry >> 40, source_ip_key, ${position} FROM notifications;
    INSERT INTO index_level SELECT entry >> 40, level, ${position} FROM notifications;
    INSERT INTO index_token SELECT entry >> 40, token_id, ${position} FROM notifications;
    INSERT INTO index_route SELECT entry >> 40, route, ${position} FROM notifications;
    INSERT INTO index_text (rowid, title, message) SELECT entry, title, message FROM notifications;
  `);
  db.prepare('UPDATE logs SET indexed = ? WHERE tenant = ?').run(rows, tenant);
}

/** The tables and indexes of a database, in words. */
export function schemaOf(path: string): readonly string[] {
  const db = new Database(path, { readonly: true });
  const rows = db
    .prepare(
      "SELECT type || ' ' || name || ' ' || coalesce(sql, '') FROM sqlite_schema WHERE name NOT LIKE 'sqlite_%' ORDER BY 1",
    )
    .pluck()
    .all() as string[];
  db.close();
  return rows;
}
