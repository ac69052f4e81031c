import pg from 'pg';
import { beforeAll, expect, onTestFinished, test } from 'vitest';
import { NodeBus } from '#bus/node-bus.ts';
import { postgresTransport } from '#bus/postgres.ts';
import { eventually } from '../support/eventually.ts';
import { createDatabase, withClient } from '../support/postgres.ts';
import { TcpProxy } from '../support/tcp-proxy.ts';
import { describeWithPostgres } from '../support/with-postgres.ts';
import { nodeBusConformance } from './bus-between-nodes.ts';

describeWithPostgres('with PostgreSQL', (server) => {
  let url: string;
  beforeAll(async () => {
    url = await createDatabase(server());
  });

  const connect = () => postgresTransport(url);
  nodeBusConformance('of PostgreSQL', connect, {
    async interrupt() {
      const end = `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
        WHERE application_name = 'belfry bus' AND datname = current_database()`;
      await withClient(url, (client) => client.query(end));
    },
    behind: async () => {
      const proxy = await TcpProxy.start({ port: Number(new URL(url).port) });
      return { proxy, connect: postgresTransport(proxy.through(url)) };
    },
  });

  test('a message that is not ours is ignored', async () => {
    const errors: unknown[] = [];
    const bus = new NodeBus({
      connect: connect(),
      onProblem: () => undefined,
      onError: (error) => errors.push(error),
    });
    onTestFinished(() => bus.close());
    await bus.ready;
    let woken = 0;
    bus.subscribe(7, () => {
      woken += 1;
    });
    const client = new pg.Client(url);
    await client.connect();
    await eventually(async () => {
      await client.query(
        `SELECT pg_notify(c, 'nonsense') FROM unnest('{belfry_,belfry_x,belfry_-1,belfry_7}'::text[]) c`,
      );
      expect(woken).toBeGreaterThan(1);
    });
    await client.end();
    expect([errors, bus.problem()]).toEqual([[], undefined]);
  });
});
