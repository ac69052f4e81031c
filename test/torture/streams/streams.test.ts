import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as moment } from 'node:timers/promises';
import { afterAll, afterEach, expect, onTestFinished, test } from 'vitest';
import { checkHistory, problemsOf } from '#test/support/history-checker.ts';
import { Load } from '#test/support/load.ts';
import { endServers, ServerProcess } from '#test/support/server-process.ts';
import { credentials, registerPanels } from '#test/support/storage.ts';
import { readHistory } from '../api-clients.ts';
import { countOf, timeLimit } from '../counts.ts';
import { report } from '../report.ts';
import { checkReaders, Readers } from './readers.ts';

const folder = mkdtempSync(join(tmpdir(), 'belfry-streams-'));
afterEach(endServers);
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const env = { BELFRY_HEARTBEAT_MS: '5000' };
const summarize = (found: readonly string[]) =>
  found.length === 0 ? '0 gaps, 0 repeats, 0 out of order' : `${found.length} problems: ${found[0]}`;

async function withPanels(name: string, count: number) {
  const own = join(folder, name);
  const { token, key } = await credentials(own);
  const panels = await registerPanels(own, count);
  const server = await ServerProcess.start({ folder: own, env });
  const readers = new Readers(panels);
  onTestFinished(() => readers.close());
  await readers.connect(server.port, token);
  return { folder: own, token, key, server, readers };
}

const streams = countOf('streams');
const times = 5;

test(`${streams} streams, each broken off five times while notifications come, get each once, in order`, {
  timeout: timeLimit(120_000),
}, async () => {
  const { token, key, server, readers } = await withPanels('breaks', streams);
  // At most a few hundred connections a second come back.
  const withinMs = Math.max(10_000, streams * times * 2.5);
  const load = new Load({ token, writers: 4, pauseMs: streams > 1_000 ? 1_000 : 50 });
  load.start(server.url);
  await readers.breakOff(times, withinMs);
  await load.stop();
  const history = await readHistory(server.url, key);
  const all = await readers.finish(history.length, 60_000);
  const found = [...checkReaders(all, history), ...problemsOf(checkHistory(load.sent, history))];
  const connections = all.reduce((sum, reader) => sum + reader.connections, 0);
  report({
    promise: 'panels: no gap, no repeat, in order, whatever happens to their connections',
    method:
      'streams on bare sockets in two other processes; each connection is reset, ended or left in silence while notifications come, and resumes by its cursor',
    count: `${streams} streams × ${times} breaks, ${history.length} notifications`,
    result: `${connections - streams} resumed; ${summarize(found)}`,
  });
  expect(found.slice(0, 10)).toEqual([]);
  expect(connections).toBe(streams * (times + 1));
  expect(history.length).toBeGreaterThan(40);
});

const herd = countOf('herd');

test(`${herd} panels that come back at once after a kill all get everything`, {
  timeout: timeLimit(120_000),
}, async () => {
  const { folder: own, token, key, server, readers } = await withPanels('herd', herd);
  const load = new Load({ token, writers: 4, pauseMs: 100 });
  load.start(server.url);
  await load.next(() => load.acknowledged >= 40, 20_000);
  await server.end('SIGKILL');
  await load.ended();
  const again = await ServerProcess.start({ folder: own, env, port: server.port });
  const began = performance.now();
  load.start(again.url);
  await readers.connected();
  const wholeMs = performance.now() - began;
  await moment(500);
  await load.stop();
  const history = await readHistory(again.url, key);
  const all = await readers.finish(history.length, 30_000);
  const found = [...checkReaders(all, history), ...problemsOf(checkHistory(load.sent, history))];
  report({
    promise: 'panels that all reconnect after a crash miss nothing',
    method:
      'kill -9 under load with all panels connected; each reconnects within a second, and tries again until it is connected',
    count: `${herd} panels`,
    result: `all connected ${Math.round(wholeMs)} ms after the server was ready; ${summarize(found)}`,
  });
  expect(found.slice(0, 10)).toEqual([]);
  expect([...load.statuses.keys()].sort()).toEqual([0, 200]);
});
