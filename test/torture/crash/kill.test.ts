import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { endServers } from '../../support/server-process.ts';
import { countOf, timeLimit } from '../counts.ts';
import { report } from '../report.ts';
import { killAgain } from './kill-again.ts';

const folder = mkdtempSync(join(tmpdir(), 'belfry-kill-'));
afterAll(async () => {
  await endServers();
  rmSync(folder, { recursive: true, force: true });
});

/** So many on one database: what a start reads back grows, and the check of all of it with it. */
const killsADatabase = 50;
const kills = countOf('kills');

test(`${kills} kills under load lose nothing acknowledged, and make no gap and no repeat on a panel`, {
  timeout: timeLimit(150_000),
}, async () => {
  const complaints: string[] = [];
  let [done, acknowledged, unknown] = [0, 0, 0];
  for (let database = 0; done < kills && complaints.length === 0; database++) {
    const own = join(folder, `database-${database}`);
    const outcome = await killAgain({ folder: own, kills: Math.min(killsADatabase, kills - done) });
    rmSync(own, { recursive: true, force: true });
    complaints.push(...outcome.complaints);
    done += outcome.kills;
    acknowledged += outcome.acknowledged;
    unknown += outcome.unknown;
    if (complaints.length === 0)
      expect(outcome.resumes).toEqual(['live', ...Array(outcome.kills).fill('replayed')]);
  }
  report({
    promise: '`kill -9`: nothing acknowledged is lost, panels have no gap and no repeat',
    method:
      'SIGKILL at a random moment under eight senders; then every acknowledged id, every position and the list of a panel that resumes are checked',
    count: `${done} kills, ${acknowledged} acknowledged`,
    result: `${complaints.length === 0 ? '0 lost, 0 phantom, 0 repeated' : complaints.join('; ')}, ${unknown} unknown`,
  });
  expect(complaints).toEqual([]);
  expect(acknowledged).toBeGreaterThan(kills * 50);
});
