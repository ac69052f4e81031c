import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import Database from 'better-sqlite3';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { Load } from '#test/support/load.ts';
import { belfry, endServers, ServerProcess } from '#test/support/server-process.ts';
import { openStream } from '#test/support/sse-client.ts';
import { credentials } from '#test/support/storage.ts';
import { countOf, timeLimit } from '../counts.ts';
import { report } from '../report.ts';

const seconds = countOf('backupSeconds');
const writers = 48;
/** A little above what is promised, as a timer is never early. */
const perSecondWanted = 1_050;

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'belfry-backup-'));
});
afterAll(async () => {
  await endServers();
  rmSync(folder, { recursive: true, force: true });
});

/** The titles in a database file, which must be whole, and its epoch. */
function look(path: string): { titles: Set<string>; epoch: string; gaps: number } {
  const db = new Database(path, { readonly: true });
  try {
    expect(db.pragma('integrity_check(1)', { simple: true })).toBe('ok');
    const titles = db.prepare('SELECT title FROM log_1_0 WHERE cleared IS NULL').pluck().all() as string[];
    const epoch = db.prepare("SELECT value FROM meta WHERE name = 'epoch'").pluck().get() as string;
    const { head } = db.prepare('SELECT head FROM logs').get() as { head: number };
    return { titles: new Set(titles), epoch, gaps: head - titles.length };
  } finally {
    db.close();
  }
}

test('backups taken under load hold all that was acknowledged before each began; a restore is a new epoch, and panels start again', {
  timeout: timeLimit(180_000),
}, async () => {
  const { token } = await credentials(folder);
  const server = await ServerProcess.start({ folder });
  const load = new Load({ token, writers, perSecond: perSecondWanted });
  load.start(server.url);
  const began = performance.now();
  const backups: { file: string; before: string[]; tookMs: number }[] = [];
  do {
    await sleep(300);
    const before = load.sent.filter(({ acknowledgedAt }) => acknowledgedAt !== null).map(({ name }) => name);
    const file = join(folder, `backup-${backups.length}.db`);
    const started = performance.now();
    await belfry(folder, 'backup', file);
    backups.push({ file, before, tookMs: performance.now() - started });
  } while (performance.now() - began < seconds * 1_000);
  const perSecond = load.acknowledged / ((performance.now() - began) / 1_000);
  await load.stop();
  let lost = 0;
  for (const { file, before } of backups) {
    const { titles, gaps } = look(file);
    lost += before.filter((title) => !titles.has(title)).length;
    expect(gaps).toBe(0);
  }
  report({
    promise: 'a backup under load is complete to its start',
    method: `belfry backup, one after the other, while ${writers} senders go on; then each file against what was acknowledged when it began`,
    count: `${backups.length} backups at ${Math.round(perSecond)} notifications a second, of up to ${backups.at(-1)?.before.length} notifications`,
    result: `${lost} missing; each took ${Math.round(Math.max(...backups.map(({ tookMs }) => tookMs)))} ms at most`,
  });
  expect(lost).toBe(0);
  expect([...load.statuses.keys()]).toEqual([200]);
  expect(server.output).not.toMatch(/"level":(?:40|50|60)/);

  // The way back: everyone who was connected before hears that what they have is void.
  const panels = await Promise.all(
    Array.from({ length: 20 }, async (_, i) => {
      const response = await fetch(`${server.url}/api/panels`, {
        method: 'POST',
        headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
        body: JSON.stringify({ name: `panel ${i}` }),
      });
      return ((await response.json()) as { id: string }).id;
    }),
  );
  const file = join(folder, 'last.db');
  await belfry(folder, 'backup', file);
  const cursors = await Promise.all(
    panels.map(async (id) => {
      const stream = await openStream(`${server.url}/api/panels/${id}/events`, {
        authorization: `Bearer ${token}`,
      });
      const beat = await stream.next(({ event }) => event === 'heartbeat', 20_000);
      stream.close();
      return beat.id ?? '';
    }),
  );
  await server.end('SIGTERM');
  const { epoch } = look(join(folder, 'belfry.db'));
  await belfry(folder, 'restore', file);
  const restored = look(join(folder, 'belfry.db'));
  expect(restored.epoch).not.toBe(epoch);
  expect([...look(file).titles].filter((title) => !restored.titles.has(title))).toEqual([]);
  const again = await ServerProcess.start({ folder });
  const resumes = await Promise.all(
    panels.map(async (id, i) => {
      const stream = await openStream(`${again.url}/api/panels/${id}/events`, {
        authorization: `Bearer ${token}`,
        'last-event-id': cursors[i] ?? '',
      });
      const ready = await stream.next(({ event }) => event === 'ready', 20_000);
      stream.close();
      return (ready.data as { resume: string }).resume;
    }),
  );
  report({
    promise: 'a restore begins a new epoch, and every panel gets a reset',
    method: 'panels come back with the cursors of before',
    count: `${panels.length} panels`,
    result: `${resumes.filter((resume) => resume === 'reset').length} got a reset`,
  });
  expect(resumes).toEqual(panels.map(() => 'reset'));
});
