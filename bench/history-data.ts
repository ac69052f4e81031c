/**
 * Makes a history straight in SQLite: 1,000 hosts in bursts over 90 days, with levels, tokens, routes, clears and receipts as
 * a busy tenant has them. Run: node bench/history-data.ts FILE ROWS
 */
import { existsSync } from 'node:fs';
import { addressKey } from '../src/core/addresses.ts';
import type { Route } from '../src/core/ports.ts';
import { type Db, openWritable } from '../src/storage/sqlite/database.ts';
import { indexSlice } from '../src/storage/sqlite/indexer.ts';
import { migrate } from '../src/storage/sqlite/migrate.ts';
import { entryOf } from '../src/storage/sqlite/rows.ts';
import { Dice, writeMessage, writeTitle } from './history-text.ts';

export const tenant = 1;
export const newest = Date.UTC(2026, 10, 20);
const days = 90;
const hostCount = 1000;
const tokenCount = 40;
const panelCount = 12;
/** The newest notifications are left to the tail, as on a running server. */
const tailRows = 300;
/** Written in one transaction. */
const batchRows = 50_000;

const levels = [
  { name: 'info', rank: 20, share: 55, ttl: 30_000 },
  { name: 'success', rank: 10, share: 20, ttl: 15_000 },
  { name: 'warning', rank: 30, share: 17, ttl: 120_000 },
  { name: 'error', rank: 40, share: 7, ttl: 0 },
  { name: 'critical', rank: 50, share: 1, ttl: 0 },
] as const;

const roles = ['db', 'web', 'app', 'cache', 'queue', 'node', 'edge', 'build', 'store', 'log'];
export const hostName = (number: number) =>
  `${roles[number % roles.length]}-${String(Math.floor(number / roles.length)).padStart(2, '0')}.example.com`;
export const hostAddress = (number: number) =>
  `10.${number % 4}.${Math.floor(number / 4) % 64}.${1 + Math.floor(number / 256)}`;
export const tokenId = (number: number) => `token${String(number).padStart(5, '0')}`;
export const panelId = (number: number) => `panel-${number}`;
export const panelTags = (number: number) => (number < 4 ? ['noc'] : number < 8 ? ['floor'] : []);

/** Over three versions of the rules: to everyone, to tags, to single panels, to nobody, muted. */
export const routes: readonly Route[] = [1, 2, 3].flatMap((revision) => {
  const rule = (number: number) => ({ id: `rule-${number}`, name: `rule ${number}` });
  const route = (rules: number[], target: Partial<Route['target']>, muted = false): Route => ({
    revision,
    rules: rules.map(rule),
    muted,
    target: { all: false, ids: [], tags: [], ...target },
  });
  return [
    route([], { all: true }),
    route([1], { tags: ['noc'] }),
    route([2], { tags: ['floor', 'noc'] }),
    ...Array.from({ length: panelCount }, (_, panel) => route([3 + (panel % 4)], { ids: [panelId(panel)] })),
    route([8], {}),
    route([9], { all: true }, true),
  ];
});
const routesPerRevision = routes.length / 3;

interface Burst {
  host: number;
  token: number;
  level: (typeof levels)[number];
  left: number;
}

/** Fills a new database. `log` hears how far it is. */
export function generateHistory(
  path: string,
  rows: number,
  log: (line: string) => void = () => undefined,
): void {
  const db = openWritable(path);
  migrate(db);
  // What breaks off is begun anew: nothing waits for the disk.
  db.pragma('synchronous = OFF');
  db.pragma('wal_autocheckpoint = 20000');
  db.pragma('cache_size = -1000000');
  addDirectory(db);
  const writer = prepareWriter(db, new Dice(1), rows);
  for (let done = 0; done < rows; done += batchRows) {
    db.transaction(() => {
      for (let position = done + 1; position <= Math.min(rows, done + batchRows); position++)
        writer(position);
    })();
    if (done % 1_000_000 === 0) log(`${done} of ${rows} rows`);
  }
  addIndexes(db, rows, log);
  db.exec(`
    INSERT INTO minutes SELECT ${tenant}, received_at / 60000, level, count(*), min(entry & 1099511627775), max(entry & 1099511627775)
      FROM notifications GROUP BY 2, 3;
    DELETE FROM live WHERE expires_at <= ${newest};`);
  db.pragma('wal_checkpoint(TRUNCATE)');
  db.close();
}

function addDirectory(db: Db): void {
  db.transaction(() => {
    db.exec(
      `INSERT INTO tenants (id, name, title, changed, created_at) VALUES (${tenant}, 'bench', 'bench', 1, 0)`,
    );
    const addToken = db.prepare(
      `INSERT INTO credentials (tenant, id, kind, name, hash, scopes, allow_from, created_at, created_by) VALUES (${tenant}, ?, 'token', ?, '', '[]', '[]', 0, '')`,
    );
    for (let number = 0; number < tokenCount; number++) addToken.run(tokenId(number), `token ${number}`);
    const addRoute = db.prepare(`INSERT INTO routes VALUES (${tenant}, ?, ?)`);
    for (const [i, route] of routes.entries()) addRoute.run(i + 1, JSON.stringify(route));
  })();
}

