import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { AppError } from '../errors.ts';
import { histogramTimes } from './statistics.ts';

const hourMs = 3_600_000;
const now = Date.UTC(2026, 10, 21, 1, 16, 36);
const context = { now, timeZone: 'UTC' };
const all = { kind: 'all' } as const;
const zones = ['UTC', 'Europe/Berlin', 'Asia/Kathmandu', 'America/St_Johns', 'Pacific/Apia'];

test('without any time it is the last 24 hours, up to now', () => {
  const times = histogramTimes(all, {}, 60, context);
  expect(times).toMatchObject({
    after: now + 1 - 24 * hourMs,
    before: now + 1,
    bucketMs: hourMs / 2,
    buckets: 49,
  });
});

test('times asked for go before those of the query, and the tightest of those counts', () => {
  const terms = [now - 5 * hourMs, now - 3 * hourMs].map((at) => ({ kind: 'after', at }) as const);
  const query = { kind: 'and', terms: [...terms, { kind: 'before', at: now - hourMs } as const] } as const;
  expect(histogramTimes(query, {}, 60, context)).toMatchObject({
    after: now - 3 * hourMs,
    before: now - hourMs,
  });
  expect(histogramTimes(query, { after: now - 9 * hourMs }, 60, context)).toMatchObject({
    after: now - 9 * hourMs,
    before: now - hourMs,
  });
});

test('what only some of the finds are bound by bounds nothing', () => {
  const terms = [{ kind: 'after', at: 1 } as const, { kind: 'level', names: ['info'] } as const];
  expect(histogramTimes({ kind: 'or', terms }, {}, 60, context).before).toBe(now + 1);
  expect(histogramTimes({ kind: 'or', terms }, {}, 60, context).after).toBe(now + 1 - 24 * hourMs);
});

test('an empty range is refused, with both ends', () => {
  const refused = () => histogramTimes(all, { after: now, before: now }, 60, context);
  expect(refused).toThrow(AppError);
  expect(refused).toThrow(/2026-11-21T01:16:36.000Z is not before 2026-11-21T01:16:36.000Z/);
});

test('buckets hold the whole range, are no more than asked for, and no shorter length would do', () => {
  const lengths = [1, 5, 10, 30, 60, 300, 600, 900, 1800, 3600, 10800, 21600, 43200, 86400, 604800].map(
    (s) => s * 1000,
  );
  fc.assert(
    fc.property(
      fc.integer({ min: 0, max: now }),
      fc.integer({ min: 1, max: 400 * 24 * hourMs }),
      fc.integer({ min: 1, max: 200 }),
      fc.constantFrom(...zones),
      (after, lasts, most, timeZone) => {
        const range = { after, before: after + lasts };
        const { origin, bucketMs, buckets } = histogramTimes(all, range, most, { now, timeZone });
        expect(buckets).toBeLessThanOrEqual(most);
        expect(origin).toBeLessThanOrEqual(after);
        expect(after - origin).toBeLessThan(bucketMs);
        expect(origin + buckets * bucketMs).toBeGreaterThanOrEqual(range.before);
        expect(origin + (buckets - 1) * bucketMs).toBeLessThan(range.before);
        const shorter = lengths.filter((length) => length < bucketMs).at(-1);
        if (shorter) expect(Math.ceil(lasts / shorter) + 1).toBeGreaterThan(most);
      },
    ),
  );
});

describe('from an hour on buckets begin on the wall clock', () => {
  const wall = (at: number, timeZone: string) =>
    new Intl.DateTimeFormat('en-GB', {
      timeZone,
      weekday: 'short',
      hour: '2-digit',
      minute: '2-digit',
      hourCycle: 'h23',
    }).format(at);

  test.each([
    [7, 'UTC', 'day', '00:00'],
    [7, 'Europe/Berlin', 'day', '00:00'],
    [7, 'Asia/Kathmandu', 'day', '00:00'],
    [60, 'Europe/Berlin', 'week', 'Mon 00:00'],
  ])('%s days in %s: a %s begins at %s', (days, timeZone, _, begins) => {
    const { origin, bucketMs, buckets } = histogramTimes(
      all,
      { after: now - days * 24 * hourMs, before: now },
      10,
      { now, timeZone },
    );
    expect(wall(origin + (buckets - 1) * bucketMs, timeZone)).toContain(begins);
  });
});
