import {
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { joinId } from '#storage/sqlite/log/rows.ts';
import { openSqlite } from '#storage/sqlite/open.ts';
import { checkHistory, problemsOf, type Sent } from '#test/support/history-checker.ts';
import { Load, markOf } from '#test/support/load.ts';
import { endServers, ServerProcess } from '#test/support/server-process.ts';
import { credentials } from '#test/support/storage.ts';
import { countOf, timeLimit } from '../counts.ts';
import { report } from '../report.ts';
import { mapWal, type WalMap } from './wal-map.ts';

const folder = mkdtempSync(join(tmpdir(), 'belfry-damage-'));
const whole = join(folder, 'whole');
const damages = countOf('damages');
const outcomes = { refused: 0, started: 0 };
let sent: readonly Sent[];
let map: WalMap;

/** What a server leaves that is killed with some dozens of transactions in its write-ahead log. */
beforeAll(async () => {
  mkdirSync(whole);
  const { token } = await credentials(whole);
  const load = new Load({ token, writers: 3, pauseMs: 1 });
  const server = await ServerProcess.start({ folder: whole });
  // As long as it reads the database as it is now, the log keeps what comes.
  const reader = new Database(join(whole, 'belfry.db'), { readonly: true });
  reader.exec('BEGIN');
  reader.prepare('SELECT count(*) FROM meta').get();
  load.start(server.url);
  await load.next(() => load.acknowledged >= 120, 30_000);
  await server.end('SIGKILL');
  reader.close();
  await load.ended();
  ({ sent } = load);
  map = mapWal(join(whole, 'belfry.db-wal'), markOf);
  expect(map.transactions.length).toBeGreaterThan(20);
});

afterAll(async () => {
  await endServers();
  rmSync(folder, { recursive: true, force: true });
});

/** A copy of what the kill left, with its write-ahead log changed by `damage`. */
function copyWith(name: string, damage: (wal: string) => void): string {
  const copy = join(folder, name);
  mkdirSync(copy);
  for (const file of ['belfry.db', 'belfry.db-wal', 'belfry.db.key'])
    copyFileSync(join(whole, file), join(copy, file));
  damage(join(copy, 'belfry.db-wal'));
  return copy;
}

const overwrite = (at: number, bytes: (before: Buffer) => Buffer) => (path: string) => {
  const wal = readFileSync(path);
  bytes(wal.subarray(at, at + 4_096)).copy(wal, at);
  writeFileSync(path, wal);
};
const cutTo = (size: number) => (path: string) => truncateSync(path, size);
const flip = (at: number, mask = 0x10) =>
  overwrite(at, (before) => Buffer.from([(before[0] as number) ^ mask]));
const zeros = (at: number, size: number) => overwrite(at, () => Buffer.alloc(size));

/** Opens it as a server does. Either that fails with a clear error, or everything before the damage is there. */
async function check(copy: string, damagedAt: number, detectable: boolean): Promise<string[]> {
  const path = join(copy, 'belfry.db');
  try {
    const storage = openSqlite({ path, queueCapacity: 10, minFreeBytes: 0, onProblem: () => undefined });
    await storage.close();
  } catch (error) {
    outcomes.refused += 1;
    const text = error instanceof Error ? error.message : String(error);
    const clear = /is damaged at byte \d+, and notifications that were acknowledged stand behind/.test(text);
    return clear && detectable ? [] : [`refused at ${damagedAt}: ${text}`];
  }
  outcomes.started += 1;
  if (detectable) return [`damage at ${damagedAt} went unnoticed`];
  const mustBe = sent.filter(({ name, acknowledgedAt }) => {
    const end = map.endOf(name);
    return acknowledgedAt !== null && (end === undefined || end <= damagedAt);
  });
  const mayBe = sent.filter((one) => !mustBe.includes(one)).map((one) => ({ ...one, acknowledgedAt: null }));
  return [...problemsOf(checkHistory([...mustBe, ...mayBe], read(path))), ...integrity(path)];
}

function read(path: string) {
  const db = new Database(path, { readonly: true });
  try {
    return db
      .prepare<[], { position: number; name: string; time: number; rest: Buffer }>(
        'SELECT position, title AS name, id_time AS time, id_rest AS rest FROM log_1_0 WHERE cleared IS NULL',
      )
      .all()
      .map(({ position, name, time, rest }) => ({ position, name, id: joinId(time, rest) }));
  } finally {
    db.close();
  }
}

function integrity(path: string): string[] {
  const db = new Database(path);
  try {
    const rows = db.pragma('integrity_check') as { integrity_check: string }[];
    return rows.map((row) => row.integrity_check).filter((text) => text !== 'ok');
  } finally {
    db.close();
  }
}

let copies = 0;
async function tryOut(damage: (wal: string) => void, damagedAt: number, detectable = false) {
  const copy = copyWith(`copy-${copies++}`, damage);
  const found = await check(copy, damagedAt, detectable);
  rmSync(copy, { recursive: true });
  expect(found).toEqual([]);
}

describe('a write-ahead log that', () => {
  test('is as the kill left it has everything', () => tryOut(() => undefined, map.bytes));

  test('is cut short anywhere has everything up to there', { timeout: timeLimit(60_000) }, async () => {
    const { frameBytes, bytes } = map;
    const odd = [0, 1, 31, 32, 33, 55, 56, 32 + frameBytes - 1, 32 + frameBytes, bytes - 1, bytes - 4_096];
    const random = Array.from({ length: damages / 4 }, () => Math.floor(Math.random() * bytes));
    for (const size of [...odd, ...random]) await tryOut(cutTo(size), size);
  });

  test('is torn in its last transaction has everything before it', async () => {
    const { start, end } = map.transactions.at(-1) as { start: number; end: number };
    for (const at of [start, start + 5, start + 12, start + 17, start + 24, end - 4_096, end - 1]) {
      await tryOut(flip(at), start);
      await tryOut(zeros(at, Math.min(512, end - at)), start);
    }
  });

  test('is damaged before what was synced stops the start, and says where', {
    timeout: timeLimit(60_000),
  }, async () => {
    const behind = map.transactions.at(-3)?.start as number;
    const { frameBytes } = map;
    const inFrame = [0, 4, 8, 12, 16, 20, 24, 25, 1_000, frameBytes - 1];
    const odd = [0, 4, 8, 12, 16, 20, 24, 28, 31, ...inFrame.map((at) => 32 + at)];
    const random = Array.from({ length: damages / 2 }, () => Math.floor(Math.random() * behind));
    for (const at of [...odd, ...random])
      await tryOut(flip(at, 1 << Math.floor(Math.random() * 8)), at, true);
    for (const at of [0, 32, 4_096, 65_536]) await tryOut(zeros(at, 4_096), at, true);
  });

  test('has old bytes behind its end is read up to its end', async () => {
    const noise = Buffer.from(Array.from({ length: 9_000 }, () => Math.floor(Math.random() * 256)));
    const append = (wal: string) =>
      writeFileSync(wal, Buffer.concat([readFileSync(wal).subarray(0, map.bytes), noise]));
    await tryOut(append, map.bytes);
  });
});

test('a server says in one line that its write-ahead log is damaged, where, and what to do', async () => {
  const copy = copyWith('server', flip(40_000));
  await expect(ServerProcess.start({ folder: copy })).rejects.toThrow(
    /belfry\.db-wal is damaged at byte \d+.*restore FILE.*truncate -s \d+/,
  );
  const message = await ServerProcess.start({ folder: copy }).catch(String);
  const offset = Number(/at byte (\d+)/.exec(String(message))?.[1]);
  truncateSync(join(copy, 'belfry.db-wal'), offset);
  const server = await ServerProcess.start({ folder: copy });
  expect(await server.end('SIGTERM')).toEqual({ code: 0, signal: null });
});

test('what was seen of damages', () => {
  report({
    promise:
      'a damaged write-ahead log: everything synced before the damage is there, or the server names the place and does not start',
    method:
      'copies of the files after a kill: cut short, zeroed or with one bit flipped, at every kind of offset and at random ones',
    count: `${copies} copies`,
    result: `${outcomes.refused} refused with the place, ${outcomes.started} opened with everything before it; 0 silent`,
  });
  expect(outcomes.refused).toBeGreaterThan(20);
});
