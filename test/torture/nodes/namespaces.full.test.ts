/** A node in a network namespace of its own, whose way to the bus or to the database swallows every packet. */
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import { missingNats, startNats } from '#test/support/nats.ts';
import { limitMs } from '#test/support/patience.ts';
import { createDatabase, missingPostgres, startPostgres } from '#test/support/postgres.ts';
import { ServerProcess } from '#test/support/server-process.ts';
import { skipReason } from '#test/support/skip-reason.ts';
import { TcpProxy } from '#test/support/tcp-proxy.ts';
import { timeLimit } from '../counts.ts';
import { FarSide, missingNamespace } from '../far-side.ts';
import { report } from '../report.ts';
import { Cluster } from './cluster.ts';
import { missingHaproxy } from './haproxy.ts';

const missing = skipReason(missingPostgres() ?? missingHaproxy() ?? missingNats() ?? missingNamespace());
/** Links of the namespace: for panels and senders, to the database, and to the bus. */
const [front, database, bus] = [0, 1, 2];
/** As the time-out of an answer has it (15 s), and some time for the way. */
const answeredMs = 17_000;

test('a node whose packets to the bus or the database are dropped: its panels wait and catch up, the others notice nothing', {
  timeout: timeLimit(240_000),
  skip: missing !== undefined,
}, async () => {
  const postgres = await startPostgres();
  onTestFinished(() => postgres.stop());
  const nats = await startNats();
  onTestFinished(() => nats.stop());
  const side = new FarSide('belfry-node', 3);
  onTestFinished(() => side.remove());
  const url = await createDatabase(postgres.url);
  const cluster = await Cluster.start({ urls: [url, url], env: { BELFRY_BUS_URL: nats.url } });
  onTestFinished(() => cluster.stop());
  const toDatabase = await TcpProxy.start({ port: Number(new URL(url).port) }, side.host(database));
  onTestFinished(() => toDatabase.close());
  const toBus = await TcpProxy.start({ port: nats.port }, side.host(bus));
  onTestFinished(() => toBus.close());
  const node = await ServerProcess.start({
    folder: cluster.folder,
    under: side.under,
    status: null,
    env: {
      BELFRY_HOST: '0.0.0.0',
      BELFRY_DATABASE_URL: toDatabase.through(url),
      BELFRY_BUS_URL: toBus.through(nats.url),
      BELFRY_KEY_FILE: join(cluster.folder, 'belfry.key'),
      BELFRY_HEARTBEAT_MS: '1000',
    },
  });
  onTestFinished(async () => void (await node.end('SIGKILL')));
  const far = `http://${side.farHost(front)}:${node.port}`;
  const panel = await cluster.addPanel('far', far);
  await cluster.answersAgain();
  /** Asks the far node to read, and to write: the answers, and how long the last one took. */
  const ask = async () => {
    const began = performance.now();
    const headers = { authorization: `Bearer ${cluster.key}` };
    const answers = await Promise.all([
      fetch(`${far}/api/history?limit=1`, { headers }),
      fetch(`${far}/api/notifications/${randomUUID()}/acknowledge`, { method: 'POST', headers }),
    ]);
    return { statuses: answers.map(({ status }) => status), ms: performance.now() - began };
  };
  expect((await ask()).statuses).toEqual([200, 404]);

  side.swallow(true, bus, 'near');
  await cluster.answersAgain();
  // Without wake-ups, the slow reading finds what came.
  await panel.reached(panel.position + 20);
  side.swallow(false, bus, 'near');
  await cluster.answersAgain();

  side.swallow(true, database, 'near');
  const refused = ask();
  let beats = -1;
  for (let quietMs = 0; quietMs < 3_000; quietMs += 100) {
    const now = panel.events.get('heartbeat') ?? 0;
    if (now !== beats) quietMs = 0;
    beats = now;
    await sleep(100);
  }
  await cluster.answersAgain();
  const { statuses: refusals, ms } = await refused;
  expect(refusals).toEqual([503, 503]);
  expect(ms).toBeLessThan(limitMs(answeredMs));
  const { position } = panel;
  side.swallow(false, database, 'near');
  const began = performance.now();
  await panel.reached(position + 20);
  const backMs = performance.now() - began;

  const { problems, acknowledged } = await cluster.check();
  const statuses = [...cluster.load.statuses.keys()];
  report({
    promise: 'a node behind a network that drops packets to the bus or the database',
    method:
      'a node in a network namespace; its link to NATS, then the one to PostgreSQL, drop every packet, while two other nodes take notifications',
    count: `once each, ${acknowledged} acknowledged by the others`,
    result: `answered 503 after ${Math.ceil(ms)} ms, its panel back within ${Math.ceil(backMs)} ms; ${problems.length === 0 ? '0 lost, 0 phantom, 0 repeated' : problems.join('; ')}; the others answered ${statuses}`,
  });
  expect([problems, statuses]).toEqual([[], [200]]);
});
