import pg from 'pg';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { NodeBus } from '#bus/node-bus.ts';
import { postgresTransport } from '#bus/postgres.ts';
import { eventually } from '../support/eventually.ts';
import { missingPostgres, startMs, startPostgres, type TestPostgres } from '../support/postgres.ts';
import { TcpProxy } from '../support/tcp-proxy.ts';
import { gap } from '../torture/gap.ts';
import { nodeBusConformance } from './bus-between-nodes.ts';

const missing = gap(missingPostgres());
describe.skipIf(missing !== undefined)(missing ?? 'with PostgreSQL', () => {
  let server: TestPostgres;
  beforeAll(async () => {
    server = await startPostgres();
  }, startMs);
  afterAll(() => server?.stop());

  const connect = () => postgresTransport(server.url);
  nodeBusConformance('of PostgreSQL', connect, {
    async interrupt() {
      const client = new pg.Client(server.url);
      await client.connect();
      await client.query(
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'belfry bus'",
      );
      await client.end();
    },
    behind: async () => {
      const proxy = await TcpProxy.start({ port: Number(new URL(server.url).port) });
      return { proxy, connect: postgresTransport(proxy.through(server.url)) };
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
    const client = new pg.Client(server.url);
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
