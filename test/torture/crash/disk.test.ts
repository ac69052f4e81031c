import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { eventually } from '#test/support/eventually.ts';
import { checkHistory, problemsOf } from '#test/support/history-checker.ts';
import { Load } from '#test/support/load.ts';
import { limitMs } from '#test/support/patience.ts';
import { endServers, ServerProcess, type StartOptions } from '#test/support/server-process.ts';
import { skipReason } from '#test/support/skip-reason.ts';
import { credentials } from '#test/support/storage.ts';
import { ResumingPanel, readHistory } from '../api-clients.ts';
import { countOf, timeLimit } from '../counts.ts';
import { report } from '../report.ts';
import { limitedFiles, smallDisk } from './broken-disk.ts';
import { missingStrace, straced } from './strace.ts';

const refusedWithinMs = limitMs(1_000);
const backWithinMs = limitMs(5_000);
const faults = countOf('faults');
const flaws = countOf('flaws');

/** A server under a slow, steady load, with a panel that watches. */
async function underLoad(options: StartOptions) {
  const { token, key } = await credentials(options.folder);
  const server = await ServerProcess.start({
    ...options,
    env: { BELFRY_HEARTBEAT_MS: '500', ...options.env },
  });
  onTestFinished(endServers);
  const panel = new ResumingPanel('wall');
  await panel.connect(server.url, token);
  const load = new Load({ token, writers: 4, pauseMs: 10 });
  load.start(server.url);
  await load.next(() => load.acknowledged >= 50, 30_000);
  return { server, panel, load, key };
}

type Scene = Awaited<ReturnType<typeof underLoad>>;

/** While the disk is in trouble: refused with a reason, and everything that only reads goes on. */
async function expectOnlyReads({ server, panel, key }: Scene, reason: RegExp): Promise<void> {
  const ready = await fetch(`${server.url}/readyz`);
  const { error } = (await ready.json()) as { error: string };
  expect({ status: ready.status, error }).toEqual({ status: 503, error: expect.stringMatching(reason) });
  expect(ready.headers.get('retry-after')).toMatch(/^\d+$/);
  expect((await fetch(`${server.url}/healthz`)).status).toBe(200);
  const history = await readHistory(server.url, key);
  expect(history.length).toBeGreaterThanOrEqual(50);
  await panel.reached(history.length);
  // The stream goes on, with a heartbeat or, if the disk works again by now, with a notification.
  await panel.next();
}

/** Afterwards: the same process takes notifications, and nothing that it acknowledged is missing. */
async function expectNothingLost({ server, panel, load, key }: Scene): Promise<void> {
  await load.next(() => load.acknowledged >= 50, 30_000);
  await load.stop();
  expect((await fetch(`${server.url}/readyz`)).status).toBe(200);
  const history = await readHistory(server.url, key);
  await panel.reached(history.length);
  expect(problemsOf(checkHistory(load.sent, history, [panel.log(history.length)]))).toEqual([]);
  expect(panel.resumes).toEqual(['live']);
  expect([...load.statuses.keys()].sort()).toEqual([200, 503]);
  expect(await server.end('SIGTERM')).toEqual({ code: 0, signal: null });
}

describe('a disk that fills up under load stops intake alone, and lets it go on when there is room', () => {
  const disks = {
    'a small file system': { make: smallDisk, minFree: '0' },
    'a small file system, stopped some way before its end': { make: smallDisk, minFree: '3MiB' },
    'a limit on the size of files': { make: limitedFiles, minFree: '0' },
  };

  test.each(Object.entries(disks))('%s', { timeout: timeLimit(60_000) }, async (name, { make, minFree }) => {
    const disk = make();
    onTestFinished(disk.remove);
    const scene = await underLoad({ folder: disk.folder, env: { BELFRY_MIN_FREE_BYTES: minFree } });
    const { server, load } = scene;

    const refusedMs: number[] = [];
    const backMs: number[] = [];
    while (refusedMs.length < faults) {
      const filledAt = performance.now();
      disk.fill(server.pid);
      const refused = await load.next(({ status }) => status === 503, 30_000);
      refusedMs.push(refused.at - filledAt);
      await expectOnlyReads(scene, /disk/);
      await load.next(({ status, at }) => status === 503 && at > filledAt + 2_000, 30_000);

      const freedAt = performance.now();
      disk.free(server.pid);
      const back = await load.next(({ status }) => status === 200, 30_000);
      backMs.push(back.at - freedAt);
    }
    await expectNothingLost(scene);
    reportFault(name, refusedMs, backMs);
  });
});

test('a disk with less room than asked for takes no notification, and says so; everything else goes on', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'belfry-room-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  onTestFinished(endServers);
  const { token, key } = await credentials(folder);
  const load = new Load({ token, writers: 2, pauseMs: 10 });
  const roomy = await ServerProcess.start({ folder });
  load.start(roomy.url);
  await load.next(() => load.acknowledged >= 50, 30_000);
  await load.stop();
  await roomy.end('SIGTERM');

  const moreThanAnyDisk = '4096TiB';
  const server = await ServerProcess.start({
    folder,
    env: { BELFRY_MIN_FREE_BYTES: moreThanAnyDisk },
    status: 503,
  });
  load.start(server.url);
  const { text } = await load.next(({ status }) => status === 503, 30_000);
  expect(JSON.parse(text)).toEqual({ error: expect.stringMatching(/nearly full/) });
  const ready = await fetch(`${server.url}/readyz`);
  expect(await ready.json()).toEqual({ error: expect.stringMatching(/nearly full/) });
  await load.stop();
  expect(problemsOf(checkHistory(load.sent, await readHistory(server.url, key)))).toEqual([]);
  expect(await server.end('SIGTERM')).toEqual({ code: 0, signal: null });
});

