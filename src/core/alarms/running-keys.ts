/** Which keys of a tenant have work that began, so that other notifications need not be looked up. */
import type { Expectation } from '../intake/notification.ts';
import type { TenantId } from '../log/route.ts';
import type { DueTimes } from './schedule.ts';

/** More than a tenant may have. */
const mostRead = 2_000;
/** How long the keys are cached. Another node may change them. */
const readMs = 5_000;

interface ReadKeys {
  readonly keys: ReadonlySet<string> | Promise<ReadonlySet<string>>;
  readonly until: number;
}

export class RunningKeys {
  readonly #dueTimes: Pick<DueTimes, 'list'>;
  readonly #monotonicNow: () => number;
  /** Those read first come first. */
  readonly #of = new Map<TenantId, ReadKeys>();

  constructor(dueTimes: Pick<DueTimes, 'list'>, monotonicNow: () => number) {
    this.#dueTimes = dueTimes;
    this.#monotonicNow = monotonicNow;
  }

  /** Whether the end of work with this key is expected. What other nodes change is known after five seconds. */
  has(tenant: TenantId, key: string): boolean | Promise<boolean> {
    const read = this.#of.get(tenant);
    const isRecent = read && read.until > this.#monotonicNow();
    const keys = isRecent ? read.keys : this.#read(tenant);
    return keys instanceof Promise ? keys.then((read) => read.has(key)) : keys.has(key);
  }

  /** Call it after the keys of the tenant have changed. */
  forget(tenant: TenantId): void {
    this.#of.delete(tenant);
  }

  #read(tenant: TenantId): Promise<ReadonlySet<string>> {
    const until = this.#monotonicNow() + readMs;
    const keys = this.#dueTimes.list(tenant, 'expectation', mostRead).then((all) => {
      return new Set(all.filter(({ data }) => (data as Expectation).isStart).map(({ subject }) => subject));
    });
    const reading: ReadKeys = { keys, until };
    this.#dropOld();
    this.#of.set(tenant, reading);
    /** Unless the keys have changed meanwhile. */
    const replace = (read: ReadonlySet<string> | undefined): void => {
      if (this.#of.get(tenant) !== reading) return;
      if (read) this.#of.set(tenant, { keys: read, until });
      else this.#of.delete(tenant);
    };
    keys.then(replace, () => replace(undefined));
    return keys;
  }

  /** So that tenants that send nothing any more take no memory. */
  #dropOld(): void {
    for (const [tenant, { until }] of this.#of) {
      if (until > this.#monotonicNow()) return;
      this.#of.delete(tenant);
    }
  }
}
