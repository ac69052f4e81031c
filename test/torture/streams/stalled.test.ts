import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as moment } from 'node:timers/promises';
import { afterAll, expect, onTestFinished, test } from 'vitest';
import { checkHistory, problemsOf } from '#test/support/history-checker.ts';
import { Load } from '#test/support/load.ts';
import { endServers, ServerProcess } from '#test/support/server-process.ts';
import { credentials, registerPanels } from '#test/support/storage.ts';
import { ResumingPanel, readHistory } from '../api-clients.ts';
import { countOf, full, timeLimit } from '../counts.ts';
import { report } from '../report.ts';
import { SlowReader } from './slow-reader.ts';

const folder = mkdtempSync(join(tmpdir(), 'belfry-stalled-'));
afterAll(async () => {
  await endServers();
  rmSync(folder, { recursive: true, force: true });
});

const ofEach = countOf('stalled');
const mib = countOf('publishedMib');
const messageChars = 16_000;
const mostGrowthMib = 128;
/** A client that takes no chunk for 30 s is cut off; the server looks every second. */
const cutOffWithinMs = 36_000;

const residentMib = (pid: number) =>
  Number(/^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1_024;

/** How many of those that read nothing, and of those that read a byte a second, the server has cut off. */
async function offline(url: string, key: string, panels: readonly string[]) {
  const response = await fetch(`${url}/api/panels`, { headers: { authorization: `Bearer ${key}` } });
  const { panels: all } = (await response.json()) as { panels: { id: string; online: boolean }[] };
  const gone = new Set(all.filter(({ online }) => !online).map(({ id }) => id));
  const [nothing, aByte] = [0, 1].map(
    (kind) => panels.filter((id, i) => i % 2 === kind && gone.has(id)).length,
  ) as [number, number];
  return { nothing, aByte };
}

test(`${ofEach} panels that read nothing and ${ofEach} that read a byte a second cost little, and hold up nobody, while ${mib} MiB are published`, {
  timeout: timeLimit(180_000),
}, async () => {
  const { token, key } = await credentials(folder);
  const panels = await registerPanels(folder, ofEach * 2);
  const server = await ServerProcess.start({ folder });
  const wanted = Math.ceil((mib * 2 ** 20) / messageChars);
  const publish = async (load: Load) => {
    load.start(server.url);
    await load.next(() => load.acknowledged >= wanted, timeLimit(90_000));
    await load.stop();
  };
  // As much as this makes it grow without them; what is shown for a moment is no part of what a stream begins with.
  const warm = new Load({ token, writers: 8, messageChars, prefix: 'v', ttlMs: 1 });
  await publish(warm);
  const readers = panels.map(
    (panel, i) =>
      new SlowReader({
        port: server.port,
        token,
        panel,
        reads: i % 2 === 0 ? 'nothing' : 'a byte a second',
      }),
  );
  onTestFinished(() => {
    for (const reader of readers) reader.close();
  });
  const healthy = new ResumingPanel('healthy');
  await healthy.connect(server.url, token);
  while (!readers.every(({ begun }) => begun)) await moment(50);
  const { cursor } = readers[0] as SlowReader;

  const before = residentMib(server.pid);
  let most = before;
  const watch = setInterval(() => {
    most = Math.max(most, residentMib(server.pid));
  }, 200);
  const load = new Load({ token, writers: 8, messageChars });
  await publish(load);
  const head = warm.acknowledged + load.acknowledged;
  await healthy.reached(head, 60_000);
  const cutBy = performance.now() + cutOffWithinMs;
  let cut = await offline(server.url, key, panels);
  // The short form leaves this to the tests of streams.
  while (full && performance.now() < cutBy && cut.nothing < ofEach) {
    await moment(500);
    cut = await offline(server.url, key, panels);
  }
  clearInterval(watch);
  const history = await readHistory(server.url, key);

  const back = new ResumingPanel('back', { id: panels[0] as string, cursor });
  const { resume } = await back.connect(server.url, token);
  await back.reached(head, 60_000);
  const logs = [healthy.log(head), back.log(head)];
  const found = problemsOf(checkHistory([...warm.sent, ...load.sent], history, logs));
  report({
    promise: 'stalled panels cost ≤ 128 MiB, delay nobody, are disconnected after 30 s and resume',
    method:
      'bare sockets that read nothing, or a byte a second, while long messages are published; a healthy panel beside them',
    count: `${ofEach} that read nothing, ${ofEach} that read a byte a second; ${load.acknowledged} notifications, ${mib} MiB`,
    result: `server grew by ${Math.round(most - before)} MiB; ${cut.nothing} and ${cut.aByte} cut off; one that came back was ${resume} and got the rest; ${found.length} problems`,
  });
  expect(found).toEqual([]);
  expect(healthy.resumes).toEqual(['live']);
  expect(resume).toBe('replayed');
  if (full) expect(cut.nothing).toBe(ofEach);
  if (full) expect(most - before).toBeLessThanOrEqual(mostGrowthMib);
});
