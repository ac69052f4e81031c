import { connect, type Subscription } from '@nats-io/transport-node';
import type { Channel } from '#core/ports.ts';
import { channelName, parseChannel } from './channels.ts';
import type { Transport, TransportEvents } from './node-bus.ts';

const connectMs = 3_000;

/**
 * Wake-ups by subjects of NATS core, `<prefix>.<channel>`. Messages have no content; NATS does not send them back to where
 * they came from. `urls` are servers of one cluster; user and password stand in the first.
 */
export function natsTransport(
  urls: readonly string[],
  prefix: string,
): (events: TransportEvents) => Promise<Transport> {
  return async ({ onWake, onLost }) => {
    const { protocol, username, password } = new URL(urls[0] as string);
    const connection = await connect({
      servers: urls.map((url) => new URL(url).host),
      name: 'belfry bus',
      timeout: connectMs,
      noEcho: true,
      // The bus connects again by itself, and then wakes everyone.
      reconnect: false,
      ...(username !== '' && { user: decodeURIComponent(username), pass: decodeURIComponent(password) }),
      ...(protocol === 'tls:' && { tls: {} }),
    });
    connection
      .closed()
      .then((error) => onLost(error instanceof Error ? error : new Error('the connection has ended')));
    const subscriptions = new Map<Channel, Subscription>();
    const subscribe = (channel: Channel) =>
      connection.subscribe(`${prefix}.${channelName(channel)}`, {
        callback(error, { subject }) {
          if (error) return onLost(error);
          const found = parseChannel(subject.slice(prefix.length + 1));
          if (found !== undefined) onWake(found);
        },
      });
    return {
      async send(channels) {
        for (const channel of channels) connection.publish(`${prefix}.${channelName(channel)}`);
      },
      async listen(channels) {
        for (const channel of channels) {
          if (!subscriptions.has(channel)) subscriptions.set(channel, subscribe(channel));
        }
        // Once this is answered, the subscriptions are in force.
        await connection.flush();
      },
      async unlisten(channel) {
        subscriptions.get(channel)?.unsubscribe();
        subscriptions.delete(channel);
      },
      ping: () => connection.flush(),
      close: () => connection.close(),
    };
  };
}
