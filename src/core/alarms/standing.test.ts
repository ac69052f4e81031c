import { expect, test } from 'vitest';
import { limits } from '#contract/limits.ts';
import type { AlarmPlace } from '../log/log.ts';
import { type AlarmsContext, alarmIds } from './standing.ts';

test('more alarms than one call may change are refused, with how many there are', async () => {
  const placesOf = (count: number) =>
    Array.from(
      { length: count },
      (_, i): AlarmPlace => ({
        ...{ position: count - i, rank: 40, since: 1 },
        state: i % 2 === 0 ? 'open' : 'shelved',
      }),
    );
  const read = (count: number, states: AlarmPlace['state'][]) => {
    const history = {
      alarms: async () => placesOf(count),
      recordsAt: async (_: number, positions: readonly number[]) =>
        positions.map((position) => ({ id: `id-${position}` })),
    } as unknown as AlarmsContext['history'];
    const context = { history, now: () => 1 } as AlarmsContext;
    return alarmIds(context, 1, { query: { kind: 'all' }, states });
  };
  const most = limits.alarmsAtOnce;
  const both: AlarmPlace['state'][] = ['open', 'shelved'];
  expect(await read(most, both)).toHaveLength(most);
  await expect(read(most + 1, both)).rejects.toThrow(
    /^q: matches 10001 alarms, and one call changes at most 10000: narrow the search$/,
  );
  expect(await read(2 * most, ['open'])).toHaveLength(most);
});
