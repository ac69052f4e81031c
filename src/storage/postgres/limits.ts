import { rateState } from '#core/intake/rate-limit.ts';
import type { LimitStore } from '#core/limits.ts';
import type { Rate } from '#core/tenants/tenants.ts';
import type { Connections } from './connections.ts';

const nowMs = '(extract(epoch FROM clock_timestamp()) * 1000)::double precision';
const stepMs = ({ perSecond }: Rate) => 1000 / perSecond;

/**
 * Token buckets as rows, by the clock of the database. A row has the time at which its bucket is full again: a token taken
 * moves it on by the time in which one comes back.
 */
export function createLimitStore(writes: Connections): LimitStore {
  return {
    async take(name, rate) {
      const step = stepMs(rate);
      const [found] = await writes.query<{ taken: number | null; known: number }>(
        'all',
        `WITH clock AS (SELECT ${nowMs} AS now),
         taken AS (
           INSERT INTO rate_limits AS l (name, full_at) SELECT $1, now + $2 FROM clock
           ON CONFLICT (name) DO UPDATE SET full_at = greatest(l.full_at, (SELECT now FROM clock)) + $2
           WHERE greatest(l.full_at, (SELECT now FROM clock)) + $2 <= (SELECT now FROM clock) + $2::double precision * $3
           RETURNING full_at
         ) SELECT (SELECT full_at FROM taken) - now AS taken,
             greatest(0, coalesce((SELECT full_at FROM rate_limits WHERE name = $1), 0) - now) AS known FROM clock`,
        [name, step, rate.burst],
      );
      const missingMs = found?.taken ?? found?.known ?? 0;
      const isAllowed = found?.taken !== null && found !== undefined;
      return rateState(isAllowed, rate.burst - missingMs / step, rate);
    },

    async giveBack(name, rate) {
      await writes.query('all', 'UPDATE rate_limits SET full_at = full_at - $2 WHERE name = $1', [
        name,
        stepMs(rate),
      ]);
    },

    async add(taken) {
      const rows = taken.map(({ name, rate, count }) => ({ name, ms: count * stepMs(rate) }));
      const found = await writes.query<{ name: string; missing: number }>(
        'all',
        `WITH clock AS (SELECT ${nowMs} AS now)
         INSERT INTO rate_limits AS l (name, full_at)
         SELECT t.name, clock.now + t.ms FROM jsonb_to_recordset($1) t(name text, ms double precision), clock ORDER BY t.name
         ON CONFLICT (name) DO UPDATE
         SET full_at = greatest(l.full_at, ${nowMs}) + excluded.full_at - (SELECT now FROM clock)
         RETURNING name, full_at - (SELECT now FROM clock) AS missing`,
        [JSON.stringify(rows)],
      );
      const missing = new Map(found.map((row) => [row.name, row.missing]));
      return new Map(
        taken.flatMap(({ name, rate }) => {
          const ms = missing.get(name);
          return ms === undefined ? [] : [[name, rate.burst - ms / stepMs(rate)] as const];
        }),
      );
    },

    async sweep() {
      await writes.query('all', `DELETE FROM rate_limits WHERE full_at < ${nowMs}`, []);
    },
  };
}
