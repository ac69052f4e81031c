import { randomUUID } from 'node:crypto';
import pg from 'pg';
import { channelName, parseChannel } from './channels.ts';
import type { Transport, TransportEvents } from './node-bus.ts';

const prefix = 'belfry_';
const connectMs = 3_000;

/** Wake-ups by LISTEN and NOTIFY of a database, on a connection of its own: one statement for all channels of a flush. */
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
      const channel = parseChannel(name.slice(prefix.length));
      if (channel !== undefined && payload !== node) onWake(channel);
    });
    await client.connect();
    const names = (channels: Parameters<Transport['listen']>[0]) =>
      channels.map((channel) => prefix + channelName(channel));
    let last: Promise<unknown> = Promise.resolve();
    /** One after the other: a connection does one thing at a time. */
    const query = async (statement: string | pg.QueryConfig): Promise<void> => {
      const result = last.then(() => client.query(statement));
      last = result.catch(() => undefined);
      await result;
    };
    return {
      send: (channels) =>
        query({
          name: 'wake',
          text: 'SELECT pg_notify(name, $2) FROM unnest($1::text[]) name',
          values: [names(channels), node],
        }),
      listen: (channels) =>
        query(
          names(channels)
            .map((name) => `LISTEN ${name}`)
            .join(';'),
        ),
      unlisten: (channel) => query(`UNLISTEN ${names([channel])}`),
      ping: () => query('SELECT 1'),
      close: () => client.end(),
    };
  };
}
