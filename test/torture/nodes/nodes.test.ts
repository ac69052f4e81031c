import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { limitMs } from '#test/support/patience.ts';
import {
  createDatabase,
  missingPostgres,
  startMs,
  startPostgres,
  type TestPostgres,
  withClient,
} from '#test/support/postgres.ts';
import { startStandby } from '#test/support/postgres-standby.ts';
import { skipReason } from '#test/support/skip-reason.ts';
import { TcpProxy } from '#test/support/tcp-proxy.ts';
import { countOf, timeLimit } from '../counts.ts';
import { report } from '../report.ts';
import { Cluster } from './cluster.ts';
import { missingHaproxy } from './haproxy.ts';

const missing = skipReason(missingPostgres() ?? missingHaproxy());
describe.skipIf(missing !== undefined)(missing ?? 'three nodes on one PostgreSQL', () => {
  const limit = { timeout: timeLimit(180_000) };
  let postgres: TestPostgres;
  beforeAll(async () => {
    postgres = await startPostgres({ durable: true });
  }, startMs);
  afterAll(() => postgres?.stop());

  const startCluster = async (urls: readonly string[]) => {
    const cluster = await Cluster.start({ urls });
    onTestFinished(() => cluster.stop());
    return cluster;
  };
  /** Reports and asserts that no promise was broken. */
  const conclude = async (cluster: Cluster, promise: string, method: string, count: string) => {
    const { problems, acknowledged } = await cluster.check();
    report({
      promise,
      method: `${method}; then every acknowledged id, every position and the lists of panels that resume are checked`,
      count: `${count}, ${acknowledged} acknowledged`,
      result: problems.length === 0 ? '0 lost, 0 phantom, 0 repeated' : problems.join('; '),
    });
    expect(problems).toEqual([]);
    expect(acknowledged).toBeGreaterThan(20);
  };

  test('nodes that are killed and a PostgreSQL that is stopped at once lose nothing', limit, async () => {
    const url = await createDatabase(postgres.url);
    const cluster = await startCluster([url, url, url]);
    const kills = countOf('nodeKills');
    for (let i = 0; i < kills; i++) {
      await sleep(Math.random() * 500);
      await cluster.killNode(i % 3);
    }
    const stops = countOf('postgresStops');
    let slowestMs = 0;
    for (let i = 0; i < stops; i++) {
      await sleep(Math.random() * 500);
      await postgres.restart(() => sleep(200));
      slowestMs = Math.max(slowestMs, await cluster.answersAgain());
    }
    expect(slowestMs).toBeLessThan(limitMs(5_000));
    await conclude(
      cluster,
      'three nodes: nodes killed, PostgreSQL stopped immediately',
      'SIGKILL to each node in turn, then SIGQUIT to PostgreSQL, under six senders behind HAProxy',
      `${kills} kills, ${stops} stops, back within ${Math.ceil(slowestMs)} ms`,
    );
  });

  test('a PostgreSQL that does not go on is a 503 and not a hang', limit, async () => {
    const url = await createDatabase(postgres.url);
    const cluster = await startCluster([url, url, url]);
    await cluster.answersAgain();
    const refused = (withinMs: number) =>
      cluster.load.next(({ status }) => status === 503, limitMs(withinMs));
    // Every connection of the nodes waits for a lock, for 5 s at the most …
    await withClient(postgres.url.replace('/postgres', new URL(url).pathname), async (client) => {
      await client.query('BEGIN; LOCK TABLE logs IN ACCESS EXCLUSIVE MODE');
      await refused(8_000);
      await client.query('ROLLBACK');
    });
    await cluster.answersAgain();
    const pids = await withClient(postgres.url, async (client) => {
      const { rows } = await client.query<{ pid: number }>(
        "SELECT pid FROM pg_stat_activity WHERE application_name LIKE 'belfry%'",
      );
      return [postgres.pid, ...rows.map(({ pid }) => pid)];
    });
    for (const pid of pids) process.kill(pid, 'SIGSTOP');
    try {
      // … and for an answer for 15 s.
      await refused(17_000);
    } finally {
      for (const pid of pids) process.kill(pid, 'SIGCONT');
    }
    await cluster.answersAgain();
    await conclude(
      cluster,
      'three nodes: PostgreSQL paused, every connection taken',
      'a lock on the counters, then SIGSTOP to the postmaster and every backend, until a sender gets 503',
      'once each',
    );
  });

  test('panels of a node that is cut off from the database turn stale, and catch up', limit, async () => {
    const url = await createDatabase(postgres.url);
    const proxy = await TcpProxy.start({ port: Number(new URL(postgres.url).port) });
    onTestFinished(() => proxy.close());
    const cluster = await startCluster([url, url, proxy.through(url)]);
    const alone = await cluster.addPanel('alone', cluster.nodes[2]?.url ?? '');
    await cluster.answersAgain();
    proxy.cut();
    // Its stream stays, and says nothing any more.
    const beats = () => alone.events.get('heartbeat') ?? 0;
    let before = beats();
    for (let quietMs = 0; quietMs < 3_000; quietMs += 100) {
      await sleep(100);
      if (beats() === before) continue;
      before = beats();
      quietMs = 0;
    }
    const { position, resumes } = alone;
    expect(resumes).toHaveLength(1);
    await cluster.answersAgain();
    proxy.mend();
    await cluster.answersAgain();
    await alone.reached(position + 1);
    await conclude(
      cluster,
      'three nodes: one cut off from the database while its panels stay connected',
      'a proxy between the node and PostgreSQL refuses connections until the panel has had no heartbeat for three seconds',
      'once',
    );
  });

  test('a synchronous standby that is promoted has everything', limit, async () => {
    const first = await startPostgres({ durable: true });
    onTestFinished(() => first.stop());
    const direct = await createDatabase(first.url);
    const proxy = await TcpProxy.start({ port: Number(new URL(first.url).port) });
    onTestFinished(() => proxy.close());
    const url = proxy.through(direct);
    const cluster = await startCluster([url, url, url]);
    const promotions = countOf('promotions');
    let primary: Pick<TestPostgres, 'url' | 'pid'> = first;
    let slowestMs = 0;
    for (let i = 0; i < promotions; i++) {
      const standby = await startStandby(primary);
      onTestFinished(() => standby.stop());
      await cluster.answersAgain();
      process.kill(primary.pid, 'SIGQUIT');
      await standby.promote();
      proxy.target = { port: Number(new URL(standby.url).port) };
      proxy.breakAll();
      slowestMs = Math.max(slowestMs, await cluster.answersAgain());
      primary = standby;
    }
    await conclude(
      cluster,
      'three nodes: a synchronous standby promoted',
      'SIGQUIT to the primary and pg_promote of its synchronous standby, under six senders behind HAProxy',
      `${promotions} promotions, back within ${Math.ceil(slowestMs)} ms`,
    );
  });
});
