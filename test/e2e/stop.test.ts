import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { eventually } from '../support/eventually.ts';
import { limitMs } from '../support/patience.ts';
import { endServers, ServerProcess } from '../support/server-process.ts';
import { skipReason } from '../support/skip-reason.ts';
import { credentials } from '../support/storage.ts';
import { testStore } from '../support/test-store.ts';
import { missingStrace, straced } from '../torture/crash/strace.ts';

const folder = mkdtempSync(join(tmpdir(), 'belfry-stop-'));
afterAll(async () => {
  await endServers();
  rmSync(folder, { recursive: true, force: true });
});

test('a stop does not wait for a connection on which nothing was ever said, and leaves all data of SQLite in its file', async () => {
  const server = await ServerProcess.start({ folder, env: { BELFRY_DRAIN_MS: '20000' } });
  const silent = connect(server.port, '127.0.0.1');
  await once(silent, 'connect');
  const closed = once(silent, 'close');
  const began = performance.now();
  expect(await server.end('SIGTERM')).toEqual({ code: 0, signal: null });
  expect(performance.now() - began).toBeLessThan(15_000);
  await closed;
  if (testStore === 'postgres') return;
  expect(existsSync(join(folder, 'belfry.db'))).toBe(true);
  expect(existsSync(join(folder, 'belfry.db-wal'))).toBe(false);
});

// A server on PostgreSQL waits for no disk; its closing is limited in time as well (postgres-failures.test.ts).
test.skipIf(testStore === 'postgres')(
  'a stop ends the process although the disk hangs for good',
  async (context) => {
    const missing = skipReason(missingStrace());
    context.skip(missing !== undefined, missing);
    const { token } = await credentials(folder);
    const hanging = 'inject=fsync,fdatasync:delay_enter=120000000:when=10+';
    const server = await ServerProcess.start({
      folder,
      under: straced('-e', 'trace=fsync,fdatasync', '-e', hanging),
      onTrace: () => undefined,
    });
    const send = () =>
      fetch(`${server.url}/api/notify`, {
        method: 'POST',
        headers: { authorization: `Bearer ${token}`, 'x-title': 'T', 'x-message': 'M' },
      });
    const unanswered: Promise<unknown>[] = [];
    await eventually(async () => {
      unanswered.push(send().catch(() => undefined));
      expect((await fetch(`${server.url}/readyz`)).status).toBe(503);
    });
    const tracer = /TracerPid:\t(\d+)/.exec(readFileSync(`/proc/${server.pid}/status`, 'utf8'))?.[1];
    const began = performance.now();
    const ended = server.end('SIGTERM');
    await server.printed(/the disk or a search hangs: the process is killed/);
    expect(performance.now() - began).toBeLessThan(limitMs(10_000));
    // A killed process stays as long as its tracer delays one of its threads.
    process.kill(Number(tracer), 'SIGKILL');
    expect(await ended).toEqual({ code: null, signal: 'SIGKILL' });
    await Promise.all(unanswered);
  },
);
