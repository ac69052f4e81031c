import { randomUUID } from 'node:crypto';
import pg from 'pg';
import type { Topic } from '#core/log/bus.ts';
import type { Transport, TransportEvents } from './node-bus.ts';

const prefix = 'belfry_';
const connectMs = 3_000;

/** Wake-ups by LISTEN and NOTIFY of a database, on a connection of its own: one statement for all topics of a flush. */
export function postgresTransport(url: string): (events: TransportEvents) => Promise<Transport> {
  const node = randomUUID();
  return async ({ onWake, onLost }) => {
    const client = new pg.Client({
      connectionString: url,
      application_name: 'belfry bus',
      connectionTimeoutMillis: connectMs,
      keepAlive: true,
      keepAliveInitialDelayMillis: 10_000,
    });
    client.on('error', onLost);
    client.on('end', () => onLost(new Error('the connection has ended')));
    client.on('notification', ({ channel: name, payload }) => {
      if (payload !== node) onWake(name.slice(prefix.length));
    });
    await client.connect();
    const names = (topics: readonly Topic[]) => topics.map((topic) => `${prefix}${topic}`);
    let last: Promise<unknown> = Promise.resolve();
    /** One after the other: a connection does one thing at a time. */
    const query = async (statement: string | pg.QueryConfig): Promise<void> => {
      const result = last.then(() => client.query(statement));
      last = result.catch(() => undefined);
      await result;
    };
    return {
      send: (topics) =>
        query({
          name: 'wake',
          text: 'SELECT pg_notify(name, $2) FROM unnest($1::text[]) name',
          values: [names(topics), node],
        }),
      listen: (topics) =>
        query(
          names(topics)
            .map((name) => `LISTEN ${name}`)
            .join(';'),
        ),
      unlisten: (topic) => query(`UNLISTEN ${names([topic])}`),
      ping: () => query('SELECT 1'),
      close: () => client.end(),
    };
  };
}
