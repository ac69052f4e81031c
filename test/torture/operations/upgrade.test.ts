import { spawn } from 'node:child_process';
import { copyFileSync, mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import Database from 'better-sqlite3';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { targets } from '../../../scripts/targets.mjs';
import {
  belfry,
  credentials,
  endServers,
  environment,
  root,
  ServerProcess,
} from '../../support/server-process.ts';
import { countOf, timeLimit } from '../counts.ts';
import { report } from '../report.ts';
import { createOldDatabase, hosts, newest, schemaOf, schemas } from './old-database.ts';

const rows = countOf('upgradedRows');
const kills = countOf('upgradeKills');

let home: string;
let fresh: readonly string[];
beforeAll(async () => {
  home = mkdtempSync(join(tmpdir(), 'belfry-upgrade-'));
  const folder = mkdtempSync(join(home, 'fresh-'));
  await belfry(folder, 'tenant', 'list');
  fresh = schemaOf(join(folder, 'belfry.db'));
});
afterAll(async () => {
  await endServers();
  rmSync(home, { recursive: true, force: true });
});

/** Of a whole database, the schema's version and how many notifications it holds. @throws Error when it is damaged. */
function look(path: string): { version: number; notifications: number; head: number } {
  const db = new Database(path);
  try {
    expect(db.pragma('integrity_check(1)', { simple: true })).toBe('ok');
    return {
      version: db.pragma('user_version', { simple: true }) as number,
      notifications: db.prepare('SELECT count(*) FROM notifications').pluck().get() as number,
      head: db.prepare('SELECT head FROM logs').pluck().get() as number,
    };
  } finally {
    db.close();
  }
}

interface Attempt {
  /** From the first write of the upgrade to the end of the process, however that came. */
  readonly ms: number;
  readonly killed: boolean;
}

/** Starts a command that upgrades the database; kills it so long after the upgrade's first write. */
async function upgrade(folder: string, killAfterMs = Number.POSITIVE_INFINITY): Promise<Attempt> {
  const [{ argv = [] } = {}] = targets.belfry?.(['tenant', 'list']) ?? [];
  const child = spawn(process.execPath, argv, { cwd: root, env: environment(folder), stdio: 'ignore' });
  const ended = new Promise<NodeJS.Signals | null>((resolve) =>
    child.once('exit', (_code, signal) => resolve(signal)),
  );
  let isOver = false;
  void ended.then(() => {
    isOver = true;
  });
  const log = join(folder, 'belfry.db-wal');
  while (!isOver && (statSync(log, { throwIfNoEntry: false })?.size ?? 0) === 0) await sleep(1);
  const began = performance.now();
  if (Number.isFinite(killAfterMs)) {
    await Promise.race([sleep(killAfterMs), ended]);
    child.kill('SIGKILL');
  }
  const signal = await ended;
  return { ms: performance.now() - began, killed: signal === 'SIGKILL' };
}

describe.each(schemas.filter(({ version }) => version < newest))(
  `a database of ${rows} notifications and schema $version`,
  ({ version }) => {
    test(`is upgraded whole, through ${kills} kills on the way, and finds everything it found before`, {
      timeout: timeLimit(120_000),
    }, async () => {
      const old = join(home, `schema-${version}.db`);
      createOldDatabase(old, version, rows);
      const copy = (): string => {
        const folder = mkdtempSync(join(home, 'copy-'));
        copyFileSync(old, join(folder, 'belfry.db'));
        return folder;
      };
      const whole = copy();
      const { ms: uninterruptedMs } = await upgrade(whole);
      rmSync(whole, { recursive: true });

      const met = new Set<number>();
      let interrupted = 0;
      let last = '';
      for (let i = 0; i < kills; i++) {
        if (last !== '') rmSync(last, { recursive: true });
        last = copy();
        const { killed } = await upgrade(last, (uninterruptedMs * i) / kills);
        if (killed) interrupted += 1;
        const { version: now, notifications } = look(join(last, 'belfry.db'));
        expect(now).toBeGreaterThanOrEqual(version);
        expect(notifications).toBe(rows);
        met.add(now);
      }
      const readyMs = await expectGoodAsNew(last);
      rmSync(old);
      report({
        promise: 'an upgrade is whole or has not happened, whatever interrupts it',
        method: `schema ${version} to ${newest}, kill -9 spread over the time from the upgrade's first write, then integrity check, schema, and searches`,
        count: `${rows} notifications, ${kills} kills, ${interrupted} of them before its end`,
        result: `0 lost, the schema is that of a new database, everything is found; it takes ${Math.round(uninterruptedMs)} ms to the end of its process, and the server is ready ${Math.round(readyMs)} ms after a start`,
      });
      expect(interrupted).toBeGreaterThan(0);
    });
  },
);

/** Starts a server on what a kill left behind, and holds it to all that a new one promises. */
async function expectGoodAsNew(folder: string): Promise<number> {
  const { token, key } = await credentials(folder);
  expect(schemaOf(join(folder, 'belfry.db'))).toEqual(fresh);
  const server = await ServerProcess.start({ folder, env: { BELFRY_RETENTION_COUNT: 'off' } });
  // biome-ignore lint/suspicious/noExplicitAny: a test looks into what came
  const get = async (path: string): Promise<any> =>
    (await fetch(server.url + path, { headers: { authorization: `Bearer ${key}` } })).json();
  const sent = await fetch(`${server.url}/api/notify`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: '{"title":"after","message":"M"}',
  });
  expect(sent.status).toBe(200);
  expect((await get('/api/history?limit=1')).notifications[0]).toMatchObject({
    title: 'after',
    position: rows + 1,
  });
  // At once, while the indexes are still being filled, and once they are.
  const search = async () => {
    const [{ notifications: byHost }, { notifications: byWord }, { notifications: byTitle }] =
      await Promise.all([
        get(`/api/history?limit=200&q=host:db-7`),
        get('/api/history?limit=200&q=word77'),
        get('/api/history?q=n-1'),
      ]);
    expect(byHost).toHaveLength(Math.min(200, rows / hosts));
    expect(byWord).toHaveLength(Math.min(200, rows / 1_000));
    expect(byTitle.map(({ title }: { title: string }) => title)).toEqual(['n-1']);
  };
  await search();
  const db = new Database(join(folder, 'belfry.db'), { readonly: true });
  const behind = db.prepare('SELECT head - indexed FROM logs').pluck();
  await expect.poll(() => behind.get(), { timeout: timeLimit(60_000), interval: 200 }).toBe(0);
  db.close();
  await search();
  const { readyMs } = server;
  expect(await server.end('SIGTERM')).toEqual({ code: 0, signal: null });
  return readyMs;
}
