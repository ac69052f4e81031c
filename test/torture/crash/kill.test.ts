import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { endServers, ServerProcess } from '../../support/server-process.ts';
import { countOf, timeLimit } from '../counts.ts';
import { report } from '../report.ts';
import { killAgain } from './kill-again.ts';

const folder = mkdtempSync(join(tmpdir(), 'belfry-kill-'));
afterAll(async () => {
  await endServers();
  rmSync(folder, { recursive: true, force: true });
});

const readyWithinMs = 2_000;
/** On a machine busy with other things: so many times what a start on an empty folder takes on it. */
const readyWithinStarts = 2;
/** So many on one database: what a start reads back grows, and the check of all of it with it. */
const killsADatabase = 50;
const kills = countOf('kills');

test(`${kills} kills under load lose nothing acknowledged, make no gap and no repeat on a panel, and each start is ready at once`, {
  timeout: timeLimit(150_000),
}, async () => {
  const emptyMs = await startEmpty();
  const readyMs: number[] = [];
  const complaints: string[] = [];
  let [done, acknowledged, unknown] = [0, 0, 0];
  for (let database = 0; done < kills && complaints.length === 0; database++) {
    const own = join(folder, `database-${database}`);
    const outcome = await killAgain({ folder: own, kills: Math.min(killsADatabase, kills - done) });
    rmSync(own, { recursive: true, force: true });
    complaints.push(...outcome.complaints);
    readyMs.push(...outcome.readyMs);
    done += outcome.kills;
    acknowledged += outcome.acknowledged;
    unknown += outcome.unknown;
    if (complaints.length === 0)
      expect(outcome.resumes).toEqual(['live', ...Array(outcome.kills).fill('replayed')]);
  }
  const slowestEmpty = Math.max(...emptyMs, ...(await startEmpty()));
  const worst = Math.max(...readyMs);
  report({
    promise: '`kill -9`: nothing acknowledged is lost, panels have no gap and no repeat, ready again ≤ 2 s',
    method:
      'SIGKILL at a random moment under eight senders; then every acknowledged id, every position and the list of a panel that resumes are checked',
    count: `${done} kills, ${acknowledged} acknowledged`,
    result: `${complaints.length === 0 ? '0 lost, 0 phantom, 0 repeated' : complaints.join('; ')}, ${unknown} unknown; worst start to ready ${Math.round(worst)} ms (${Math.round(slowestEmpty)} ms on an empty folder)`,
  });
  expect(complaints).toEqual([]);
  expect(acknowledged).toBeGreaterThan(kills * 50);
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
