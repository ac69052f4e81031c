/** In a replay: which causes stand, and so what they suppress, from the entries of the log alone. */
import { isResolve } from '../channels/channels.ts';
import { ownSenderId } from '../intake/own-sender.ts';
import type { Entry } from '../log/log.ts';
import type { Route } from '../log/route.ts';
import { getOrMake } from '../maps.ts';
import type { Recorded } from './explain.ts';
import type { Decision } from './router.ts';

/** The most causes that are remembered: as many alarms as one call changes. The oldest are dropped, and suppress nothing more. */
const maxCauses = 10_000;

interface Cause {
  /** The notification that stands of it. */
  readonly id: string;
  readonly keys: readonly string[];
  /** null: until it is cleared. */
  readonly expiresAt: number | null;
}

export class ReplayedCauses {
  /** By alarm, oldest first. */
  readonly #causes = new Map<string, Cause>();
  /** The alarms that have a key in common with what they suppress. */
  readonly #byKey = new Map<string, Set<string>>();
  /** The alarms of the notifications that stand. */
  readonly #byId = new Map<string, string>();

  /** Call it for each change of a notification, in the order of the log. */
  change(entry: Exclude<Entry, { kind: 'notification' }>): void {
    // What replaces it arrives as a notification of its own; an escalation continues the alarm.
    if (entry.kind !== 'clear' || entry.reason === 'replaced') return;
    if (entry.by === ownSenderId('escalation')) return;
    const alarm = this.#byId.get(entry.id);
    if (alarm !== undefined) this.#end(alarm);
  }

  /** Call it for each notification that no throttle counts elsewhere. Returns whether a cause stands that suppresses it. */
  add(record: Recorded, { route: { suppress }, rank, ttl }: Decision): boolean {
    const { id, key, receivedAt } = record;
    const alarm = this.#alarmOf(record);
    this.#end(alarm);
    // The end of an alarm is always shown.
    if (isResolve({ key, rank })) return false;
    const isSuppressed = this.isSuppressed(record, suppress, receivedAt);
    if (suppress && suppress.causes.length > 0)
      this.#stand(alarm, {
        id,
        keys: suppress.causes.map((cause) => cause.key),
        expiresAt: ttl === 0 ? null : receivedAt + ttl,
      });
    return isSuppressed;
  }

  /** Whether a cause of another alarm stands at that time. */
  isSuppressed(
    record: Pick<Recorded, 'id' | 'key' | 'route'>,
    suppress: Route['suppress'],
    at: number,
  ): boolean {
    const own = this.#alarmOf(record);
    for (const key of suppress?.follows ?? [])
      for (const alarm of this.#byKey.get(key) ?? [])
        if (alarm !== own && this.#stands(alarm, at)) return true;
    return false;
  }

  /** By its key; a notification without one is an alarm of its own, unless it is the escalation of another. */
  #alarmOf({ id, key, route }: Pick<Recorded, 'id' | 'key' | 'route'>): string {
    return key === null ? (this.#byId.get(route.escalates ?? '') ?? `id ${id}`) : `key ${key}`;
  }

  #stands(alarm: string, at: number): boolean {
    const { expiresAt = 0 } = this.#causes.get(alarm) ?? {};
    if (expiresAt === null || expiresAt > at) return true;
    this.#end(alarm);
    return false;
  }

  #stand(alarm: string, cause: Cause): void {
    this.#causes.set(alarm, cause);
    this.#byId.set(cause.id, alarm);
    for (const key of cause.keys) getOrMake(this.#byKey, key, () => new Set<string>()).add(alarm);
    const [oldest] = this.#causes.keys();
    if (this.#causes.size > maxCauses && oldest !== undefined) this.#end(oldest);
  }

  #end(alarm: string): void {
    const cause = this.#causes.get(alarm);
    if (!cause) return;
    this.#causes.delete(alarm);
    this.#byId.delete(cause.id);
    for (const key of cause.keys) {
      const alarms = this.#byKey.get(key);
      alarms?.delete(alarm);
      if (alarms?.size === 0) this.#byKey.delete(key);
    }
  }
}
