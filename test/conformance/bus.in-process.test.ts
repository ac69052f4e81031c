import { expect, test } from 'vitest';
import { createInProcessBus } from '#bus/in-process.ts';
import { busConformance } from './bus.ts';

busConformance('inside one process', async () => ({
  bus: createInProcessBus((error) => {
    throw error;
  }),
  close: async () => undefined,
}));

test('a listener that throws fails neither its publisher nor the other listeners', () => {
  const errors: unknown[] = [];
  const bus = createInProcessBus((error) => errors.push(error));
  const error = new Error('a bug');
  const woken: string[] = [];
  bus.subscribe(1, () => {
    throw error;
  });
  bus.subscribe(1, () => woken.push('other'));
  bus.publish(1, []);
  expect(woken).toEqual(['other']);
  expect(errors).toEqual([error]);
});
