/** Durable intake, flat out, on a fresh database in each round; a bare Fastify echo of the same body beside it. */
import { cpSync, mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { ServerProcess } from '#test/support/server-process.ts';
import { credentials } from '#test/support/storage.ts';
import { bearer, fire, type Hit, loadTool } from './http-load.ts';
import { benchFolder } from './machine.ts';
import { notification } from './notification-sample.ts';
import { median, ms, percent, spread, table, whole } from './statistics.ts';

const rounds = Number(process.env.BENCH_ROUNDS ?? 6);
const warmUpSeconds = 3;
const seconds = 4;
const goal = 0.6;

const folder = benchFolder();
try {
  const fresh = join(folder, 'fresh');
  mkdirSync(fresh);
  const { token } = await credentials(fresh);
  console.log(
    `Load by ${loadTool}; ${rounds} rounds of ${seconds} s after ${warmUpSeconds} s of warming up; requests per second.\n`,
  );
  const rows = [['connections', 'Belfry, durable', 'Fastify echo', 'ratio', 'p50', 'p99', 'goal']];
  for (const connections of [64, 256]) rows.push(await measure(connections, fresh, token));
  console.log(table(rows));
} finally {
  rmSync(folder, { recursive: true, force: true });
}

async function measure(connections: number, fresh: string, token: string): Promise<string[]> {
  const ours: Hit[] = [];
  const echo: Hit[] = [];
  for (let round = 0; round < rounds; round++) {
    const turns = [
      async () => ours.push(await shoot(await startBelfry(fresh, round), token, connections)),
      async () => echo.push(await shoot(await startEcho(), token, connections)),
    ];
    // Which of the two goes first changes, so that a machine that slows down favours neither.
    for (const turn of round % 2 === 0 ? turns : turns.toReversed()) await turn();
  }
  const ratios = ours.map(({ perSecond }, round) => perSecond / (echo[round]?.perSecond ?? Number.NaN));
  return [
    String(connections),
    spread(rates(ours), whole),
    spread(rates(echo), whole),
    spread(ratios, percent),
    ms(median(ours.map(({ p50 }) => p50))),
    ms(median(ours.map(({ p99 }) => p99))),
    `≥ ${percent(goal)}: ${median(ratios) >= goal ? 'reached' : 'missed'}`,
  ];
}

function rates(hits: readonly Hit[]): number[] {
  return hits.map(({ perSecond }) => perSecond);
}

async function shoot(server: ServerProcess, token: string, connections: number): Promise<Hit> {
  const shot = { url: `${server.url}/api/notify`, headers: [bearer(token)], body: notification, connections };
  try {
    await fire({ ...shot, seconds: warmUpSeconds });
    return await fire({ ...shot, seconds });
  } finally {
    await server.end('SIGTERM');
  }
}

/** On a copy of a database that holds nothing but the token. */
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