/** Writes the notification at a position, and what became of it. */
function prepareWriter(db: Db, dice: Dice, rows: number): (position: number) => void {
  const addNotification = db.prepare(
    `INSERT INTO notifications VALUES (${entryOf(String(tenant), '?')}, ${Array(23).fill('?').join(', ')})`,
  );
  const addReceipt = db.prepare(`INSERT INTO receipts VALUES (${tenant}, ?, ?, ?, NULL, NULL)`);
  const addClear = db.prepare(
    `INSERT INTO clears VALUES (${entryOf(String(tenant), '?')}, ${entryOf(String(tenant), '?')}, ?, 'cleared', 'ann', ?, 1)`,
  );
  const addLive = db.prepare(`INSERT INTO live VALUES (${tenant}, ?, ?, ?, NULL, ?)`);
  const bursts: Burst[] = [];
  const next = source(dice, bursts);
  const stepMs = (days * 86_400_000) / rows;
  return (position) => {
    const { host, token, level } = next();
    const receivedAt = Math.floor(newest - (rows - position) * stepMs);
    const sticky = dice.below(20) === 0 ? level.ttl > 0 : level.ttl === 0;
    const expiresAt = sticky ? null : receivedAt + Math.max(15_000, level.ttl);
    const route =
      Math.floor(((position - 1) / rows) * 3) * routesPerRevision +
      (dice.below(2) === 0 ? 0 : dice.skewed(routesPerRevision));
    const { target, muted } = routes[route] as Route;
    const shown = !muted && (target.all || target.ids.length + target.tags.length > 0);
    const throttled = shown && dice.below(200) === 0;
    const id = Buffer.alloc(16);
    id.writeUIntBE(receivedAt, 0, 6);
    id.writeUInt32BE(position, 12);
    const name = host === null ? null : hostName(host);
    const ip = host === null || dice.below(3) === 0 ? null : hostAddress(host);
    const source = `192.0.2.${token}`;
    const key = dice.below(4) === 0 && name !== null ? `check:${name}:${dice.below(5)}` : null;
    addNotification.run(
      position,
      id,
      receivedAt,
      writeTitle(dice, name ?? 'somewhere'),
      writeMessage(dice, name ?? 'somewhere'),
      level.name,
      level.rank,
      expiresAt === null ? 0 : expiresAt - receivedAt,
      level.name,
      null,
      expiresAt,
      ip,
      ip && addressKey(ip),
      name,
      name,
      key,
      null,
      source,
      addressKey(source),
      tokenId(token),
      route + 1,
      muted ? 1 : 0,
      throttled ? id : null,
      throttled ? 1 : 0,
    );
    if (!shown || throttled) return;
    if (dice.below(50) > 0) addReceipt.run(position, panelId(0), receivedAt + 20);
    // What stays until cleared mostly was cleared; positions of clears lie beyond the log, where no search meets them.
    if (expiresAt === null && dice.below(50) > 0)
      addClear.run(rows + position, position, id, receivedAt + 60_000);
    else addLive.run(level.rank, position, expiresAt, route + 1);
  };
}

/** Hosts speak up in bursts of the same kind; in between everything is mixed. */
function source(
  dice: Dice,
  bursts: Burst[],
): () => { host: number | null; token: number; level: (typeof levels)[number] } {
  const level = () => {
    let share = dice.below(100);
    for (const candidate of levels) {
      share -= candidate.share;
      if (share < 0) return candidate;
    }
    return levels[0];
  };
  return () => {
    if (dice.below(400) === 0)
      bursts.push({
        host: dice.below(hostCount),
        token: dice.skewed(tokenCount),
        level: level(),
        left: 10 + dice.below(300),
      });
    const burst = bursts.length > 0 && dice.below(3) === 0 ? dice.of(bursts) : undefined;
    if (burst) {
      burst.left -= 1;
      if (burst.left <= 0) bursts.splice(bursts.indexOf(burst), 1);
      return burst;
    }
    return {
      host: dice.below(10) === 0 ? null : dice.below(hostCount),
      token: dice.skewed(tokenCount),
      level: level(),
    };
  };
}

/** By the code that does it on a running server, but for the newest. */
function addIndexes(db: Db, rows: number, log: (line: string) => void): void {
  db.exec(`INSERT INTO logs VALUES (${tenant}, ${Math.max(0, rows - tailRows)}, 1, 0, ${rows}, 0)`);
  let done = 0;
  // And merged to the end, as a history that grew over months is.
  for (let unfinished = true; unfinished; ) {
    const slice = indexSlice(db, batchRows, { maxChars: Number.MAX_SAFE_INTEGER });
    unfinished = slice.behind || slice.merging;
    if (Math.floor((done + slice.indexed) / 1_000_000) > Math.floor(done / 1_000_000))
      log(`${done + slice.indexed} of ${rows} indexed`);
    done += slice.indexed;
  }
  db.exec(`UPDATE logs SET head = ${rows}`);
}

if (import.meta.main) {
  const [path, rows] = process.argv.slice(2);
  if (!path || !rows || existsSync(path)) {
    console.error('usage: node bench/history-data.ts FILE ROWS, where FILE is a new one');
    process.exit(2);
  }
  generateHistory(path, Number(rows), console.log);
}
