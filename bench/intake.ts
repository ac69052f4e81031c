/**
 * Durable intake at full speed, with a fresh database in each round, compared with a Fastify server that echoes the same body.
 */
import { cpSync, mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { ServerProcess } from '#test/support/server-process.ts';
import { credentials } from '#test/support/storage.ts';
import { bearer, type LoadResult, loadTool, type MeasuredLoad, measureLoad } from './http-load.ts';
import { benchFolder } from './machine.ts';
import { notification } from './notification-sample.ts';
import { median, micros, ms, percent, spread, table, whole } from './statistics.ts';

const rounds = Number(process.env.BENCH_ROUNDS ?? 6);
const warmUpSeconds = 3;
const seconds = 4;
const goals: Readonly<Record<number, number>> = { 64: 0.55, 256: 0.6 };

const folder = benchFolder();
try {
  const fresh = join(folder, 'fresh');
  mkdirSync(fresh);
  const { token } = await credentials(fresh);
  console.log(
    `Load by ${loadTool}; ${rounds} rounds of ${seconds} s after ${warmUpSeconds} s of warming up; requests per second, and processor time of one request on each thread.\n`,
  );
  const rows = [
    [
      'connections',
      'Belfry, durable',
      'Fastify echo',
      'ratio',
      'p50',
      'p99',
      'main thread',
      'writer',
      'echo',
      'goal',
    ],
  ];
  for (const connections of [64, 256]) rows.push(await measure(connections, fresh, token));
  console.log(table(rows));
} finally {
  rmSync(folder, { recursive: true, force: true });
}

async function measure(connections: number, fresh: string, token: string): Promise<string[]> {
  const ours: MeasuredLoad[] = [];
  const echo: MeasuredLoad[] = [];
  for (let round = 0; round < rounds; round++) {
    const turns = [
      async () => ours.push(await measureOnce(await startBelfry(fresh, round), token, connections)),
      async () => echo.push(await measureOnce(await startEcho(), token, connections)),
    ];
    // The order alternates, so that a machine that slows down favours neither.
    for (const turn of round % 2 === 0 ? turns : turns.toReversed()) await turn();
  }
  const goal = goals[connections] ?? 1;
  const ratios = ours.map(({ perSecond }, round) => perSecond / (echo[round]?.perSecond ?? Number.NaN));
  return [
    String(connections),
    spread(rates(ours), whole),
    spread(rates(echo), whole),
    spread(ratios, percent),
    ms(median(ours.map(({ p50 }) => p50))),
    ms(median(ours.map(({ p99 }) => p99))),
    micros(median(ours.map(({ mainMicros }) => mainMicros))),
    micros(median(ours.map(({ writerMicros }) => writerMicros))),
    micros(median(echo.map(({ mainMicros }) => mainMicros))),
    `≥ ${percent(goal)}: ${median(ratios) >= goal ? 'reached' : 'missed'}`,
  ];
}

function rates(runs: readonly LoadResult[]): number[] {
  return runs.map(({ perSecond }) => perSecond);
}

async function measureOnce(server: ServerProcess, token: string, connections: number): Promise<MeasuredLoad> {
  const load = { headers: [bearer(token)], body: notification, connections };
  try {
    await measureLoad(server, { ...load, seconds: warmUpSeconds });
    return await measureLoad(server, { ...load, seconds });
  } finally {
    await server.end('SIGTERM');
  }
}

/** Starts a server on a copy of a database that contains only the token. */
function startBelfry(fresh: string, round: number): Promise<ServerProcess> {
  const copy = join(folder, `round-${round}`);
  rmSync(copy, { recursive: true, force: true });
  cpSync(fresh, copy, { recursive: true });
  return ServerProcess.start({ folder: copy });
}

function startEcho(): Promise<ServerProcess> {
  const script = fileURLToPath(new URL('./echo-server.ts', import.meta.url));
  const command = [process.execPath, '--disable-warning=ExperimentalWarning', script];
  return ServerProcess.run(command, process.env, { status: null });
}
