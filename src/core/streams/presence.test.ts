import { expect, test } from 'vitest';
import type { Entry } from '../log/log.ts';
import type { Nodes } from './nodes.ts';
import { Presence } from './presence.ts';

test('commands are fetched once at a time, and once more for all wake-ups that came meanwhile', async () => {
  let wake = () => {};
  const bus = {
    publish: () => undefined,
    subscribe(_topic: unknown, listener: (entries: readonly Entry[]) => void) {
      wake = () => listener([]);
      return () => undefined;
    },
  };
  let [underWay, most, fetched] = [0, 0, 0];
  const nodes = {
    async takeCommands() {
      underWay += 1;
      most = Math.max(most, underWay);
      await new Promise((resolve) => setTimeout(resolve, 5));
      underWay -= 1;
      fetched += 1;
      return [];
    },
  } as unknown as Nodes;
  const tenantStreams = {} as ConstructorParameters<typeof Presence>[0]['tenantStreams'];
  const presence = new Presence({ tenantStreams, bus, nodes, onError: () => undefined });
  for (let i = 0; i < 1_000; i++) wake();
  await new Promise(setImmediate);
  for (let i = 0; i < 1_000; i++) wake();
  await presence.deliverCommands();
  await presence.deliverCommands();
  expect({ underWay, most }).toEqual({ underWay: 0, most: 1 });
  expect(fetched).toBeLessThan(5);
});
