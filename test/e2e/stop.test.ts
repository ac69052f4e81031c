import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { endServers, ServerProcess } from '../support/server-process.ts';

const folder = mkdtempSync(join(tmpdir(), 'belfry-stop-'));
afterAll(async () => {
  await endServers();
  rmSync(folder, { recursive: true, force: true });
});

test('a stop does not wait for a connection on which nothing was ever said', async () => {
  const server = await ServerProcess.start({ folder, env: { BELFRY_DRAIN_MS: '20000' } });
  const silent = connect(server.port, '127.0.0.1');
  await once(silent, 'connect');
  const closed = once(silent, 'close');
  const began = performance.now();
  expect(await server.end('SIGTERM')).toEqual({ code: 0, signal: null });
  expect(performance.now() - began).toBeLessThan(10_000);
  await closed;
});
