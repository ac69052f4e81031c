import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { endServers } from '#test/support/server-process.ts';
import { countOf, full, timeLimit } from '../counts.ts';
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
/** Databases, each with a server of its own, at the same time: a start uses one core. */
const lanes = 2;

test(`${kills} kills under load lose nothing acknowledged, and make no gap and no repeat on a panel`, {
  timeout: timeLimit(150_000),
}, async () => {
  const problems: string[] = [];
  let [done, acknowledged, unknown] = [0, 0, 0];
  const sizes = Array.from({ length: Math.ceil(kills / killsADatabase) }, (_, i) =>
    Math.min(killsADatabase, kills - i * killsADatabase),
  );
  const lane = async () => {
    for (let size = sizes.pop(); size !== undefined && problems.length === 0; size = sizes.pop()) {
      const own = join(folder, `database-${sizes.length}`);
      const outcome = await killAgain({ folder: own, kills: size });
      rmSync(own, { recursive: true, force: true });
      problems.push(...outcome.problems);
      done += outcome.kills;
      acknowledged += outcome.acknowledged;
      unknown += outcome.unknown;
      if (problems.length === 0)
        expect(outcome.resumes).toEqual(['live', ...Array(outcome.kills).fill('replayed')]);
    }
  };
  await Promise.all(Array.from({ length: lanes }, lane));
  report({
    promise: '`kill -9`: nothing acknowledged is lost, panels have no gap and no repeat',
    method:
      'SIGKILL at a random moment under eight senders; then every acknowledged id, every position and the list of a panel that resumes are checked',
    count: `${done} kills, ${acknowledged} acknowledged`,
    result: `${problems.length === 0 ? '0 lost, 0 phantom, 0 repeated' : problems.join('; ')}, ${unknown} unknown`,
  });
  expect(problems).toEqual([]);
  // A busy machine stores little between two kills.
  expect(acknowledged).toBeGreaterThan(kills * (full ? 50 : 1));
});
