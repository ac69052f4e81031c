/** Events to many panels: throughput to 1,000 panels and latency to 100, compared with nginx and nchan. */
import { rmSync } from 'node:fs';
import { noTexts } from '#contract/history/fields.ts';
import { ServerProcess } from '#test/support/server-process.ts';
import { credentials } from '#test/support/storage.ts';
import { type Delivered, type DeliveryRun, deliver, measuredTitle, type Side } from './delivery.ts';
import { benchFolder } from './machine.ts';
import { startNchan } from './nchan.ts';
import { notifyRequest, registerPanel, subscribe } from './processes.ts';
import { median, ms, spread, table, times, whole } from './statistics.ts';

const rounds = 5;
const throughput: DeliveryRun = { panels: 1_000, count: 3_000, connections: 32, perSecond: null };
const latency = {
  panels: 100,
  count: 6_000,
  connections: 32,
  perSecond: 1_000,
  warmUp: 3_000,
} satisfies DeliveryRun;
const panelCount = Math.max(throughput.panels, latency.panels);

const message = 'Replication of orders is 40 s behind on db-01; the limit is 30 s';
/** nchan gets the same event as a Belfry panel, so that both move the same bytes. */
const event = JSON.stringify({
  ...{
    id: '01a1fb2d-1dc4-7e8a-98dc-83e9861acfc9',
    position: 12345,
    title: measuredTitle,
    message,
    level: 'warning',
    rank: 30,
  },
  ...{ ttl: 120000, ...noTexts, ip: '10.1.2.3', host: 'db-01.example.com', sourceIp: '127.0.0.1' },
  ...{
    receivedAt: '2026-11-20T22:56:40.388Z',
    expiresAt: '2026-11-20T22:58:40.388Z',
    remainingMs: 119_999,
    count: 0,
  },
});

const folder = benchFolder();
try {
  const results = new Map<string, { many: Delivered[]; soon: Delivered[] }>();
  for (let round = 0; round < rounds; round++) {
    const sides: [string, () => Promise<Side | undefined>][] = [
      ['Belfry', startBelfry],
      ['nginx with nchan', startReference],
    ];
    for (const [name, start] of round % 2 === 0 ? sides : sides.toReversed()) {
      const figures = results.get(name) ?? { many: [], soon: [] };
      for (const [kind, run] of [['many', throughput] as const, ['soon', latency] as const]) {
        const side = await start();
        if (!side) continue;
        figures[kind].push(await deliver(side, run));
        await side.stop();
      }
      results.set(name, figures);
    }
  }
  report(results);
} finally {
  rmSync(folder, { recursive: true, force: true });
}

async function startBelfry(): Promise<Side> {
  const own = benchFolder();
  const { token } = await credentials(own);
  const server = await ServerProcess.start({ folder: own });
  const ids: string[] = [];
  await Promise.all(
    Array.from({ length: 20 }, async (_, worker) => {
      for (let i = worker; i < panelCount; i += 20)
        ids.push(await registerPanel(server.url, token, `wall ${i}`));
    }),
  );
  const fields = {
    title: measuredTitle,
    message,
    level: 'warning',
    ip: '10.1.2.3',
    host: 'db-01.example.com',
  };
  return {
    port: server.port,
    publish: notifyRequest(token, fields),
    subscribe: ids.map((id) => subscribe(id, token)),
    async stop() {
      await server.end('SIGTERM');
      rmSync(own, { recursive: true, force: true });
    },
  };
}

async function startReference(): Promise<Side | undefined> {
  const nchan = await startNchan(folder);
  if (!nchan) return undefined;
  const { port, stop } = nchan;
  return {
    port,
    stop,
    publish: `POST /pub HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: ${event.length}\r\n\r\n${event}`,
    subscribe: Array.from(
      { length: panelCount },
      () => 'GET /sub HTTP/1.1\r\nHost: 127.0.0.1\r\nAccept: text/event-stream\r\n\r\n',
    ),
  };
}

function report(results: ReadonlyMap<string, { many: Delivered[]; soon: Delivered[] }>): void {
  const of = (name: string) => results.get(name) ?? { many: [], soon: [] };
  const [ours, theirs] = [of('Belfry'), of('nginx with nchan')];
  const rate = ({ perSecond }: Delivered) => perSecond;
  const half = ({ p50 }: Delivered) => p50;
  const tail = ({ p99 }: Delivered) => p99;
  const beside = (pick: (figures: Delivered) => number, kind: 'many' | 'soon') =>
    ours[kind].map((figures, i) => {
      const other = theirs[kind][i];
      return other ? pick(figures) / pick(other) : Number.NaN;
    });
  const absent = theirs.many.length === 0;
  const line = (
    what: string,
    kind: 'many' | 'soon',
    pick: (figures: Delivered) => number,
    write: (value: number) => string,
    goal: string,
  ) => [
    what,
    spread(ours[kind].map(pick), write),
    absent ? 'not installed' : spread(theirs[kind].map(pick), write),
    absent ? '' : spread(beside(pick, kind), times),
    goal,
  ];
  const { panels, count } = throughput;
  console.log(
    `${rounds} rounds, each on a fresh server; panels and publisher in processes of their own on the same cores. Belfry is durable, nchan keeps its messages in memory. Latency is measured after ${whole(latency.warmUp)} notifications of warming up, for both.\n`,
  );
  console.log(
    table([
      ['what', 'Belfry', 'nginx with nchan', 'ratio', 'goal'],
      line(
        `events/s to ${panels} panels, ${whole(count)} notifications flat out`,
        'many',
        rate,
        whole,
        '≥ 4×',
      ),
      line(
        `POST → event p50, ${latency.perSecond}/s, ${latency.panels} panels`,
        'soon',
        half,
        ms,
        '≤ 3 ms, ≤ 1.5×',
      ),
      line(
        `POST → event p99, ${latency.perSecond}/s, ${latency.panels} panels`,
        'soon',
        tail,
        ms,
        '≤ 15 ms, ≤ 1.5×',
      ),
    ]),
  );
  if (absent)
    console.log(
      '\nnginx with nchan is not installed here (apt-get install nginx libnginx-mod-nchan): no reference was measured.',
    );
  else if (median(beside(rate, 'many')) < 4) console.log('\nThe goal for events/s was missed in this run.');
}
