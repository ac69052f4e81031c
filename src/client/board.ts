import type { Level } from '../contract/level.ts';
import type { NotificationEvent } from '../contract/notification.ts';
import type { SettingsEvent } from '../contract/panel-events.ts';
import type { PanelEvent } from './panel-event.ts';

/** A notification as a panel shows it. Times are the server's, in Unix milliseconds. */
export interface Card {
  readonly notification: NotificationEvent;
  readonly receivedAt: number;
  /** null stays until cleared. */
  readonly expiresAt: number | null;
  /** How many more a throttle has counted on it. */
  readonly count: number;
}

/** What became of a card that is not shown any more, or that it is new. */
export interface BoardChange {
  readonly kind: 'added' | 'counted' | 'cleared' | 'replaced' | 'expired' | 'dropped';
  readonly card: Card;
}

/** As many as a server sends as live set; of more, the lowest in rank and the oldest leave. */
const maxCards = 500;

/** What one panel should be showing, as its stream tells it. */
export class Board {
  readonly #cards = new Map<string, Card>();
  #settings: SettingsEvent | undefined;
  #levels: ReadonlyMap<string, Level> = new Map();
  #skewMs = 0;

  /** Panel, tenant and levels; undefined until the stream was ready once. */
  get settings(): SettingsEvent | undefined {
    return this.#settings;
  }

  level(name: string): Level | undefined {
    return this.#levels.get(name);
  }

  /** The server's time, going by its last word on it. */
  serverTime(now: number): number {
    return now + this.#skewMs;
  }

  /** The highest in rank first, then the newest; without what the panel's settings hide. */
  cards(): Card[] {
    const { minLevel } = this.#settings?.panel.display ?? {};
    const minRank = (minLevel === undefined ? undefined : this.level(minLevel)?.rank) ?? 0;
    return [...this.#cards.values()]
      .filter(({ notification }) => notification.rank >= minRank)
      .sort(compareCards);
  }

  /** Takes in one event that arrived at `now` of this machine's clock; answers what it changed. */
  apply(event: PanelEvent, now: number): BoardChange[] {
    switch (event.type) {
      case 'ready':
        this.#skewMs = Date.parse(event.data.serverTime) - now;
        this.#settle(event.data);
        return event.data.resume === 'replayed' ? [] : this.#clear();
      case 'settings':
        this.#settle(event.data);
        return [];
      case 'heartbeat':
        this.#skewMs = Date.parse(event.data.serverTime) - now;
        return [];
      case 'notification':
        return this.#add(event.data);
      case 'clear':
        return this.#remove(event.data.id, event.data.reason);
      case 'throttled':
        return this.#count(event.data.id, event.data.count);
      case 'gap':
      case 'reset':
        return this.#clear();
      default:
        return [];
    }
  }

  /** Takes off what has been shown for its time. */
  expire(now: number): BoardChange[] {
    const at = this.serverTime(now);
    return [...this.#cards.values()]
      .filter(({ expiresAt }) => expiresAt !== null && expiresAt <= at)
      .flatMap(({ notification }) => this.#remove(notification.id, 'expired'));
  }

  #settle({ panel, tenant, levels }: SettingsEvent): void {
    this.#settings = { panel, tenant, levels };
    this.#levels = new Map(levels.map((level) => [level.name, level]));
  }

  #add(notification: NotificationEvent): BoardChange[] {
    const { id, receivedAt, expiresAt, count } = notification;
    const card: Card = {
      notification,
      receivedAt: Date.parse(receivedAt),
      expiresAt: expiresAt === null ? null : Date.parse(expiresAt),
      count,
    };
    const known = this.#cards.has(id);
    this.#cards.set(id, card);
    return [...(known ? [] : [{ kind: 'added' as const, card }]), ...this.#makeRoom()];
  }

  #makeRoom(): BoardChange[] {
    if (this.#cards.size <= maxCards) return [];
    let last: Card | undefined;
    for (const card of this.#cards.values()) if (!last || compareCards(card, last) > 0) last = card;
    return last ? this.#remove(last.notification.id, 'dropped') : [];
  }

  #count(id: string, count: number): BoardChange[] {
    const known = this.#cards.get(id);
    if (!known || known.count >= count) return [];
    const card = { ...known, count };
    this.#cards.set(id, card);
    return [{ kind: 'counted', card }];
  }

  #remove(id: string, kind: BoardChange['kind']): BoardChange[] {
    const card = this.#cards.get(id);
    if (!card) return [];
    this.#cards.delete(id);
    return [{ kind, card }];
  }

  #clear(): BoardChange[] {
    const dropped = [...this.#cards.values()].map((card) => ({ kind: 'dropped' as const, card }));
    this.#cards.clear();
    return dropped;
  }
}

function compareCards({ notification: a }: Card, { notification: b }: Card): number {
  return b.rank - a.rank || b.position - a.position;
}
