import type { NotificationEvent } from '#contract/history/notification.ts';
import { liveSet } from '#contract/limits.ts';
import type { AcknowledgeEvent, SettingsEvent, SuppressesEvent } from '#contract/panels/panel.ts';
import type { Level } from '#contract/routing/level.ts';
import { minRankOf } from '#contract/routing/level-styles.ts';
import type { Client } from './client.ts';
import type { PanelEvent, PanelEventsOptions } from './panel-events.ts';
import type { ElapsedClock } from './timing.ts';

/** A notification as a panel shows it. */
export interface Card {
  readonly notification: NotificationEvent;
  /** Unix milliseconds of the server. */
  readonly receivedAt: number;
  /** As receivedAt: when the alarm began, if it was escalated since. */
  readonly since: number;
  /** By the clock of `Board.apply`; null stays until cleared. */
  readonly endsAt: number | null;
  /** How many more a throttle has counted on it. */
  readonly count: number;
  /** The alarms that are on no panel as long as this one stands; undefined: none. */
  readonly suppresses?: Suppressed | undefined;
}

/** How many, and the first of them. */
export type Suppressed = Omit<SuppressesEvent, 'id'>;

/** What happened to a card: it is new, changed, or no longer shown. */
export interface BoardChange {
  readonly kind:
    | ('added' | 'counted' | 'acknowledged' | 'unacknowledged' | 'followed')
    | ('cleared' | 'replaced' | 'shelved' | 'suppressed' | 'expired' | 'dropped');
  readonly card: Card;
}

/** The size of the server's live set. Beyond it, the lowest in rank and the oldest are dropped. */
const maxCards = liveSet;

/**
 * The cards of one panel, built from its stream. Cards below the panel's `minLevel` are kept, in case it is changed, but no
 * change reports them. Every `now` must come from the same clock, which is not set while the board is used; times of the server
 * are only for display.
 */
export class Board {
  readonly #cards = new Map<string, Card>();
  /** What alarms suppress, by the id of the notification; some may have no card yet. */
  readonly #suppressed = new Map<string, Suppressed>();
  #settings: SettingsEvent | undefined;
  #levels: ReadonlyMap<string, Level> = new Map();
  #minRank = Number.NEGATIVE_INFINITY;
  #skewMs = 0;
  /** The highest rank of which live notifications may be missing here; undefined: none is. */
  #missingRank: number | undefined;
  #isFilling = false;
  /** Random, so that the panels of a tenant do not all request more at the same moment. */
  readonly #fewCards = Math.floor(maxCards * (0.3 + Math.random() * 0.4));

  /** Panel, tenant and levels; undefined until the stream was ready once. */
  get settings(): SettingsEvent | undefined {
    return this.#settings;
  }

  /** The live set is still arriving, so an empty board does not mean that nothing is live. */
  get isFilling(): boolean {
    return this.#isFilling;
  }

  /** There may be live notifications for this panel that the board does not have: it holds 500. */
  get isPartial(): boolean {
    return this.#missingRank !== undefined && this.#missingRank >= this.#minRank;
  }

  /** Too few are left of a partial board: a new connection without a cursor brings the next ones. */
  get needsMore(): boolean {
    return this.isPartial && this.cards().length <= this.#fewCards;
  }

  level(name: string): Level | undefined {
    return this.#levels.get(name);
  }

  /** The server's time, derived from the last one that it sent. */
  serverTime(now: number): number {
    return now + this.#skewMs;
  }

  /** The highest in rank first, then the newest; without what the panel's settings hide. */
  cards(): Card[] {
    return [...this.#cards.values()].filter((card) => this.#isShown(card)).sort(compareCards);
  }

  /** Takes in one event that arrived at `now`; returns the changes of visible cards. */
  apply(event: PanelEvent, now: number): BoardChange[] {
    if (event.type === 'ready' || event.type === 'heartbeat')
      this.#skewMs = Date.parse(event.data.serverTime) - now;
    // A live set ends with one.
    if (event.type === 'heartbeat') this.#isFilling = false;
    if (event.type === 'settings') return this.#settle(event.data);
    if (event.type !== 'ready') return this.#shownOf(this.#take(event, now));
    this.#forgetSuppressed();
    const dropped = event.data.resume === 'replayed' ? [] : this.#shownOf(this.#clear());
    return [...dropped, ...this.#settle(event.data)];
  }

  /** Removes expired cards. */
  expire(now: number): BoardChange[] {
    const over = [...this.#cards.values()].filter(({ endsAt }) => endsAt !== null && endsAt <= now);
    return this.#shownOf(over.flatMap(({ notification }) => this.#remove(notification.id, 'expired')));
  }

  #take(event: PanelEvent, now: number): BoardChange[] {
    switch (event.type) {
      case 'notification':
        return this.#add(event.data, now);
      case 'clear':
        return this.#remove(event.data.id, event.data.reason);
      case 'throttled':
        return this.#count(event.data.id, event.data.count);
      case 'suppresses':
        return this.#follow(event.data);
      case 'acknowledge':
        return this.#acknowledge(event.data);
      case 'unacknowledge':
        return this.#setAcknowledged(event.data.id, null);
      case 'shelve':
        return this.#remove(event.data.id, 'shelved');
      case 'suppress':
        return this.#remove(event.data.id, 'suppressed');
      case 'unshelve':
      case 'unsuppress':
        return this.#add(event.data.notification, now);
      case 'gap':
      case 'reset':
        return this.#clear();
      default:
        return [];
    }
  }

  #isShown({ notification }: Card): boolean {
    return notification.rank >= this.#minRank;
  }

  #shownOf(changes: readonly BoardChange[]): BoardChange[] {
    return changes.filter(({ card }) => this.#isShown(card));
  }

  /** A change of `minLevel` shows or hides cards. */
  #settle({ panel, tenant, levels }: SettingsEvent): BoardChange[] {
    const before = new Set(this.cards());
    this.#settings = { panel, tenant, levels };
    this.#levels = new Map(levels.map((level) => [level.name, level]));
    this.#minRank = minRankOf(panel.display, this.#levels);
    return [...this.#cards.values()].flatMap((card): BoardChange[] => {
      if (before.has(card) === this.#isShown(card)) return [];
      return [{ kind: before.has(card) ? 'dropped' : 'added', card }];
    });
  }

