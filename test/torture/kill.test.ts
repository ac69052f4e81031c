import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as moment } from 'node:timers/promises';
import { afterAll, expect, test } from 'vitest';
import { checkHistory, complaints, type Recorded } from '../support/history-checker.ts';
import { Load } from '../support/load.ts';
import { credentials, endServers, ServerProcess } from '../support/server-process.ts';
import { kills, timeLimit } from './counts.ts';
import { ResumingPanel, readHistory, readHistoryAfter } from './witnesses.ts';

const folder = mkdtempSync(join(tmpdir(), 'belfry-kill-'));
afterAll(async () => {
  await endServers();
  rmSync(folder, { recursive: true, force: true });
});

const readyWithinMs = 2_000;
/** On a machine busy with other things: so many times what a start on an empty folder takes on it. */
const readyWithinStarts = 2;
/** A kill comes at once to this long after the load began. */
const latestKillMs = 900;

test(`${kills} kills under load lose nothing acknowledged, make no gap and no repeat on a panel, and each start is ready at once`, {
  timeout: timeLimit(120_000),
}, async () => {
  const { token, key } = await credentials(folder);
  const load = new Load({ token, writers: 8 });
  const panel = new ResumingPanel('wall');
  const history: Recorded[] = [];
  const readyMs: number[] = [];

  /** Starts on what the last kill left, and judges it. */
  const restart = async (port: number) => {
    const server = await ServerProcess.start({ folder, port });
    readyMs.push(server.readyMs);
    history.push(...(await readHistoryAfter(server.url, key, history.length)));
    expect(complaints(checkHistory(load.sent, history)), `after ${readyMs.length - 1} kills`).toEqual([]);
    await panel.connect(server.url, token);
    return server;
  };

  const emptyMs = await startEmpty();
  let server = await restart(0);
  for (let cycle = 0; cycle < kills; cycle++) {
    load.start(server.url);
    await moment(Math.random() * latestKillMs);
    expect(await server.end('SIGKILL')).toEqual({ code: null, signal: 'SIGKILL' });
    await Promise.all([load.ended(), panel.ended]);
    server = await restart(server.port);
  }

  const whole = await readHistory(server.url, key);
  await panel.reached(whole.length);
  expect(complaints(checkHistory(load.sent, whole, [panel.log(whole.length)]))).toEqual([]);
  expect(panel.resumes).toEqual(['live', ...Array(kills).fill('replayed')]);
  expect(await server.end('SIGTERM')).toEqual({ code: 0, signal: null });
  const worst = Math.max(...readyMs);
  const slowestEmpty = Math.max(...emptyMs, ...(await startEmpty()));
  console.log(
    `kill -9: ${kills} times, ${load.acknowledged} acknowledged, 0 lost; worst start to ready ${Math.round(worst)} ms, on an empty folder ${Math.round(slowestEmpty)} ms`,
  );
  expect(load.acknowledged).toBeGreaterThan(kills * 50);
  expect(worst).toBeLessThanOrEqual(Math.max(readyWithinMs, readyWithinStarts * slowestEmpty));
});

/** What a start takes here and now, with nothing to recover. */
async function startEmpty(): Promise<number[]> {
  const times: number[] = [];
  for (const name of ['empty-1', 'empty-2', 'empty-3']) {
    const server = await ServerProcess.start({ folder: join(folder, name, String(performance.now())) });
    times.push(server.readyMs);
    await server.end('SIGTERM');
  }
  return times;
}
