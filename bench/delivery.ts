/** Latency and throughput of events to panels, with publisher and panels in processes of their own. */
import type { FromReaders, Quantiles, ToReaders } from './panel-readers.ts';
import { call, forkScript, nextMessage } from './processes.ts';
import { mark, type Published, type PublishOrder, stampPlace } from './publishing.ts';

/** The service under test: where panels read and publishers write, as raw requests. */
export interface Side {
  readonly port: number;
  /** The port of the publishers, if it is another node. */
  readonly publishPort?: number;
  readonly publish: string;
  readonly subscribe: readonly string[];
  /** Those of `subscribe` whose latency is measured apart. */
  readonly apart?: readonly string[];
  stop(): Promise<unknown>;
}

/** With the time from the POST to the event, of those that are not measured apart. */
export interface Delivered extends Quantiles {
  /** Events that arrived, over all panels. */
  readonly perSecond: number;
  readonly apart: Quantiles;
}

export interface DeliveryRun {
  readonly panels: number;
  /** How many notifications are sent, each to all panels. */
  readonly count: number;
  readonly connections: number;
  /** Notifications a second; null: at full speed, without measuring latency. */
  readonly perSecond: number | null;
  /** Notifications sent first, without measuring, to warm the server up. */
  readonly warmUp?: number;
}

/** The title of a measured notification: a mark that readers recognize, and the place of the time stamp. */
export const measuredTitle = `${mark}${stampPlace}`;

export async function deliver(side: Omit<Side, 'stop'>, run: DeliveryRun): Promise<Delivered> {
  const readers = forkScript(new URL('./panel-readers.ts', import.meta.url));
  const publisher = forkScript(new URL('./publisher.ts', import.meta.url));
  const command = (message: ToReaders) => call<FromReaders>(readers, message);
  const { port, subscribe, apart = [] } = side;
  try {
    await command({
      kind: 'connect',
      order: { port, requests: subscribe.slice(0, run.panels), apart },
    });
    const { panels, connections, perSecond, warmUp = 0 } = run;
    const send = async (count: number): Promise<Delivered> => {
      await command({ kind: 'expect', each: count, latency: perSecond !== null });
      const done = nextMessage<Extract<FromReaders, { kind: 'done' }>>(readers);
      // Awaited below, unless the publisher fails first.
      done.catch(() => undefined);
      const to = side.publishPort ?? port;
      const order: PublishOrder = { port: to, request: side.publish, count, connections, perSecond };
      const published = await call<Published>(publisher, order);
      const { at, p50, p99, apart } = await done;
      return { perSecond: (count * panels) / ((at - published.beganAt) / 1e6), p50, p99, apart };
    };
    if (warmUp > 0) await send(warmUp);
    return await send(run.count);
  } finally {
    readers.disconnect();
    publisher.disconnect();
  }
}
