import type { Bus } from '#core/log/bus.ts';
import type { Clear, Entry, History, LiveNotification, LogPage, Notification } from '#core/log/log.ts';
import type { PanelAddress } from '#core/log/target.ts';
import { reaches } from '#core/log/target.ts';
import { draft, routeTo } from './notification-draft.ts';

/** A route to everyone. */
export const everywhere = routeTo({ all: true }, { revision: 0 });

/** A notification for tests, with defaults for omitted fields. */
export const notification = (position: number, over: Partial<Notification> = {}): Notification => ({
  ...draft({
    id: `00000000-0000-7000-8000-${String(position).padStart(12, '0')}`,
    receivedAt: 1_000,
    title: `n${position}`,
    route: everywhere,
  }),
  kind: 'notification',
  position,
  ...over,
});

/** The clearing of the notification at `cleared`, on every panel. */
export function clearOf(position: number, cleared: number): Clear {
  const { id, route } = notification(cleared);
  return { kind: 'clear', position, id, reason: 'cleared', by: 'b', at: 1, route };
}

/** A model of a tenant's log: a plain list. Tests control when reads finish. */
export class ModelLog implements Pick<History, 'bounds' | 'readAfter' | 'live' | 'readLive'> {
  readonly entries: Entry[] = [];
  first = 1;
  /** Delays the result of a read; by default it arrives in the next turn. */
  delay: () => Promise<void> = () => Promise.resolve();
  reads = 0;

  get head(): number {
    return this.entries.length;
  }

  append(make: (position: number) => Entry): Entry {
    const entry = make(this.head + 1);
    this.entries.push(entry);
    return entry;
  }

  pruneTo(first: number): void {
    this.first = Math.max(this.first, Math.min(first, this.head + 1));
  }

  async bounds(_tenant?: number) {
    await this.delay();
    return { head: this.head, first: this.first };
  }

  /** No alarm suppresses another. */
  async suppression() {
    return { causes: [], suppressed: [] };
  }

  async findCause() {
    return undefined;
  }

  async find() {
    return undefined;
  }

  async recordsAt() {
    return [];
  }

  async heads(tenants: readonly number[]) {
    await this.delay();
    return new Map(tenants.map((tenant) => [tenant, this.head]));
  }

  async readAfter(_tenant: number, position: number, limit: number): Promise<LogPage> {
    this.reads += 1;
    await this.delay();
    const from = Math.max(position, this.first - 1);
    return { head: this.head, first: this.first, entries: this.entries.slice(from, from + limit) };
  }

  async live(_tenant: number, panel: PanelAddress, now: number, limit: number) {
    await this.delay();
    const positions = this.shown(panel, now).sort((a, b) => b.rank - a.rank || b.position - a.position);
    return { head: this.head, positions: positions.slice(0, limit) };
  }

  async readLive(_tenant: number, positions: readonly number[], now: number, chars: number) {
    this.reads += 1;
    await this.delay();
    const notifications: LiveNotification[] = [];
    let scanned = 0;
    let taken = 0;
    for (const position of positions) {
      const found = this.#live(now).find((each) => each.position === position);
      taken += found ? [found.title, found.message, found.host, found.key, found.url].join('').length : 0;
      if (taken > chars && notifications.length > 0) break;
      scanned += 1;
      if (found) notifications.push({ ...found, count: 0, acknowledged: null });
    }
    return { notifications, scanned };
  }

  /** The notifications that the panel should show. */
  shown(panel: PanelAddress, now: number): Notification[] {
    return this.#live(now).filter(({ route }) => reaches(route.target, panel));
  }

  #live(now: number): Notification[] {
    const cleared = new Set(
      this.entries.filter((entry): entry is Clear => entry.kind === 'clear').map(({ id }) => id),
    );
    return this.entries.filter(
      (entry): entry is Notification =>
        entry.kind === 'notification' &&
        entry.position >= this.first &&
        !cleared.has(entry.id) &&
        !entry.route.muted &&
        entry.throttledOn === null &&
        (entry.expiresAt === null || entry.expiresAt > now),
    );
  }
}

/** A bus that calls its listeners synchronously. */
export function createModelBus(): Bus {
  const rings = new Set<(entries: readonly Entry[]) => void>();
  return {
    publish: (_tenant, entries) => {
      for (const ring of rings) ring(entries);
    },
    subscribe: (_tenant, ring) => {
      rings.add(ring);
      return () => rings.delete(ring);
    },
    problem: () => undefined,
    close: async () => undefined,
  };
}
