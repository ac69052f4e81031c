import { expect, test } from 'vitest';
import type { StandingState } from '#contract/history/alarm-states.ts';
import { limits } from '#contract/limits.ts';
import type { AlarmsWanted } from '../log/alarm-places.ts';
import { type AlarmsContext, alarmIds } from './standing.ts';

test('more alarms than one call may change are refused, with how many there are', async () => {
  const read = (open: number, states: StandingState[]) => {
    const history = {
      alarms: async (_: number, { limit }: AlarmsWanted) => ({
        places: Array.from({ length: Math.min(open, limit) }, (_, i) => ({ id: `id-${i}` })),
        counts: { open, acknowledged: 0, shelved: 5, suppressed: 0 },
      }),
    } as unknown as AlarmsContext['history'];
    const context = { history, now: () => 1 } as AlarmsContext;
    return alarmIds(context, 1, { query: { kind: 'all' }, states });
  };
  const most = limits.alarmsAtOnce;
  expect(await read(most, ['open'])).toHaveLength(most);
  expect(await read(most, ['open', 'acknowledged'])).toHaveLength(most);
  await expect(read(most - 4, ['open', 'shelved'])).rejects.toThrow(
    /^q: matches 10001 alarms, and one call changes at most 10000: narrow the search$/,
  );
});
