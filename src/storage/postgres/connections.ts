import type pg from 'pg';
import { unavailable } from '#core/errors.ts';
import type { TenantId } from '#core/ports.ts';
import type { Availability } from './availability.ts';
import { isLost, isMissingTable, toAppError } from './errors.ts';

/** Whose rows the database lets a statement see and write: one tenant's, or all for work that spans tenants. */
export type Scope = TenantId | 'all';

/** How many may wait for a connection before more are refused. */
const mostWaiting = 10_000;

export interface LaneOptions {
  readonly availability: Availability;
  /** Connections of the pool that may be in use at once. */
  readonly atOnce: number;
  /** Who waits longer for one is refused. */
  readonly waitMs: number;
}

/** Some of a pool's connections, for one kind of work: given out in the order in which they were asked for. */
export class Connections {
  readonly #pool: pg.Pool;
  readonly #options: LaneOptions;
  #free: number;
  readonly #waiting = new Set<() => void>();

  constructor(pool: pg.Pool, options: LaneOptions) {
    this.#pool = pool;
    this.#options = options;
    this.#free = options.atOnce;
  }

  /**
   * Resolves with what `work` answers. Its statements see rows of `scope` alone, by the policies of the tables.
   * @throws AppError `unavailable` when the database cannot be reached, or all connections stay in use.
   */
  async run<T>(scope: Scope, work: (client: pg.PoolClient) => Promise<T>): Promise<T> {
    if (this.#free === 0) await this.#wait();
    else this.#free -= 1;
    try {
      return await runOn(this.#pool, scope, work);
    } catch (error) {
      this.#options.availability.met(error);
      throw toAppError(error);
    } finally {
      const [next] = this.#waiting;
      if (next) next();
      else this.#free += 1;
    }
  }

  /**
   * One statement's rows. Each connection prepares it once, so texts must be few. It runs again when a partition that it looks into
   * was dropped meanwhile.
   */
  async query<Row>(scope: Scope, text: string, values: readonly unknown[] = []): Promise<Row[]> {
    const name = names.get(text) ?? `statement-${names.size}`;
    names.set(text, name);
    const config = { name, text, values: [...values] };
    const run = () => this.run(scope, async (client) => (await client.query(config)).rows as Row[]);
    return run().catch((error: unknown) => (isMissingTable(error) ? run() : Promise.reject(error)));
  }

  #wait(): Promise<void> {
    if (this.#waiting.size >= mostWaiting) throw tooMuch();
    return new Promise<void>((resolve, reject) => {
      const take = () => {
        clearTimeout(timer);
        this.#waiting.delete(take);
        resolve();
      };
      const timer = setTimeout(() => {
        this.#waiting.delete(take);
        reject(tooMuch());
      }, this.#options.waitMs);
      this.#waiting.add(take);
    });
  }
}

/** The names of prepared statements, by their text. */
const names = new Map<string, string>();

const tooMuch = () => unavailable('too much waits for the database; try again');

/** What `belfry.tenant` is on a connection; unknown: nothing. */
const scopes = new WeakMap<pg.PoolClient, Scope>();

async function runOn<T>(
  pool: pg.Pool,
  scope: Scope,
  work: (client: pg.PoolClient) => Promise<T>,
): Promise<T> {
  const client = await pool.connect();
  let isBroken = false;
  // The statement under way reports it.
  const ignore = () => undefined;
  client.on('error', ignore);
  try {
    if (scopes.get(client) !== scope) {
      scopes.delete(client);
      await client.query("SELECT set_config('belfry.tenant', $1, false)", [String(scope)]);
      scopes.set(client, scope);
    }
    return await work(client);
  } catch (error) {
    isBroken = error instanceof Error && isLost(error);
    throw error;
  } finally {
    client.off('error', ignore);
    client.release(isBroken);
  }
}
