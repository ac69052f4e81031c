import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as moment } from 'node:timers/promises';
import { afterAll, expect, test } from 'vitest';
import { checkHistory, problemsOf } from '#test/support/history-checker.ts';
import { Load } from '#test/support/load.ts';
import { limitMs } from '#test/support/patience.ts';
import { endServers, ServerProcess } from '#test/support/server-process.ts';
import { credentials } from '#test/support/storage.ts';
import { ResumingPanel, readHistory } from '../api-clients.ts';
import { countOf, timeLimit } from '../counts.ts';
import { report } from '../report.ts';

const drains = countOf('drains');
const folder = mkdtempSync(join(tmpdir(), 'belfry-drain-'));
afterAll(async () => {
  await endServers();
  rmSync(folder, { recursive: true, force: true });
});

const drainedWithinMs = limitMs(10_000);

test(`${drains} servers that get SIGTERM under load answer what they accepted, tell panels, and exit with 0 in time`, {
  timeout: timeLimit(150_000),
}, async () => {
  const { token, key } = await credentials(folder);
  const load = new Load({ token, writers: 8 });
  const panel = new ResumingPanel('wall');
  const drainMs: number[] = [];
  let port = 0;
  for (let i = 0; i < drains; i++) {
    const server = await ServerProcess.start({ folder, port });
    port = server.port;
    await panel.connect(server.url, token);
    load.start(server.url);
    await moment(100 + Math.random() * 500);
    const began = performance.now();
    const exit = await server.end('SIGTERM');
    drainMs.push(performance.now() - began);
    expect(exit, server.output.slice(-2_000)).toEqual({ code: 0, signal: null });
    await Promise.all([load.ended(), panel.ended]);
    expect(panel.events.get('bye')).toBe(i + 1);
  }

  const server = await ServerProcess.start({ folder, port });
  await panel.connect(server.url, token);
  const history = await readHistory(server.url, key);
  await panel.reached(history.length);
  const verdict = checkHistory(load.sent, history, [panel.log(history.length)]);
  expect(problemsOf(verdict)).toEqual([]);
  expect(verdict.unknownRecorded, 'stored, and not answered').toBe(0);
  expect(panel.resumes).toEqual(['live', ...Array(drains).fill('replayed')]);
  await server.end('SIGTERM');
  const worst = Math.max(...drainMs);
  report({
    promise: 'drain: every accepted request is answered, panels get `bye`, exit 0 ≤ 10 s',
    method:
      'SIGTERM at a random moment under eight senders and a panel that resumes; then history is checked',
    count: `${drains} SIGTERMs, ${load.acknowledged} acknowledged`,
    result: `${verdict.lost.length} lost, ${verdict.unknownRecorded} stored without an answer, every exit 0; worst ${Math.round(worst)} ms`,
  });
  expect(worst).toBeLessThanOrEqual(drainedWithinMs);
});
