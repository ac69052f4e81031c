import type { ClockMemory, ClockState } from '#core/trusted-clock.ts';
import type { Builder } from './schema.ts';
import type { SqlExecutor } from './sql.ts';

const name = 'clock';

/** Remembers the clock in a row of `meta`. What is there and cannot be read counts as nothing. */
export function createClockMemory(db: Builder, executor: SqlExecutor): ClockMemory {
  return {
    async read() {
      const [row] = await executor.read(
        db.selectFrom('meta').select('value').where('name', '=', name).compile(),
      );
      return row && parse(row.value);
    },
    async write(state) {
      const value = JSON.stringify(state);
      await executor.write([
        db
          .insertInto('meta')
          .values({ name, value })
          .onConflict((conflict) => conflict.column('name').doUpdateSet({ value }))
          .compile(),
      ]);
    },
  };
}

function parse(text: string): ClockState | undefined {
  const { trusted, wall, jumpedAt } = JSON.parse(text) as Partial<ClockState>;
  return Number.isFinite(trusted) && Number.isFinite(wall) && jumpedAt !== undefined
    ? ({ trusted, wall, jumpedAt } as ClockState)
    : undefined;
}
