/**
 * One, two and three nodes on PostgreSQL, compared with SQLite: intake, the processor time of a notification, and its latency to
 * panels of the same and of another node. Everything runs on the same cores as the load, so only the ratios of rates count.
 */
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { openStorage } from '#server/app.ts';
import { createLogger } from '#server/log.ts';
import { readConfig } from '#settings/config.ts';
import { missingNats, startNats } from '#test/support/nats.ts';
import { createDatabase } from '#test/support/postgres.ts';
import { ServerProcess } from '#test/support/server-process.ts';
import { addCredential } from '#test/support/storage.ts';
import { type Delivered, type DeliveryRun, deliver, measuredTitle } from './delivery.ts';
import { bearer, type LoadResult, loadTool, runLoad } from './http-load.ts';
import { benchFolder, residentMiB, treeMicros } from './machine.ts';
import { notification } from './notification-sample.ts';
import { startBenchPostgres } from './postgres.ts';
import { notifyRequest, registerPanel, subscribe } from './processes.ts';
import { median, micros, ms, percent, spread, table, times, whole } from './statistics.ts';

const rounds = Number(process.env.BENCH_ROUNDS ?? 3);
const connections = 64;
const warmUpSeconds = 3;
const seconds = 4;
const latency = {
  panels: 20,
  count: 600,
  connections: 16,
  perSecond: 100,
  warmUp: 200,
} satisfies DeliveryRun;

/** Nodes on one database, and a token of its tenant. */
interface Installation {
  readonly nodes: readonly ServerProcess[];
  readonly token: string;
  stop(): Promise<void>;
}

interface Intake extends LoadResult {
  readonly nodeMicros: number;
  readonly primaryMicros: number;
  readonly nodeMiB: number;
}

/** Both run by default; an argument names one of them. */
const parts = process.argv[2] === undefined ? ['intake', 'delivery'] : [process.argv[2]];
const folder = benchFolder();
const postgres = await startBenchPostgres();
const nats = parts.includes('delivery') && missingNats() === undefined ? await startNats() : undefined;
try {
  if (parts.includes('intake')) await compareIntake();
  if (parts.includes('delivery')) await compareDelivery();
} finally {
  await nats?.stop();
  await postgres.stop();
  rmSync(folder, { recursive: true, force: true });
}

async function compareIntake(): Promise<void> {
  const variants = new Map<string, () => Promise<Installation>>([
    ['SQLite', () => install(1, `sqlite:${join(folder, `${Math.random()}`, 'belfry.db')}`)],
    ...[1, 2, 3].map(
      (count) => [`PostgreSQL, ${count} node${count > 1 ? 's' : ''}`, () => onPostgres(count)] as const,
    ),
  ]);
  const results = new Map<string, Intake[]>([...variants.keys()].map((name) => [name, []]));
  for (let round = 0; round < rounds; round++)
    for (const [name, start] of round % 2 === 0 ? variants : [...variants].toReversed())
      results.get(name)?.push(await measureIntake(await start()));
  console.log(
    `Intake by ${loadTool} on ${connections} connections, spread over the nodes; ${rounds} rounds of ${seconds} s after ${warmUpSeconds} s of warming up. Processor time of one notification: of all nodes together, and of PostgreSQL's processes.\n`,
  );
  const sqlite = results.get('SQLite') ?? [];
  const lines = [...results].map(([name, runs]) => [
    name,
    spread(
      runs.map(({ perSecond }) => perSecond),
      whole,
    ),
    spread(
      runs.map(({ perSecond }, i) => perSecond / (sqlite[i]?.perSecond ?? Number.NaN)),
      percent,
    ),
    ms(median(runs.map(({ p50 }) => p50))),
    ms(median(runs.map(({ p99 }) => p99))),
    micros(median(runs.map(({ nodeMicros }) => nodeMicros))),
    name === 'SQLite' ? '' : micros(median(runs.map(({ primaryMicros }) => primaryMicros))),
    `${whole(median(runs.map(({ nodeMiB }) => nodeMiB)))} MiB`,
    name.endsWith('1 node') ? '≥ 50 %' : '',
  ]);
  console.log(
    table([
      ['store', 'notifications/s', 'of SQLite', 'p50', 'p99', 'nodes', 'primary', 'a node, RSS', 'goal'],
      ...lines,
    ]),
  );
}

