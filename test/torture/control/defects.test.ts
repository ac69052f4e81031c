import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, onTestFinished, test } from 'vitest';
import { checkHistory, problemsOf } from '#test/support/history-checker.ts';
import { Load } from '#test/support/load.ts';
import { endServers, ServerProcess } from '#test/support/server-process.ts';
import { credentials } from '#test/support/storage.ts';
import { ResumingPanel, readHistory } from '../api-clients.ts';
import { limitedFiles } from '../crash/broken-disk.ts';
import { killAgain } from '../crash/kill-again.ts';
import { report } from '../report.ts';
import { withDefect } from './defects.ts';

const folder = mkdtempSync(join(tmpdir(), 'belfry-defects-'));
afterAll(async () => {
  await endServers();
  rmSync(folder, { recursive: true, force: true });
});

function caught(promise: string, method: string, count: string, found: readonly string[]): void {
  report({ promise, method, count, result: found.length > 0 ? `caught: ${found[0]}` : 'NOT caught' });
}

test('an answer sent before the commit is caught by a kill', async () => {
  const own = join(folder, 'early');
  const outcome = await killAgain({ folder: own, kills: 10, env: withDefect('answer-before-commit') });
  const { kills, problems: found } = outcome;
  caught('control: an answer before the commit', 'kill -9 under load', `${kills} kills`, found);
  expect(found.join('\n')).toMatch(/\d+ lost: w\d/);
});

test('a frame buffer without replay is caught by a panel that resumes', async () => {
  const own = join(folder, 'no-replay');
  const { token, key } = await credentials(own);
  const load = new Load({ token, writers: 2 });
  const panel = new ResumingPanel('wall');
  const env = withDefect('buffer-without-replay');
  const first = await ServerProcess.start({ folder: own, env });
  await panel.connect(first.url, token);
  load.start(first.url);
  await panel.reached(5);
  panel.close();
  await load.next(() => load.acknowledged >= 50, 30_000);
  await load.stop();
  await first.end('SIGTERM');
  const second = await ServerProcess.start({ folder: own, env });
  await panel.connect(second.url, token);
  // What arrives now comes after all that was missed.
  load.start(second.url);
  await load.next(({ status }) => status === 200, 30_000);
  await load.stop();
  const history = await readHistory(second.url, key);
  await panel.reached(history.length);
  await second.end('SIGTERM');
  const found = problemsOf(checkHistory(load.sent, history, [panel.log(history.length)]));
  caught('control: a frame buffer without replay', 'a panel resumes after a restart', '1 restart', found);
  expect(found.join('\n')).toMatch(/wall got (position|nothing after)/);
});

test('a position from a bare counter is caught by a transaction that is rolled back', async () => {
  const disk = limitedFiles();
  onTestFinished(disk.remove);
  const { token, key } = await credentials(disk.folder);
  const server = await ServerProcess.start({ folder: disk.folder, env: withDefect('bare-counter') });
  const load = new Load({ token, writers: 4, pauseMs: 5 });
  load.start(server.url);
  await load.next(() => load.acknowledged >= 50, 30_000);
  // A fault may meet the indexing and not a batch of notifications: then nothing had a position to lose.
  let found: string[] = [];
  let faults = 0;
  while (faults < 10 && found.length === 0) {
    disk.fill(server.pid);
    await load.next(({ status }) => status === 503, 30_000);
    disk.free(server.pid);
    await load.next(({ status }) => status === 200, 30_000);
    await load.stop();
    found = problemsOf(checkHistory(load.sent, await readHistory(server.url, key)));
    load.start(server.url);
    faults += 1;
  }
  await load.stop();
  await server.end('SIGTERM');
  caught(
    'control: a position from a bare counter',
    'a disk that fills up under load',
    `${faults} faults`,
    found,
  );
  expect(found.join('\n')).toMatch(/position \d+ stands where \d+ should/);
});
