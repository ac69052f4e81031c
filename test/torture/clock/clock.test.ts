import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as moment } from 'node:timers/promises';
import { afterAll, expect, test } from 'vitest';
import { checkHistory, problemsOf } from '#test/support/history-checker.ts';
import { Load } from '#test/support/load.ts';
import { endServers, ServerProcess } from '#test/support/server-process.ts';
import { skipReason } from '#test/support/skip-reason.ts';
import { credentials } from '#test/support/storage.ts';
import { ResumingPanel, readHistory } from '../api-clients.ts';
import { full, timeLimit } from '../counts.ts';
import { report } from '../report.ts';
import { FakeClock, missingFaketime } from './faketime.ts';

const folder = mkdtempSync(join(tmpdir(), 'belfry-clock-'));
afterAll(async () => {
  await endServers();
  rmSync(folder, { recursive: true, force: true });
});

const missing = skipReason(missingFaketime());

const hour = 3_600;
const year = 365 * 24 * hour;
const leaps = [hour, -hour, 30 * hour, -30 * hour, year, -year, 20 * year, -5 * year, 0];
/** Retention runs once a minute; the short form leaves that to the tests of the trusted clock. */
const pastRetentionMs = 63_000;

test.skipIf(missing !== undefined)(
  'a clock that leaps by hours and years loses nothing and breaks no stream',
  { timeout: timeLimit(180_000) },
  async () => {
    const clock = new FakeClock(folder);
    const { token, key } = await credentials(folder);
    const env = { ...clock.env, BELFRY_HEARTBEAT_MS: '500', BELFRY_RETENTION_DAYS: '30' };
    const server = await ServerProcess.start({ folder, env });
    const panel = new ResumingPanel('wall');
    await panel.connect(server.url, token);
    const load = new Load({ token, writers: 3, pauseMs: 15 });
    load.start(server.url);
    await load.next(() => load.acknowledged >= 50, 30_000);
    const clocks: string[] = [];
    for (const seconds of leaps) {
      clock.leap(seconds);
      await moment(1_200);
      const { acknowledged } = load;
      await load.next(() => load.acknowledged >= acknowledged + 10, 30_000);
      await panel.next('notification');
      expect((await fetch(`${server.url}/readyz`)).status).toBe(200);
      clocks.push((await fetch(`${server.url}/healthz`)).headers.get('date') ?? '');
    }
    expect(
      new Set(clocks.map((date) => new Date(date).getUTCFullYear())).size,
      'the clock jumped',
    ).toBeGreaterThanOrEqual(4);
    await load.stop();
    for (const seconds of [year, -year]) {
      clock.leap(seconds);
      await panel.next('heartbeat');
      await panel.next('heartbeat');
    }
    clock.leap(year);
    if (full) {
      await moment(pastRetentionMs);
      expect(server.output).toMatch(/the clock jumped: retention by age ignores the jump for a day/);
    }

    const history = await readHistory(server.url, key);
    await panel.reached(history.length);
    const verdict = checkHistory(load.sent, history, [panel.log(history.length)]);
    expect(await server.end('SIGTERM')).toEqual({ code: 0, signal: null });
    report({
      promise: 'clock jumps: nothing lost, streams go on, retention waits',
      method: `libfaketime sets a running server's clock by ${leaps.length + 3} leaps of an hour to twenty years, both ways${full ? '; one of a year holds over a run of retention' : ''}`,
      count: `${leaps.length + 3} leaps, ${load.acknowledged} acknowledged`,
      result: `${verdict.lost.length} lost, ${verdict.otherProblems.length} problems in order or on the panel, ${panel.resumes.length - 1} reconnects`,
    });
    expect(problemsOf(verdict)).toEqual([]);
    expect(panel.resumes).toEqual(['live']);
    expect([...load.statuses.keys()]).toEqual([200]);
  },
);