  #add(notification: NotificationEvent, now: number): BoardChange[] {
    const { id, receivedAt, remainingMs, count, escalated } = notification;
    const endsAt = remainingMs === null ? null : now + remainingMs;
    const since = Date.parse(escalated?.since ?? receivedAt);
    const suppresses = this.#suppressed.get(id);
    const card: Card = { notification, receivedAt: Date.parse(receivedAt), since, endsAt, count, suppresses };
    const isKnown = this.#cards.has(id);
    this.#cards.set(id, card);
    return [...(isKnown ? [] : [{ kind: 'added' as const, card }]), ...this.#makeRoom()];
  }

  #makeRoom(): BoardChange[] {
    if (this.#cards.size <= maxCards) return [];
    let last: Card | undefined;
    for (const card of this.#cards.values()) if (!last || compareCards(card, last) > 0) last = card;
    if (!last) return [];
    this.#missingRank = Math.max(this.#missingRank ?? last.notification.rank, last.notification.rank);
    return this.#remove(last.notification.id, 'dropped');
  }

  #count(id: string, count: number): BoardChange[] {
    const known = this.#cards.get(id);
    if (!known || known.count >= count) return [];
    const card = { ...known, count };
    this.#cards.set(id, card);
    return [{ kind: 'counted', card }];
  }

  #follow({ id, count, alarms }: SuppressesEvent): BoardChange[] {
    this.#suppressed.delete(id);
    const suppresses = count > 0 ? { count, alarms } : undefined;
    if (suppresses) this.#suppressed.set(id, suppresses);
    const [oldest] = this.#suppressed.keys();
    if (this.#suppressed.size > maxCards && oldest !== undefined) this.#suppressed.delete(oldest);
    return this.#setSuppresses(id, suppresses);
  }

  /**
   * The server sends them anew after `ready`, and does not say which have ended meanwhile. No change: only the number is
   * unknown.
   */
  #forgetSuppressed(): void {
    for (const id of this.#suppressed.keys()) this.#setSuppresses(id, undefined);
    this.#suppressed.clear();
  }

  #setSuppresses(id: string, suppresses: Suppressed | undefined): BoardChange[] {
    const known = this.#cards.get(id);
    if (!known || known.suppresses === suppresses) return [];
    const card = { ...known, suppresses };
    this.#cards.set(id, card);
    return [{ kind: 'followed', card }];
  }

  #acknowledge({ id, at, by, note, until }: AcknowledgeEvent): BoardChange[] {
    return this.#setAcknowledged(id, { at, by, note, until });
  }

  #setAcknowledged(id: string, acknowledged: NotificationEvent['acknowledged']): BoardChange[] {
    const known = this.#cards.get(id);
    if (!known) return [];
    const card = { ...known, notification: { ...known.notification, acknowledged } };
    this.#cards.set(id, card);
    return [{ kind: acknowledged ? 'acknowledged' : 'unacknowledged', card }];
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
    this.#missingRank = undefined;
    this.#isFilling = true;
    return dropped;
  }
}

function compareCards({ notification: a }: Card, { notification: b }: Card): number {
  return b.rank - a.rank || b.position - a.position;
}

interface BoardEvent {
  readonly event: PanelEvent;
  /** The changes of the event to the board. */
  readonly changes: readonly BoardChange[];
}

interface BoardEventsOptions extends PanelEventsOptions {
  readonly client: Pick<Client, 'panelEvents'>;
  readonly panelId: string;
  readonly board: Board;
  /** The clock of the board. */
  readonly clock: ElapsedClock;
}

/**
 * Yields a panel's events until `signal` aborts; the board has applied each event before it is yielded. The board holds only
 * part of a large live set. When few of its cards are left (`needsMore`), the stream is opened again to get the next ones.
 *
 * @throws ApiError like panelEvents.
 */
export async function* boardEvents({
  client,
  panelId,
  board,
  clock,
  ...options
}: BoardEventsOptions): AsyncGenerator<BoardEvent, void, void> {
  while (!options.signal?.aborted) {
    for await (const event of client.panelEvents(panelId, options)) {
      if (event.type === 'ready' || event.type === 'heartbeat')
        clock.observe(Date.parse(event.data.serverTime));
      yield { event, changes: board.apply(event, clock.now()) };
      if (board.needsMore) break;
    }
  }
}
