import { connect, type Subscription } from '@nats-io/transport-node';
import type { Topic } from '#core/log/bus.ts';
import type { Transport, TransportEvents } from './node-bus.ts';

const connectMs = 3_000;

/**
 * Wake-ups by subjects of NATS core, `<prefix>.<topic>`. Messages are empty, and NATS does not send them back to their sender.
 * `urls` are servers of one cluster; the first one contains user and password.
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
      // `NodeBus` reconnects by itself, and then wakes everyone.
      reconnect: false,
      ...(username !== '' && { user: decodeURIComponent(username), pass: decodeURIComponent(password) }),
      ...(protocol === 'tls:' && { tls: {} }),
    });
    connection
      .closed()
      .then((error) => onLost(error instanceof Error ? error : new Error('the connection has ended')));
    // For example a subject that this user may not publish to: the connection stays open, but no wake-up gets through.
    void (async () => {
      for await (const status of connection.status()) if (status.type === 'error') onLost(status.error);
    })();
    const subscriptions = new Map<Topic, Subscription>();
    const subscribe = (topic: Topic) =>
      connection.subscribe(`${prefix}.${topic}`, {
        callback(error, { subject }) {
          if (error) onLost(error);
          else onWake(subject.slice(prefix.length + 1));
        },
      });
    return {
      async send(topics) {
        for (const topic of topics) connection.publish(`${prefix}.${topic}`);
      },
      async listen(topics) {
        for (const topic of topics) {
          if (!subscriptions.has(topic)) subscriptions.set(topic, subscribe(topic));
        }
        // When the server has answered this, the subscriptions are active.
        await connection.flush();
      },
      async unlisten(topic) {
        subscriptions.get(topic)?.unsubscribe();
        subscriptions.delete(topic);
      },
      ping: () => connection.flush(),
      close: () => connection.close(),
    };
  };
}
