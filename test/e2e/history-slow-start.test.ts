import { setTimeout as wait } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { createInProcessBus } from '#bus/in-process.ts';
import type { SearchOptions } from '#core/log/log.ts';
import { HistoryTail } from '#http/history/history-tail.ts';
import type { Services } from '#http/services.ts';
import { eventually } from '../support/eventually.ts';

test('a tail whose log is slow to say where it ends asks for nothing before it knows', async () => {
  const bus = createInProcessBus(console.error);
  const requested: (number | undefined)[] = [];
  const events: string[] = [];
  const router = { rules: [] };
  const snapshot = { record: { timeZone: 'UTC' }, levels: new Map(), panels: new Map(), router };
  const services = {
    bus,
    now: Date.now,
    tenancy: { get: async () => snapshot },
    history: {
      bounds: async () => {
        await wait(500);
        return { head: 7, first: 1 };
      },
      search: async (_tenant: number, _query: unknown, { after }: SearchOptions) => {
        requested.push(after);
        return { records: [], next: null, head: 9 };
      },
    },
  } as unknown as Services;
  const sink = {
    write(chunk: string, onFlushed: () => void) {
      events.push(/event: (.*)/.exec(chunk)?.[1] ?? '');
      setImmediate(onFlushed);
    },
    end: () => undefined,
    destroy: () => undefined,
  };
  const tail = new HistoryTail(services, 1, undefined, sink);
  bus.publish(1, []);
  await tail.started;
  await eventually(() => expect(requested.length).toBeGreaterThan(0));
  expect(requested[0]).toBe(7);
  expect(events[0]).toBe('ready');
  tail.close();
});
