/** From start to ready, and the memory of a server that idles; with a history, too. */
import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { root, ServerProcess } from '#test/support/server-process.ts';
import { credentials } from '#test/support/storage.ts';
import { benchFolder, residentMiB } from './machine.ts';
import { copyHistory } from './prepared.ts';
import { median, ms, spread, table, whole } from './statistics.ts';

const rounds = Number(process.env.BENCH_ROUNDS ?? 7);
/** As `npm start` has it: what Node compiled is kept. */
const compileCache = { NODE_COMPILE_CACHE: join(root, 'node_modules', '.cache', 'node-compile') };
const settleMs = 4_000;
const [history, rows = '0'] = process.argv.slice(2);
const mib = (value: number) => `${value.toFixed(0)} MiB`;

const folder = benchFolder();
try {
  const empty = join(folder, 'empty');
  mkdirSync(empty);
  await credentials(empty);
  const places: [what: string, folder: string][] = [['no notifications', empty]];
  if (history) {
    const full = join(folder, 'full');
    mkdirSync(full);
    copyHistory(history, join(full, 'belfry.db'));
    places.push([`${whole(Number(rows))} notifications`, full]);
  }
  const lines = [['what', `median of ${rounds} (least – greatest)`, 'goal']];
  const found = places.map(() => ({ readyMs: [] as number[], rss: [] as number[] }));
  for (let round = 0; round < rounds; round++) {
    for (const [i, [, own]] of places.entries()) {
      const server = await ServerProcess.start({ folder: own, env: compileCache });
      found[i]?.readyMs.push(server.readyMs);
      await sleep(settleMs);
      found[i]?.rss.push(residentMiB(server.pid));
      await server.end('SIGTERM');
    }
  }
  for (const [i, [what]] of places.entries()) {
    const { readyMs, rss } = found[i] as { readyMs: number[]; rss: number[] };
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
