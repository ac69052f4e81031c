/** Throttles in a replay: decides as intake does, from the entries of the log alone. */
import type { Acknowledgement, Clear, TenantId } from '../../ports.ts';
import type { Recorded } from '../recorded.ts';
import type { Decision } from '../router.ts';
import { mustShow, Throttle, type Throttled } from '../throttle.ts';

/** A replay has its own throttle, so any number will do. */
const replayTenant: TenantId = 0;
/** As many as a throttle remembers. */
const maxShown = 10_000;

export class ReplayedThrottle {
  readonly #throttle = new Throttle();
  /** What a throttle has shown and nobody has cleared, oldest first. */
  readonly #shown = new Map<string, Pick<Decision, 'level' | 'rank'> & Pick<Recorded, 'key'>>();

  /** Call it for each change of a notification, in the order of the log. */
  change(entry: Clear | Acknowledgement): void {
    if (entry.kind === 'clear' && entry.reason === 'cleared') this.#shown.delete(entry.id);
  }

  /** The notification that this one is counted on; undefined if it is shown. */
  check(
    { id, key, receivedAt }: Recorded,
    { throttle: demands, level, rank }: Decision,
  ): Throttled | undefined {
    const shown = this.#shown;
    for (;;) {
      const counted = this.#throttle.check(replayTenant, demands, id, receivedAt);
      if (!counted) break;
      const on = shown.get(counted.on);
      if (!mustShow({ level, rank, key }, on && { ...on, cleared: null })) return counted;
      this.#throttle.forget(replayTenant, demands, counted.on, undefined);
    }
    if (demands.length > 0) shown.set(id, { level, rank, key });
    const [oldest] = shown.keys();
    if (shown.size > maxShown && oldest !== undefined) shown.delete(oldest);
    return undefined;
  }
}
