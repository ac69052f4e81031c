import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { freePort } from '#test/support/free-port.ts';
import { limitMs } from '#test/support/patience.ts';
import { RawConnection } from '#test/support/raw-http.ts';
import { endServers, ServerProcess } from '#test/support/server-process.ts';
import { skipReason } from '#test/support/skip-reason.ts';
import { credentials } from '#test/support/storage.ts';
import { missingStrace, straced } from '../crash/strace.ts';
import { report } from '../report.ts';

/** Full disks, failing syncs and the lack of room are in ../crash/disk.test.ts, which asks /readyz in each. */
let folder: string;
let token: string;
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'belfry-ready-'));
  ({ token } = await credentials(folder));
});
afterEach(async () => {
  await endServers();
  rmSync(folder, { recursive: true, force: true });
});

interface Readiness {
  readonly status: number;
  readonly error: string | undefined;
}

async function ask(url: string): Promise<Readiness> {
  const answer = await fetch(`${url}/readyz`);
  return { status: answer.status, error: ((await answer.json()) as { error?: string }).error };
}

const send = (url: string) =>
  fetch(`${url}/api/notify`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: '{"title":"T","message":"M"}',
  });

/** Polls until it is ready again. Returns after how long it was reported as not ready; `onNotReady` then may end the problem. */
async function watch(url: string, onNotReady?: () => void): Promise<{ reportedAfterMs: number }> {
  const began = performance.now();
  let reportedAt: number | undefined;
  for (;;) {
    const { status, error } = await ask(url);
    if (status === 503 && reportedAt === undefined) {
      expect(error).toMatch(/^not ready: a write has waited \d+ s for the disk, or for another process/);
      reportedAt = performance.now();
      // From now on nobody waits: a sender is refused at once.
      const sentAt = performance.now();
      expect((await send(url)).status).toBe(503);
      expect(performance.now() - sentAt).toBeLessThan(limitMs(1_000));
      expect((await fetch(`${url}/healthz`)).status).toBe(200);
      onNotReady?.();
    } else if (status === 200 && reportedAt !== undefined) {
      return { reportedAfterMs: reportedAt - began };
    }
    if (performance.now() - began > limitMs(10_000)) throw new Error(`not seen: ${reportedAt}`);
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

test('while another process holds the database, it is not ready and says why; then it is again', async () => {
  const server = await ServerProcess.start({ folder });
  const other = new Database(join(folder, 'belfry.db'));
  other.exec('BEGIN IMMEDIATE');
  const waiting = send(server.url);
  const { reportedAfterMs } = await watch(server.url, () => other.exec('ROLLBACK'));
  other.close();
  expect([200, 503]).toContain((await waiting).status);
  expect((await send(server.url)).status).toBe(200);
  report({
    promise: '/readyz shows whether notifications can be stored',
    method: 'another process holds the write lock until /readyz reports it',
    count: '1 hold',
    result: `503 after ${Math.round(reportedAfterMs)} ms, 200 when it had ended`,
  });
  expect(reportedAfterMs).toBeLessThan(limitMs(6_000));
});

test('while the disk neither takes a write nor fails, it is not ready and says so; what waited is stored in the end', async (context) => {
  const missing = skipReason(missingStrace());
  context.skip(missing !== undefined, missing);
  // A sync of the writer takes eight seconds, once, some time after the start.
  const slow = 'inject=fsync,fdatasync:delay_enter=8000000:when=20';
  const server = await ServerProcess.start({
    folder,
    under: straced('-e', 'trace=fsync,fdatasync', '-e', slow),
    onTrace: () => undefined,
  });
  const answers: number[] = [];
  let going = true;
  const senders = Array.from({ length: 4 }, async () => {
    while (going) {
      answers.push((await send(server.url)).status);
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  });
  const { reportedAfterMs } = await watch(server.url);
  going = false;
  await Promise.all(senders);
  report({
    promise: '/readyz shows whether notifications can be stored',
    method: 'one fsync takes 8 s (strace), four senders',
    count: '1 sync',
    result: `503 after ${Math.round(reportedAfterMs)} ms, to new senders too; 200 when it had ended`,
  });
  // Those that were waiting when it began are answered when it has ended, and no sooner.
  expect(new Set(answers)).toEqual(new Set([200]));
  expect((await send(server.url)).status).toBe(200);
});

test('a server that is being stopped is not ready any more, for as long as it finishes what it has begun', async () => {
  const metricsPort = await freePort();
  const server = await ServerProcess.start({
    folder,
    env: { BELFRY_METRICS_PORT: String(metricsPort), BELFRY_DRAIN_MS: '15000' },
  });
  const ready = async () => {
    const text = await (await fetch(`http://127.0.0.1:${metricsPort}/metrics`)).text();
    return /^belfry_ready (\d)$/m.exec(text)?.[1];
  };
  expect(await ready()).toBe('1');
  const unfinished = await RawConnection.open(server.url);
  await unfinished.write(
    `POST /api/notify HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${token}\r\nContent-Type: application/json\r\nContent-Length: 27\r\n\r\n`,
  );
  // What was sent before has been read once a later request is answered.
  expect((await fetch(`${server.url}/healthz`)).status).toBe(200);
  const ended = server.end('SIGTERM');
  await expect.poll(ready, { timeout: limitMs(1_000) }).toBe('0');
  await expect(fetch(`${server.url}/readyz`)).rejects.toThrow();
  await unfinished.write('{"title":"T","message":"M"}');
  expect((await unfinished.next())[0]?.status).toBe(200);
  expect(await ended).toEqual({ code: 0, signal: null });
});
