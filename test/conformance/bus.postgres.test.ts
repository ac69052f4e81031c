import pg from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createPostgresBus } from '#bus/postgres.ts';
import { eventually } from '../support/eventually.ts';

import { missingPostgres, startMs, startPostgres, type TestPostgres } from '../support/postgres.ts';
import { gap } from '../torture/gap.ts';
import { busConformance } from './bus.ts';

const missing = gap(missingPostgres());
describe.skipIf(missing !== undefined)(missing ?? 'with PostgreSQL', () => {
  let server: TestPostgres;
  beforeAll(async () => {
    server = await startPostgres();
  }, startMs);
  afterAll(() => server.stop());

  async function open() {
    const errors: unknown[] = [];
    const bus = createPostgresBus(server.url, (error) => errors.push(error));
    await bus.ready;
    return { bus, errors, close: () => bus.close() };
  }

  /** Publishes on one node and listens on another. */
  async function openTwo() {
    const [here, there] = [await open(), await open()];
    return {
      bus: { publish: here.bus.publish, subscribe: there.bus.subscribe },
      close: async () => {
        await Promise.all([here.close(), there.close()]);
      },
    };
  }

  busConformance('of PostgreSQL, on one node', open);
  busConformance('of PostgreSQL, between two nodes', openTwo);

  test('a connection that breaks is opened again, and everyone is woken', async () => {
    const [here, there] = [await open(), await open()];
    let woken = 0;
    there.bus.subscribe(1, () => {
      woken += 1;
    });
    await endConnections('belfry bus');
    await eventually(() => expect(woken).toBeGreaterThan(0));
    const before = woken;
    await eventually(() => {
      here.bus.publish(1, []);
      expect(woken).toBeGreaterThan(before);
    });
    expect(there.errors.length).toBeGreaterThan(0);
    await Promise.all([here.close(), there.close()]);
  });

  async function endConnections(name: string): Promise<void> {
    const client = new pg.Client(server.url);
    await client.connect();
    await client.query('SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = $1', [
      name,
    ]);
    await client.end();
  }
});
