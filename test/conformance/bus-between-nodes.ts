import { describe, expect, onTestFinished, test } from 'vitest';
import { NodeBus, type NodeBusOptions } from '#bus/node-bus.ts';
import { eventually } from '../support/eventually.ts';
import type { TcpProxy } from '../support/tcp-proxy.ts';
import { busConformance } from './bus.ts';

interface Faults {
  /** Breaks the connections of every bus; they may come back at once. */
  interrupt(): Promise<void>;
  /** A connection by way of a proxy. */
  behind(): Promise<{ readonly proxy: TcpProxy; readonly connect: NodeBusOptions['connect'] }>;
}

/** Every promise of a bus between nodes, and of what carries it. */
export function nodeBusConformance(
  name: string,
  connect: () => NodeBusOptions['connect'],
  { interrupt, behind }: Faults,
): void {
  const open = async (own: Partial<NodeBusOptions> = {}) => {
    const problems: (string | undefined)[] = [];
    const bus = new NodeBus({
      connect: connect(),
      onProblem: (problem) => problems.push(problem),
      onError: (error) => {
        throw error;
      },
      ...own,
    });
    await bus.ready;
    return { bus, problems, close: () => bus.close() };
  };
  const openForTest = async (own?: Partial<NodeBusOptions>) => {
    const opened = await open(own);
    onTestFinished(opened.close);
    return opened;
  };

  busConformance(`${name}, on one node`, async () => ({ ...(await open()), wakesWhenListening: true }));
  busConformance(`${name}, between two nodes`, async () => {
    const [here, there] = [await open(), await open()];
    return {
      bus: {
        publish: (topic, entries) => here.bus.publish(topic, entries),
        subscribe: (topic, listener) => there.bus.subscribe(topic, listener),
        problem: () => undefined,
        close: async () => undefined,
      },
      wakesWhenListening: true,
      close: async () => {
        await Promise.all([here.close(), there.close()]);
      },
    };
  });

  describe(`the bus ${name}`, () => {
    test('wakes nodes that wait for what is in the database', async () => {
      const [here, there] = [await openForTest(), await openForTest()];
      const woken: string[] = [];
      for (const topic of ['directory', 'commands'] as const)
        there.bus.subscribe(topic, () => woken.push(topic));
      await eventually(() => {
        here.bus.publish('commands', []);
        expect(woken).toContain('commands');
      });
      here.bus.publish('directory', []);
      await eventually(() => expect(woken).toContain('directory'));
    });

    test('wakes nobody on a node for a topic that nobody there listens to', async () => {
      const sent: string[] = [];
      const listening: string[] = [];
      const own = connect();
      const watched: NodeBusOptions['connect'] = async (events) => {
        const transport = await own({
          ...events,
          onWake: (topic) => {
            sent.push(String(topic));
            events.onWake(topic);
          },
        });
        return {
          ...transport,
          listen: (channels) => {
            listening.push(...channels.map(String));
            return transport.listen(channels);
          },
        };
      };
      const [here, there] = [await openForTest(), await openForTest({ connect: watched })];
      let woken = 0;
      there.bus.subscribe(2, () => {
        woken += 1;
      });
      await eventually(() => {
        here.bus.publish(1, []);
        here.bus.publish(2, []);
        expect(woken).toBeGreaterThan(1);
      });
      expect(listening).toEqual(['2']);
      expect(new Set(sent)).toEqual(new Set(['2']));
    });

    test('a connection that breaks is opened again, everyone is woken, and the problem is reported once', async () => {
      const [here, there] = [await openForTest(), await openForTest()];
      let woken = 0;
      there.bus.subscribe(1, () => {
        woken += 1;
      });
      await eventually(() => expect(woken).toBe(1));
      await interrupt();
      await eventually(() => expect(woken).toBeGreaterThan(1));
      const before = woken;
      await eventually(() => {
        here.bus.publish(1, []);
        expect(woken).toBeGreaterThan(before);
      });
      expect(there.problems).toEqual([expect.any(String), undefined]);
      expect(there.bus.problem()).toBeUndefined();
    });

    test('a connection that is half dead is found by a ping', async () => {
      const { proxy, connect: connectBehind } = await behind();
      onTestFinished(() => proxy.close());
      const here = await openForTest();
      const there = await openForTest({ connect: connectBehind, pingMs: 300 });
      let woken = 0;
      there.bus.subscribe(1, () => {
        woken += 1;
      });
      proxy.freeze();
      await eventually(() => expect(there.bus.problem()).toContain('no answer'));
      proxy.breakAll();
      proxy.mend();
      await eventually(() => {
        here.bus.publish(1, []);
        expect(there.bus.problem()).toBeUndefined();
        expect(woken).toBeGreaterThan(1);
      });
    });

    test('closes in bounded time when the other side does not answer', async () => {
      const { proxy, connect: connectBehind } = await behind();
      onTestFinished(() => proxy.close());
      const there = await openForTest({ connect: connectBehind, pingMs: 60_000 });
      proxy.freeze();
      await there.close();
    });
  });
}
