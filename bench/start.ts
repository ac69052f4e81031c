/** The time from start to ready, and the memory of an idle server, without and with a history. */
import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { root, ServerProcess } from '#test/support/server-process.ts';
import { credentials } from '#test/support/storage.ts';
import { benchFolder, residentMiB } from './machine.ts';
import { copyHistory } from './prepared.ts';
import { median, ms, spread, table, whole } from './statistics.ts';

const rounds = Number(process.env.BENCH_ROUNDS ?? 7);
/** As in `npm start`: Node keeps compiled code. */
const compileCache = { NODE_COMPILE_CACHE: join(root, 'node_modules', '.cache', 'node-compile') };
const settleMs = 4_000;
const [history, rows = '0'] = process.argv.slice(2);
const mib = (value: number) => `${value.toFixed(0)} MiB`;

const folder = benchFolder();
try {
  const empty = join(folder, 'empty');
  mkdirSync(empty);
  await credentials(empty);
  const cases: [what: string, folder: string][] = [['no notifications', empty]];
  if (history) {
    const full = join(folder, 'full');
    mkdirSync(full);
    copyHistory(history, join(full, 'belfry.db'));
    cases.push([`${whole(Number(rows))} notifications`, full]);
  }
  const lines = [['what', `median of ${rounds} (least – greatest)`, 'goal']];
  const measured = cases.map(() => ({ readyMs: [] as number[], rss: [] as number[] }));
  for (let round = 0; round < rounds; round++) {
    for (const [i, [, path]] of cases.entries()) {
      const server = await ServerProcess.start({ folder: path, env: compileCache });
      measured[i]?.readyMs.push(server.readyMs);
      await sleep(settleMs);
      measured[i]?.rss.push(residentMiB(server.pid));
      await server.end('SIGTERM');
    }
  }
  for (const [i, [what]] of cases.entries()) {
    const { readyMs, rss } = measured[i] as { readyMs: number[]; rss: number[] };
    lines.push([
      `start to ready, ${what}`,
      spread(readyMs, ms),
      `≤ 1.2 s: ${median(readyMs) <= 1200 ? 'reached' : 'missed'}`,
    ]);
    lines.push([
      `memory, idle (RSS), ${what}`,
      spread(rss, mib),
      `≤ 120 MiB: ${median(rss) <= 120 ? 'reached' : 'missed'}`,
    ]);
  }
  console.log(table(lines));
} finally {
  rmSync(folder, { recursive: true, force: true });
}