async function measureIntake({ nodes, token, stop }: Installation): Promise<Intake> {
  const loads = nodes.map(({ url }) => ({
    url: `${url}/api/notify`,
    headers: [bearer(token)],
    body: notification,
    connections: Math.ceil(connections / nodes.length),
  }));
  const measureLoad = (for_: number) => Promise.all(loads.map((load) => runLoad({ ...load, seconds: for_ })));
  const spent = () => ({
    nodes: nodes.reduce((sum, { pid }) => sum + treeMicros(pid), 0),
    primary: treeMicros(postgres.pid),
  });
  try {
    await measureLoad(warmUpSeconds);
    const before = spent();
    const runs = await measureLoad(seconds);
    const after = spent();
    const perSecond = runs.reduce((sum, result) => sum + result.perSecond, 0);
    const stored = perSecond * seconds;
    return {
      perSecond,
      p50: median(runs.map(({ p50 }) => p50)),
      p99: Math.max(...runs.map(({ p99 }) => p99)),
      nodeMicros: (after.nodes - before.nodes) / stored,
      primaryMicros: (after.primary - before.primary) / stored,
      nodeMiB: Math.max(...nodes.map(({ pid }) => residentMiB(pid))),
    };
  } finally {
    await stop();
  }
}

async function compareDelivery(): Promise<void> {
  const results = new Map<string, Delivered[]>();
  const keep = (name: string, delivered: Delivered) =>
    results.set(name, [...(results.get(name) ?? []), delivered]);
  for (let round = 0; round < rounds; round++) {
    keep(
      'SQLite, one server',
      await measureDelivery(await install(1, `sqlite:${join(folder, `d${round}`, 'belfry.db')}`), 0),
    );
    const two = () => onPostgres(2);
    const installed = await two();
    keep('PostgreSQL, the same node', await measureDelivery(installed, 0, false));
    keep('PostgreSQL, another node, LISTEN', await measureDelivery(installed, 1));
    if (nats)
      keep(
        'PostgreSQL, another node, NATS',
        await measureDelivery(await onPostgres(2, { BELFRY_BUS_URL: nats.url }), 1),
      );
  }
  console.log(
    `\nPOST → panel: ${latency.perSecond} notifications a second to ${latency.panels} panels, ${whole(latency.count)} of them measured; ${rounds} rounds.\n`,
  );
  const base = results.get('PostgreSQL, the same node') ?? [];
  const lines = [...results].map(([name, delivered]) => [
    name,
    spread(
      delivered.map(({ p50 }) => p50),
      ms,
    ),
    spread(
      delivered.map(({ p99 }) => p99),
      ms,
    ),
    name.includes('another')
      ? spread(
          delivered.map(({ p50 }, i) => p50 / (base[i]?.p50 ?? Number.NaN)),
          times,
        )
      : '',
    name.includes('another') ? '≤ 2×' : '',
  ]);
  console.log(table([['panels on', 'p50', 'p99', 'p50 of the same node', 'goal'], ...lines]));
}

/** Measures from the first node to the panels of one node. */
async function measureDelivery(
  { nodes, token, stop }: Installation,
  to: number,
  isLast = true,
): Promise<Delivered> {
  const [from, reader] = [nodes[0] as ServerProcess, nodes[to] as ServerProcess];
  try {
    const ids = [];
    for (let i = 0; i < latency.panels; i++)
      ids.push(await registerPanel(reader.url, token, `wall ${i} of node ${to}`));
    return await deliver(
      {
        port: reader.port,
        publishPort: from.port,
        publish: notifyRequest(token, {
          title: measuredTitle,
          message: 'Replication of orders is 40 s behind',
        }),
        subscribe: ids.map((id) => subscribe(id, token)),
      },
      latency,
    );
  } finally {
    if (isLast) await stop();
  }
}

async function onPostgres(count: number, env: Readonly<Record<string, string>> = {}): Promise<Installation> {
  return install(count, await createDatabase(postgres.url), env);
}

async function install(
  count: number,
  url: string,
  env: Readonly<Record<string, string>> = {},
): Promise<Installation> {
  const settings = { BELFRY_DATABASE_URL: url, BELFRY_KEY_FILE: join(folder, 'belfry.key'), ...env };
  const token = await makeToken(settings.BELFRY_DATABASE_URL);
  const nodes: ServerProcess[] = [];
  for (let i = 0; i < count; i++) nodes.push(await ServerProcess.start({ folder, env: settings }));
  return {
    nodes,
    token,
    stop: async () => void (await Promise.all(nodes.map((node) => node.end('SIGTERM')))),
  };
}

async function makeToken(url: string): Promise<string> {
  const logger = createLogger({ level: 'silent', format: 'json' });
  const { directory, close } = await openStorage(readConfig({ BELFRY_DATABASE_URL: url }), logger, 'server');
  try {
    const tenant = (await directory.tenants.findByName('default'))?.id ?? 0;
    return await addCredential(directory, 'token', tenant, { scopes: ['notify', 'panel'] });
  } finally {
    await close();
  }
}
