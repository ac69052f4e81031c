/** How soon, and how many a second, events reach panels: publisher and panels in processes of their own. */
import type { FromReaders, ToReaders } from './panel-readers.ts';
import { answer, ask, forkScript } from './processes.ts';
import { mark, type Published, type PublishOrder, stampPlace } from './publishing.ts';

/** Whom events come from: where panels read and publishers write, as raw requests. */
export interface Side {
  readonly port: number;
  /** Where publishers write, when it is another node. */
  readonly publishPort?: number;
  readonly publish: string;
  readonly subscribe: readonly string[];
  stop(): Promise<unknown>;
}

export interface Delivered {
  /** Events that arrived, over all panels. */
  readonly perSecond: number;
  /** Milliseconds from the POST to the event. */
  readonly p50: number;
  readonly p99: number;
}

export interface DeliveryRun {
  readonly panels: number;
  /** Notifications, each to all of the panels. */
  readonly count: number;
  readonly connections: number;
  /** Notifications a second; null: flat out, and no latency is measured. */
  readonly perSecond: number | null;
  /** Notifications that go before, to the same panels, and are not measured: a server that just began is no measure. */
  readonly warmUp?: number;
}

/** The title of a notification that is measured: the mark by which readers know it, and where the time comes. */
export const measuredTitle = `${mark}${stampPlace}`;

export async function deliver(
  side: Pick<Side, 'port' | 'publishPort' | 'publish' | 'subscribe'>,
  run: DeliveryRun,
): Promise<Delivered> {
  const readers = forkScript(new URL('./panel-readers.ts', import.meta.url));
  const publisher = forkScript(new URL('./publisher.ts', import.meta.url));
  const tell = (message: ToReaders) => ask<FromReaders>(readers, message);
  try {
    await tell({
      kind: 'connect',
      order: { port: side.port, requests: side.subscribe.slice(0, run.panels) },
    });
    const { panels, connections, perSecond, warmUp = 0 } = run;
    const send = async (count: number): Promise<Delivered> => {
      await tell({ kind: 'expect', each: count, latency: perSecond !== null });
      const done = answer<Extract<FromReaders, { kind: 'done' }>>(readers);
      // Awaited below, unless the publisher fails first.
      done.catch(() => undefined);
      const port = side.publishPort ?? side.port;
      const order: PublishOrder = { port, request: side.publish, count, connections, perSecond };
      const published = await ask<Published>(publisher, order);
      const { at, p50, p99 } = await done;
      return { perSecond: (count * panels) / ((at - published.beganAt) / 1e6), p50, p99 };
    };
    if (warmUp > 0) await send(warmUp);
    return await send(run.count);
  } finally {
    readers.disconnect();
    publisher.disconnect();
  }
}
