/**
 * Generates a history directly in SQLite: 1,000 hosts in bursts over 90 days, with the levels, tokens, routes, clears and
 * receipts of a busy tenant. Run: node bench/history-data.ts FILE ROWS
 */
import { existsSync } from 'node:fs';
import { noTexts } from '#contract/history/fields.ts';
import type { Route } from '#core/log/route.ts';
import { type Db, openWritable } from '#storage/sqlite/file/database-file.ts';
import { clear } from '#storage/sqlite/log/alarms.ts';
import { append, recordReceipts } from '#storage/sqlite/log/changes.ts';
import { LogWriter } from '#storage/sqlite/log/log-writer.ts';
import { maintain } from '#storage/sqlite/log/maintenance.ts';
import { ensurePartition } from '#storage/sqlite/log/partitions.ts';
import { uuidToText } from '#storage/sqlite/log/rows.ts';
import { migrate } from '#storage/sqlite/migrate.ts';
import { Dice, writeMessage, writeTitle } from './history-text.ts';

export const tenant = 1;
export const newest = Date.UTC(2026, 10, 20);
const days = 90;
const hostCount = 1000;
const tokenCount = 40;
const panelCount = 12;
/** Rows in one transaction: about as many as a server indexes at once. */
const batchRows = 500;
/** How often, in rows, expired notifications are removed from the live set. */
const sweptRows = 20_000;

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

/** Routes by three versions of the rules: to all panels, by tag, to single panels, to none, and muted. */
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

const timeOf = (number: number, rows: number) =>
  Math.floor(newest - ((rows - number) * days * 86_400_000) / rows);

interface Burst {
  host: number;
  token: number;
  level: (typeof levels)[number];
  left: number;
}

/** Fills a new database with the code of a running server. `log` gets the progress. */
export function generateHistory(
  path: string,
  rows: number,
  log: (line: string) => void = () => undefined,
): void {
  const db = openWritable(path);
  migrate(db);
  ensurePartition(db);
  // No fsync: an interrupted run is repeated.
  db.pragma('synchronous = OFF');
  db.pragma('wal_autocheckpoint = 20000');
  db.pragma('cache_size = -1000000');
  addDirectory(db);
  const writer = new LogWriter(db);
  const write = prepareWriter(writer, new Dice(1), rows);
  const sweep = (now: number) => db.prepare('DELETE FROM live WHERE expires_at <= ?').run(now);
  for (let done = 0; done < rows; done += batchRows) {
    writer.transaction(() => {
      for (let number = done + 1; number <= Math.min(rows, done + batchRows); number++) write(number);
    });
    while (writer.transaction(() => maintain(writer, { rows: 10_000, pages: 1_000 })));
    if (done % sweptRows === 0) sweep(timeOf(done, rows));
    if (done % 500_000 === 0) log(`${done} of ${rows} rows`);
  }
  sweep(newest);
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
  })();
}

/** Writes a notification by its number, with its clear and receipts. */
function prepareWriter(writer: LogWriter, dice: Dice, rows: number): (number: number) => void {
  const bursts: Burst[] = [];
  const next = source(dice, bursts);
  const texts = routes.map((route) => JSON.stringify(route));
  const panel = { id: panelId(0), tags: panelTags(0) };
  return (number) => {
    const { host, token, level } = next();
    const receivedAt = timeOf(number, rows);
    const sticky = dice.below(20) === 0 ? level.ttl > 0 : level.ttl === 0;
    const expiresAt = sticky ? null : receivedAt + Math.max(15_000, level.ttl);
    const route =
      Math.floor(((number - 1) / rows) * 3) * routesPerRevision +
      (dice.below(2) === 0 ? 0 : dice.skewed(routesPerRevision));
    const { target, muted } = routes[route] as Route;
    const isForPanels = !muted && (target.all || target.ids.length + target.tags.length > 0);
    const throttled = isForPanels && dice.below(200) === 0;
    const bytes = Buffer.alloc(16);
    bytes.writeUIntBE(receivedAt, 0, 6);
    bytes.writeUInt32BE(number, 12);
    const id = uuidToText(bytes);
    const name = host === null ? null : hostName(host);
    const shown = isForPanels && !throttled;
    const draft = {
      ...noTexts,
      id,
      receivedAt,
      title: writeTitle(dice, name ?? 'somewhere'),
      message: writeMessage(dice, name ?? 'somewhere'),
      level: level.name,
      rank: level.rank,
      ttl: expiresAt === null ? 0 : expiresAt - receivedAt,
      sentLevel: level.name,
      sentTtl: null,
      expiresAt,
      ip: host === null || dice.below(3) === 0 ? null : hostAddress(host),
      host: name,
      key: dice.below(4) === 0 && name !== null ? `check:${name}:${dice.below(5)}` : null,
      sourceIp: `192.0.2.${token}`,
      tokenId: tokenId(token),
      throttledOn: throttled ? id : null,
      throttleCount: throttled ? 1 : 0,
      route: texts[route] as string,
      shown,
    };
    append(writer, tenant, draft, null);
    if (!shown) return;
    if (dice.below(50) > 0)
      recordReceipts(writer, tenant, panel, [{ id, state: 'shown', at: receivedAt + 20 }]);
    // Most notifications without a ttl have been cleared.
    if (expiresAt === null && dice.below(50) > 0)
      clear(writer, tenant, id, { by: 'ann', at: receivedAt + 60_000 });
  };
}

/** Hosts send bursts of the same kind; between the bursts everything is mixed. */
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

if (import.meta.main) {
  const [path, rows] = process.argv.slice(2);
  if (!path || !rows || existsSync(path)) {
    console.error('usage: node bench/history-data.ts FILE ROWS, where FILE is a new one');
    process.exit(2);
  }
  generateHistory(path, Number(rows), console.log);
}
