import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { endServers } from '#test/support/server-process.ts';
import { skipReason } from '#test/support/skip-reason.ts';
import { withDefect } from '../control/defects.ts';
import { countOf, timeLimit } from '../counts.ts';
import { report } from '../report.ts';
import { cutAgain } from './cut-again.ts';
import { missingLoop } from './power-image.ts';

const folder = mkdtempSync(join(tmpdir(), 'belfry-power-'));
afterAll(async () => {
  await endServers();
  rmSync(folder, { recursive: true, force: true });
});

const cuts = countOf('cuts');
const missing = skipReason(missingLoop());
const method =
  'ext4 in a file (commit=300), write-back timer off; at a random moment SIGSTOP, copy of the image, SIGKILL, start on the copy';

test.skipIf(missing !== undefined)(
  `${cuts} power cuts lose nothing acknowledged`,
  {
    timeout: timeLimit(120_000),
  },
  async () => {
    const outcome = await cutAgain({ folder, cuts });
    report({
      promise: 'power cut: nothing acknowledged is lost, the file is intact',
      method: `${method}; half of them at about 100 messages/s, half at full load`,
      count: `${outcome.cuts} cuts, ${outcome.acknowledged} acknowledged`,
      result: `${outcome.lost} lost, ${outcome.unknown} unknown; ${outcome.problems.length === 0 ? 'no problems' : outcome.problems.join('; ')}`,
    });
    expect(outcome.problems).toEqual([]);
    expect(outcome.acknowledged).toBeGreaterThan(cuts * 10);
  },
);

test.skipIf(missing !== undefined)(
  'the same cuts with synchronous=NORMAL lose what was acknowledged',
  {
    timeout: timeLimit(120_000),
  },
  async () => {
    const outcome = await cutAgain({ folder, cuts: 6, env: withDefect('synchronous-normal') });
    report({
      promise: 'control: with `synchronous=NORMAL` the power cut must lose notifications',
      method,
      count: `${outcome.cuts} cuts, ${outcome.acknowledged} acknowledged`,
      result: `caught: ${outcome.lost} lost`,
    });
    expect(outcome.lost).toBeGreaterThan(0);
  },
);
