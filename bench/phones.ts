/** What 2,000 phones that read as from ntfy cost, compared with as many panels: memory of each, and latency to all of them. */
import { rmSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { ServerProcess } from '#test/support/server-process.ts';
import { credentials } from '#test/support/storage.ts';
import { type Delivered, type DeliveryRun, deliver, measuredTitle, type Side } from './delivery.ts';
import { benchFolder, residentMiB } from './machine.ts';
import { connectPanels, notifyRequest, registerPanel, subscribe } from './processes.ts';
import { median, ms, spread, table, times, whole } from './statistics.ts';

const rounds = 3;
const run = {
  ...{ panels: Number(process.env.BENCH_PHONES ?? 2_000), count: 100, connections: 1 },
  ...{ perSecond: 5, warmUp: 50 },
} satisfies DeliveryRun;

type Ask = (id: string, topic: string, token: string) => string;
const head = (token: string) => `Host: 127.0.0.1\r\nAuthorization: Bearer ${token}\r\n`;
const upgrade =
  'Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n';
const sides: Readonly<Record<string, Ask>> = {
  panels: (id, _topic, token) => subscribe(id, token),
  'phones, JSON': (_id, topic, token) => `GET /ntfy/${topic}/json?since=none HTTP/1.1\r\n${head(token)}\r\n`,
  'phones, WebSocket': (_id, topic, token) =>
    `GET /ntfy/${topic}/ws?since=none HTTP/1.1\r\n${head(token)}${upgrade}\r\n`,
};

interface Measured {
  readonly kibEach: number;
  readonly delivered: Delivered;
}

const measured = new Map<string, Measured[]>(Object.keys(sides).map((name) => [name, []]));
for (let round = 0; round < rounds; round++) {
  const order = Object.entries(sides);
  for (const [name, ask] of round % 2 === 0 ? order : order.toReversed()) {
    measured.get(name)?.push(await measure(ask));
  }
}
report();

async function measure(ask: Ask): Promise<Measured> {
  const folder = benchFolder();
  const { token } = await credentials(folder);
  const server = await ServerProcess.start({ folder });
  try {
    const side = await prepare(server, token, ask);
    // The server has read each panel once, and has sent to some.
    await deliver(side, { ...run, panels: 10, count: 20 });
    await sleep(3_000);
    const before = residentMiB(server.pid);
    const readers = await connectPanels(server.port, side.subscribe);
    await sleep(5_000);
    const kibEach = ((residentMiB(server.pid) - before) * 1024) / run.panels;
    readers.disconnect();
    await sleep(2_000);
    return { kibEach, delivered: await deliver(side, run) };
  } finally {
    await server.end('SIGTERM');
    rmSync(folder, { recursive: true, force: true });
  }
}

/** A topic is that of a panel of the same name. */
async function prepare(server: ServerProcess, token: string, ask: Ask): Promise<Omit<Side, 'stop'>> {
  const subscribes: string[] = [];
  await Promise.all(
    Array.from({ length: 20 }, async (_, worker) => {
      for (let i = worker; i < run.panels; i += 20)
        subscribes.push(ask(await registerPanel(server.url, token, `device-${i}`), `device-${i}`, token));
    }),
  );
  const message = 'Replication of orders is 40 s behind on db-01; the limit is 30 s';
  const fields = { title: measuredTitle, message, level: 'warning', host: 'db-01.example.com' };
  return { port: server.port, publish: notifyRequest(token, fields), subscribe: subscribes };
}

function report(): void {
  const of = (name: string) => measured.get(name) ?? [];
  const panels = of('panels');
  const tail = ({ delivered }: Measured) => delivered.p99;
  const kib = (value: number) => `${value.toFixed(1)} KiB`;
  console.log(
    `${rounds} rounds, each on a fresh server; ${whole(run.panels)} streams, ${run.perSecond} notifications a second to all of them.\n`,
  );
  const kibOf = (figures: readonly Measured[]) => figures.map(({ kibEach }) => kibEach);
  const verdict = (reached: boolean) => (reached ? 'reached' : 'missed');
  console.log(
    table([
      ['what', 'memory each', 'beyond a panel', 'POST → event p50', 'p99', 'p99 beside panels', 'goal'],
      ...[...measured].map(([name, figures]) => {
        const beyond = median(kibOf(figures)) - median(kibOf(panels));
        const ratios = figures.map((each, i) => tail(each) / tail(panels[i] ?? each));
        const p50s = figures.map(({ delivered }) => delivered.p50);
        return [
          ...[name, spread(kibOf(figures), kib), kib(beyond)],
          ...[spread(p50s, ms), spread(figures.map(tail), ms), spread(ratios, times)],
          name === 'panels'
            ? ''
            : `≤ 10 KiB: ${verdict(beyond <= 10)}; ≤ 1.5×: ${verdict(median(ratios) <= 1.5)}`,
        ];
      }),
    ]),
  );
}
