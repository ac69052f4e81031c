import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { endServers, ServerProcess } from '#test/support/server-process.ts';
import { countOf, timeLimit } from '../counts.ts';
import { report } from '../report.ts';
import { killAgain } from './kill-again.ts';

const folder = mkdtempSync(join(tmpdir(), 'belfry-ready-again-'));
afterAll(async () => {
  await endServers();
  rmSync(folder, { recursive: true, force: true });
});

const withinMs = 2_000;
/** On a machine busy with other things: so many times what a start on an empty folder takes on it. */
const withinStarts = 3;
const kills = countOf('readyAgain');

test(`a server that was killed under load is ready again at once: ${kills} kills`, {
  timeout: timeLimit(180_000),
}, async () => {
  const before = await startsOnNothing();
  const { readyMs, problems } = await killAgain({ folder: join(folder, 'killed'), kills });
  const nothing = Math.max(...before, ...(await startsOnNothing()));
  const [, ...again] = readyMs;
  const sorted = again.toSorted((a, b) => a - b);
  const [median, worst] = [sorted[sorted.length >> 1] as number, sorted.at(-1) as number];
  report({
    promise: 'after `kill -9` under load: ready again ≤ 2 s',
    method: 'from the start of the process to its first 200 on /readyz, its data as the kill left it',
    count: `${again.length} starts`,
    result: `median ${Math.round(median)} ms, worst ${Math.round(worst)} ms (at most ${Math.round(nothing)} ms on an empty folder)`,
  });
  expect(problems).toEqual([]);
  expect(worst).toBeLessThanOrEqual(Math.max(withinMs, withinStarts * nothing));
});

/** What a start takes here and now, with nothing to recover. */
async function startsOnNothing(): Promise<number[]> {
  const times: number[] = [];
  for (let i = 0; i < 2; i++) {
    const server = await ServerProcess.start({ folder: join(folder, `empty-${performance.now()}`) });
    times.push(server.readyMs);
    await server.end('SIGTERM');
  }
  return times;
}
