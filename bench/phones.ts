/** What 2,000 phones that read as from ntfy cost: memory of each, and latency, beside a wall of panels and compared with as many panels. */
import { rmSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { ServerProcess } from '#test/support/server-process.ts';
import { credentials } from '#test/support/storage.ts';
import { type Delivered, type DeliveryRun, deliver, measuredTitle } from './delivery.ts';
import { benchFolder, residentMiB } from './machine.ts';
import type { Quantiles } from './panel-readers.ts';
import { connectPanels, notifyRequest, registerPanel, subscribe } from './processes.ts';
import { median, ms, spread, table, times, whole } from './statistics.ts';

const rounds = Number(process.env.BENCH_ROUNDS ?? 3);
const wallPanels = 20;
const run = {
  ...{ panels: Number(process.env.BENCH_PHONES ?? 2_000), count: 100, connections: 1 },
  ...{ perSecond: 5, warmUp: 50 },
} satisfies DeliveryRun;

type Ask = (id: string, topic: string, token: string) => string;
const head = (token: string) => `Host: 127.0.0.1\r\nAuthorization: Bearer ${token}\r\n`;
const upgrade =
  'Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n';
const askPanel: Ask = (id, _topic, token) => subscribe(id, token);
const phones: Readonly<Record<string, Ask>> = {
  'phones, JSON': (_id, topic, token) => `GET /ntfy/${topic}/json?since=none HTTP/1.1\r\n${head(token)}\r\n`,
  'phones, WebSocket': (_id, topic, token) =>
    `GET /ntfy/${topic}/ws?since=none HTTP/1.1\r\n${head(token)}${upgrade}\r\n`,
};

interface Measured {
  readonly kibEach: number;
  readonly alone: Delivered;
  /** A wall alone, on the same server. */
  readonly wall: Quantiles;
  /** Both together; the latency of the wall is apart. */
  readonly beside: Delivered;
}

const measured = new Map<string, Measured[]>(['panels', ...Object.keys(phones)].map((name) => [name, []]));
for (let round = 0; round < rounds; round++) {
  const order = [...measured];
  for (const [name, figures] of round % 2 === 0 ? order : order.toReversed())
    figures.push(await measure(phones[name] ?? askPanel));
}
report();

async function measure(ask: Ask): Promise<Measured> {
  const folder = benchFolder();
  const { token } = await credentials(folder);
  const server = await ServerProcess.start({ folder });
  try {
    const streams = await register(server, token, { name: 'device', count: run.panels, ask });
    const wall = await register(server, token, { name: 'wall', count: wallPanels, ask: askPanel });
    const message = 'Replication of orders is 40 s behind on db-01; the limit is 30 s';
    const fields = { title: measuredTitle, message, level: 'warning', host: 'db-01.example.com' };
    const publish = notifyRequest(token, fields);
    const deliverTo = (to: readonly string[], over: Partial<DeliveryRun> = {}) =>
      deliver(
        { port: server.port, publish, subscribe: to, apart: wall },
        { ...run, panels: to.length, ...over },
      );
    // The server has read each panel once, and has sent to some.
    await deliverTo(streams.slice(0, 10), { count: 20 });
    await sleep(3_000);
    const before = residentMiB(server.pid);
    const readers = await connectPanels(server.port, streams);
    await sleep(5_000);
    const kibEach = ((residentMiB(server.pid) - before) * 1024) / run.panels;
    readers.disconnect();
    await sleep(2_000);
    const alone = await deliverTo(streams);
    await sleep(2_000);
    const beside = await deliverTo(mixed(streams, wall));
    await sleep(2_000);
    const ofWall = (await deliverTo(wall)).apart;
    return { kibEach, alone, beside, wall: ofWall };
  } finally {
    await server.end('SIGTERM');
    rmSync(folder, { recursive: true, force: true });
  }
}

/** The requests of new panels. A topic is that of a panel of the same name. */
async function register(
  { url }: ServerProcess,
  token: string,
  { name, count, ask }: { readonly name: string; readonly count: number; readonly ask: Ask },
): Promise<string[]> {
  const requests: string[] = [];
  const workers = Array.from({ length: 20 }, async (_, worker) => {
    for (let i = worker; i < count; i += 20)
      requests.push(ask(await registerPanel(url, token, `${name}-${i}`), `${name}-${i}`, token));
  });
  await Promise.all(workers);
  return requests;
}

/** Each panel of the wall in the middle of an equal share of the streams: the server writes in the order of connecting. */
function mixed(streams: readonly string[], wall: readonly string[]): string[] {
  const share = Math.ceil(streams.length / wall.length);
  return wall.flatMap((panel, i) =>
    streams.slice(i * share, (i + 1) * share).toSpliced(Math.floor(share / 2), 0, panel),
  );
}

function report(): void {
  const panels = measured.get('panels') ?? [];
  const kib = (value: number) => `${value.toFixed(1)} KiB`;
  const kibOf = (figures: readonly Measured[]) => figures.map(({ kibEach }) => kibEach);
  const goal = (name: string, text: string, reached: boolean) =>
    name === 'panels' ? '' : `${text}: ${reached ? 'reached' : 'missed'}`;
  const beside: string[][] = [];
  const alone: string[][] = [];
  for (const [name, figures] of measured) {
    const column = (of: (each: Measured) => number) => spread(figures.map(of), ms);
    const ofWall = figures.map((each) => each.beside.p99 / each.beside.apart.p99);
    const ofPanels = figures.map((each, i) => each.alone.p99 / (panels[i] ?? each).alone.p99);
    const beyond = median(kibOf(figures)) - median(kibOf(panels));
    beside.push([
      ...[name, column((each) => each.beside.p50), column((each) => each.beside.p99)],
      ...[column((each) => each.beside.apart.p50), column((each) => each.beside.apart.p99)],
      spread(ofWall, times),
      ...[goal(name, '≤ 1.5×', median(ofWall) <= 1.5), column((each) => each.wall.p99)],
    ]);
    alone.push([
      ...[name, spread(kibOf(figures), kib), kib(beyond), goal(name, '≤ 10 KiB', beyond <= 10)],
      ...[column((each) => each.alone.p50), column((each) => each.alone.p99), spread(ofPanels, times)],
    ]);
  }
  console.log(`${rounds} rounds, each on a fresh server; ${whole(run.panels)} streams, ${run.perSecond} notifications a second to all of them.

The goal for latency is about phones beside a wall: ${wallPanels} panels and ${whole(run.panels)} other streams on one server get the same notifications, and all of them
are measured. The server writes to streams one after the other, in the order of connecting, so each panel of the wall connects in the middle of an
equal share of the others. A phone then waits about as long as a panel, whatever each of them costs; those that connect first would wait less. What
the phones cost is in the p99 of the wall with and without them. The row of panels is for comparison: as many panels in the place of the phones.

${table([['beside a wall', 'POST → event p50', 'p99', 'p50 of the wall', 'p99 of the wall', 'p99, of that of the wall', 'goal', 'p99 of the wall alone'], ...beside])}

Each kind alone on a server, compared with the panels on another. The goal is not about this latency: the line of a phone has a topic and links of its
own, while panels share the bytes of an event.

${table([['alone', 'memory each', 'beyond a panel', 'goal', 'POST → event p50', 'p99', 'p99, of that of panels'], ...alone])}`);
}