test('on a disk that others have filled to the last byte, people sign in and retention is shortened', async (context) => {
  const disk = smallDisk();
  onTestFinished(disk.remove);
  context.skip(!disk.isOwn, 'only a user who may mount has a file system to fill');
  onTestFinished(endServers);
  const owner = { email: 'anna@example.org', password: 'four plain brown boxes' };
  const { key } = await credentials(disk.folder);
  const server = await ServerProcess.start({
    folder: disk.folder,
    env: {
      BELFRY_MIN_FREE_BYTES: '8MiB',
      BELFRY_ADMIN_EMAIL: owner.email,
      BELFRY_ADMIN_PASSWORD: owner.password,
    },
  });
  const send = (method: string, path: string, body: unknown, headers = {}) =>
    fetch(server.url + path, {
      method,
      headers: { origin: server.url, 'content-type': 'application/json', ...headers },
      body: JSON.stringify(body),
    });
  disk.fill(server.pid);
  await eventually(async () => expect((await fetch(`${server.url}/readyz`)).status).toBe(503));
  await eventually(async () => expect((await send('POST', '/api/session', owner)).status).toBe(200));
  const retention = { retentionDays: 1 };
  const changed = await send('PATCH', '/api/tenant', retention, { authorization: `Bearer ${key}` });
  expect({ status: changed.status, body: await changed.json() }).toMatchObject({
    status: 200,
    body: retention,
  });
  expect((await fetch(`${server.url}/readyz`)).status).toBe(503);
  expect(await server.end('SIGTERM')).toEqual({ code: 0, signal: null });
});

test('a disk that fails to sync stops intake alone, and what it refused is not taken for stored', async (context) => {
  const missing = skipReason(missingStrace());
  context.skip(missing !== undefined, missing);
  const folder = mkdtempSync(join(tmpdir(), 'belfry-sync-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  // A thread's syncs are counted from its start: these are the writer's, some time after the load has begun.
  const failing = 'inject=fsync,fdatasync:error=EIO:when=80..110';
  const failedAt: number[] = [];
  const scene = await underLoad({
    folder,
    under: straced('-ttt', '-e', 'trace=fsync,fdatasync', '-e', failing),
    onTrace(text) {
      if (text.includes('(INJECTED)')) failedAt.push(performance.now());
    },
  });
  const { load } = scene;
  const refused = await load.next(({ status }) => status === 503, 60_000);
  await expectOnlyReads(scene, /disk/);
  const back = await load.next(({ status }) => status === 200, 60_000);
  await expectNothingLost(scene);
  expect(failedAt.length).toBeGreaterThanOrEqual(5);
  reportFault('syncs that fail', [refused.at - (failedAt[0] ?? 0)], [back.at - (failedAt.at(-1) ?? 0)]);
});

test.for(['fsync,fdatasync', 'pwrite64'])(
  'a disk of which now and then a %s fails loses nothing',
  {
    timeout: timeLimit(60_000),
  },
  async (calls, context) => {
    const missing = skipReason(missingStrace());
    context.skip(missing !== undefined, missing);
    const folder = mkdtempSync(join(tmpdir(), 'belfry-flaky-'));
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
    let failed = 0;
    // Past what the start and the first notifications need.
    const when = calls === 'pwrite64' ? '1200+311' : '80+37';
    const scene = await underLoad({
      folder,
      under: straced('-e', `trace=${calls}`, '-e', `inject=${calls}:error=EIO:when=${when}`),
      onTrace(text) {
        failed += text.split('(INJECTED)').length - 1;
      },
    });
    const { server, panel, load, key } = scene;
    while (failed < flaws) await load.next(({ status }) => status === 503, 60_000);
    await load.stop();
    const history = await readHistory(server.url, key);
    await panel.reached(history.length);
    const verdict = checkHistory(load.sent, history, [panel.log(history.length)]);
    await server.end('SIGTERM');
    report({
      promise:
        'a disk that fails now and then: a failed write is a 503, every acknowledged notification is kept',
      method: `strace lets one ${calls} in so many fail with EIO, under load with a panel`,
      count: `${failed} faults, ${load.acknowledged} acknowledged`,
      result: `${verdict.lost.length} lost, ${verdict.repeated.length} repeated, ${verdict.otherProblems.length} problems in order or on the panel; answers ${JSON.stringify(Object.fromEntries(load.statuses))}`,
    });
    expect(problemsOf(verdict)).toEqual([]);
    expect([...load.statuses.keys()].sort()).toEqual([200, 503]);
  },
);

function reportFault(fault: string, refused: readonly number[], back: readonly number[]): void {
  const [refusedMs, backMs] = [Math.max(...refused), Math.max(...back)];
  report({
    promise: 'a disk that is full or fails: 503 within 1 s, reads go on, intake back ≤ 5 s, nothing lost',
    method: `${fault}, under load with a panel`,
    count: `${refused.length} ${refused.length === 1 ? 'fault' : 'faults'}`,
    result: `refused after ${Math.round(refusedMs)} ms at the most, back ${Math.round(backMs)} ms after the fault ended, 0 lost, no restart`,
  });
  expect(refusedMs).toBeLessThanOrEqual(refusedWithinMs);
  expect(backMs).toBeLessThanOrEqual(backWithinMs);
}
