import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as moment } from 'node:timers/promises';
import { afterAll, expect, onTestFinished, test } from 'vitest';
import { checkHistory, problemsOf } from '#test/support/history-checker.ts';
import { Load } from '#test/support/load.ts';
import { endServers, ServerProcess } from '#test/support/server-process.ts';
import { skipReason } from '#test/support/skip-reason.ts';
import { credentials, registerPanels } from '#test/support/storage.ts';
import { readHistory } from '../api-clients.ts';
import { countOf, full, timeLimit } from '../counts.ts';
import { FarSide, missingNamespace } from '../far-side.ts';
import { report } from '../report.ts';
import { checkReaders, Readers } from './readers.ts';

const folder = mkdtempSync(join(tmpdir(), 'belfry-black-hole-'));
afterAll(async () => {
  await endServers();
  rmSync(folder, { recursive: true, force: true });
});

const missing = skipReason(missingNamespace());

const panelCount = countOf('blackHoled');
const outages = full ? 10 : 3;

test.skipIf(missing !== undefined)(
  `${panelCount} panels behind a network that swallows every packet ${outages} times miss nothing, and nobody else waits`,
  { timeout: timeLimit(120_000) },
  async () => {
    const side = new FarSide('belfry-far');
    onTestFinished(() => side.remove());
    const { token, key } = await credentials(folder);
    const panels = await registerPanels(folder, panelCount);
    const env = { BELFRY_HOST: '0.0.0.0', BELFRY_HEARTBEAT_MS: '1000' };
    const server = await ServerProcess.start({ folder, env });
    const readers = new Readers(panels, { host: side.host(), under: side.under });
    onTestFinished(() => readers.close());
    await readers.connect(server.port, token);
    const load = new Load({ token, writers: 4, pauseMs: 50 });
    load.start(server.url);
    let slowest = 0;
    for (let outage = 0; outage < outages; outage++) {
      side.swallow(true);
      const began = performance.now();
      // They give up on the connection, of which the server hears nothing, and try to come back through the hole.
      const back = readers.breakOff(1, 200);
      await moment(1_000 + Math.random() * 2_000);
      expect((await fetch(`${server.url}/readyz`)).status).toBe(200);
      side.swallow(false);
      await back;
      slowest = Math.max(slowest, performance.now() - began);
    }
    await load.stop();
    const history = await readHistory(server.url, key);
    const all = await readers.finish(history.length, 30_000);
    const found = [...checkReaders(all, history), ...problemsOf(checkHistory(load.sent, history))];
    report({
      promise: 'panels behind a network that drops packets miss nothing',
      method:
        'panels in a network namespace whose link is cut for one to three seconds; they resume by their cursor, and the server gets no sign that the old connections ended',
      count: `${panelCount} panels × ${outages} outages, ${history.length} notifications`,
      result: `all back within ${(slowest / 1_000).toFixed(1)} s; ${found.length === 0 ? '0 gaps, 0 repeats, 0 out of order' : found[0]}`,
    });
    expect(found.slice(0, 10)).toEqual([]);
    expect(Object.keys(Object.fromEntries(load.statuses))).toEqual(['200']);
  },
);
