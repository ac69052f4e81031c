/** From start to ready, and the memory of a server that idles; with a history, too. */
import { readFileSync, rmSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { credentials, ServerProcess } from '../test/support/server-process.ts';
import { benchFolder } from './machine.ts';
import { ms, spread, table } from './statistics.ts';

const rounds = 7;
const settleMs = 3_000;

const folder = benchFolder();
try {
  await credentials(folder);
  const readyMs: number[] = [];
  const rssMiB: number[] = [];
  for (let round = 0; round < rounds; round++) {
    const server = await ServerProcess.start({ folder });
    readyMs.push(server.readyMs);
    await sleep(settleMs);
    rssMiB.push(residentMiB(server.pid));
    await server.end('SIGTERM');
  }
  const mib = (value: number) => `${value.toFixed(0)} MiB`;
  console.log(
    table([
      ['what', `median of ${rounds} (least – greatest)`, 'goal'],
      ['start to ready', spread(readyMs, ms), '≤ 1.5 s'],
      ['memory, idle (RSS)', spread(rssMiB, mib), '≤ 120 MiB'],
    ]),
  );
} finally {
  rmSync(folder, { recursive: true, force: true });
}

function residentMiB(pid: number): number {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  return Number(/VmRSS:\s+(\d+)/.exec(status)?.[1]) / 1024;
}
