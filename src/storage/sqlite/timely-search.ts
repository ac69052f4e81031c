import type { Db } from './database.ts';
import { entryOf, positionMask } from './rows.ts';

/** Positions looked through for one call: some ten milliseconds, which a commit may have to wait. */
const stretch = 10_000;

/** A notification that is not ahead of the clock. */
interface Timely {
  readonly position: number;
  readonly received_at: number;
}

interface Searched {
  readonly from: number;
  readonly upTo: number;
  /** When the first of those between is no longer ahead of the clock. */
  readonly turns: number;
  /** Stands right behind them. */
  readonly found?: Timely | undefined;
}

/**
 * Finds what came after notifications that are ahead of the clock. Of those there may be millions: what was looked
 * through is remembered for all that stand before it, and a call looks through no more than a stretch.
 */
export class TimelySearch {
  readonly #sql;
  readonly #searched = new Map<number, Searched>();

  constructor(db: Db) {
    this.#sql = prepareStatements(db);
  }

  /** The first from `from` on; undefined while there is none, or it has not been reached: the next call goes on from there. */
  first(tenant: number, from: number, head: number, now: number): Timely | undefined {
    const known = this.#known(tenant, from, now);
    if (known?.found) return known.found;
    const start = known ? known.upTo + 1 : from;
    const end = Math.min(start + stretch - 1, head);
    if (start > end) return undefined;
    const found = this.#sql.first.get(tenant, start, tenant, end, now);
    const upTo = found ? found.position - 1 : end;
    const earliest = this.#sql.earliest.get(tenant, start, tenant, upTo)?.at ?? Number.POSITIVE_INFINITY;
    const turns = Math.min(known?.turns ?? Number.POSITIVE_INFINITY, earliest);
    this.#searched.set(tenant, { from: known?.from ?? from, upTo, turns, found });
    return found;
  }

  /** After a rollback: what was looked through may never have been. */
  forget(): void {
    this.#searched.clear();
  }

  #known(tenant: number, from: number, now: number): Searched | undefined {
    const known = this.#searched.get(tenant);
    if (!known || from < known.from || from > known.upTo + 1 || now >= known.turns) return undefined;
    return known.found && known.found.received_at > now ? undefined : known;
  }
}

function prepareStatements(db: Db) {
  const range = `BETWEEN ${entryOf('?', '?')} AND ${entryOf('?', '?')}`;
  return {
    first: db.prepare<[number, number, number, number, number], Timely>(
      `SELECT entry & ${positionMask} AS position, received_at FROM notifications WHERE entry ${range} AND received_at <= ? ORDER BY entry LIMIT 1`,
    ),
    earliest: db.prepare<[number, number, number, number], { at: number | null }>(
      `SELECT min(received_at) AS at FROM notifications WHERE entry ${range}`,
    ),
  };
}
