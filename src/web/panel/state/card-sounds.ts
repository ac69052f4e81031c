import type { Card } from '#client/board.ts';
import type { Level } from '#contract/routing/level.ts';
import type { Sound } from '../../sound.ts';
import type { Session } from '../session.ts';
import { kindOfCard, leastToGroup } from './flood-items.ts';

type SoundName = Level['sound'];

export interface SoundContext {
  readonly serverTime: number;
  /** Quiet hours: only the most serious levels are heard. */
  readonly quiet: boolean;
  readonly level: (name: string) => Level | undefined;
  /** Whether the card was on this screen before a reload or a reset. */
  readonly known: (id: string) => boolean;
  /** Whether it only joins similar ones, which have been heard. */
  readonly joins: (card: Card) => boolean;
}

/** Older notifications arrived while the screen was offline; they are shown without a sound. */
const freshMs = 60_000;
/** Sounds from this rank on are played in quiet hours too. */
const alwaysRank = 50;

interface ChosenSound {
  readonly sound: SoundName;
  readonly rank: number;
}

/** One sound for cards that arrived together: that of the highest rank with a sound; undefined if there is none to play. */
export function soundFor(
  added: readonly Card[],
  { serverTime, quiet, level, known, joins }: SoundContext,
): ChosenSound | undefined {
  let loudest: ChosenSound | undefined;
  for (const card of added) {
    const { notification, receivedAt } = card;
    const { id, rank } = notification;
    const sound = level(notification.level)?.sound ?? 'none';
    if (sound === 'none' || known(id) || serverTime - receivedAt > freshMs) continue;
    if ((quiet && rank < alwaysRank) || joins(card)) continue;
    if (!loudest || rank > loudest.rank) loudest = { rank, sound };
  }
  return loudest;
}

/** The shortest pause between two repeats, also of different kinds. */
const leastMs = 5_000;

interface RepeatContext {
  /** Milliseconds that only ever go forward. */
  readonly now: number;
  readonly level: (name: string) => Level | undefined;
  /** Below this rank nothing is heard, as in quiet hours. */
  readonly minRank: number;
}

/** Similar cards with a sound that is repeated. */
interface RepeatedKind {
  readonly rank: number;
  /** When it was heard, or when this page first had one of this rank. */
  readonly at: number;
  readonly sound: SoundName;
  readonly repeatMs: number;
}

/**
 * Decides when the sound of cards must be repeated because nobody has acknowledged them: one for similar cards, that of the
 * highest of them. Times count from the moment when this page first had such a card, so a reload restarts them.
 */
export class RepeatedSound {
  #kinds = new Map<string, RepeatedKind>();
  #lastAt = Number.NEGATIVE_INFINITY;

  /** The sound to play now, that of the highest rank that is due; undefined if there is none. */
  next(cards: readonly Card[], { now, level, minRank }: RepeatContext): ChosenSound | undefined {
    const kinds = new Map<string, RepeatedKind>();
    for (const card of cards) {
      const { rank, level: name, acknowledged } = card.notification;
      const { repeatMs = 0, sound = 'none' } = level(name) ?? {};
      if (repeatMs === 0 || sound === 'none' || acknowledged || rank < minRank) continue;
      const kind = kindOfCard(card);
      if (rank <= (kinds.get(kind)?.rank ?? Number.NEGATIVE_INFINITY)) continue;
      const known = this.#kinds.get(kind);
      // A higher one was heard when it came.
      kinds.set(kind, { rank, sound, repeatMs, at: known && known.rank >= rank ? known.at : now });
    }
    this.#kinds = kinds;
    if (now - this.#lastAt < leastMs) return undefined;
    let loudest: ChosenSound | undefined;
    for (const [kind, each] of kinds) {
      if (now - each.at < Math.max(leastMs, each.repeatMs)) continue;
      kinds.set(kind, { ...each, at: now });
      if (!loudest || each.rank > loudest.rank) loudest = each;
    }
    if (loudest) this.#lastAt = now;
    return loudest && { sound: loudest.sound, rank: loudest.rank };
  }
}

/**
 * Whether a card that has arrived joins a group: similar cards of at least its level stood on the screen before, and nobody has
 * acknowledged them.
 */
export function joinedBy(added: readonly Card[], cards: readonly Card[]): (card: Card) => boolean {
  const ids = new Set(added.map(({ notification }) => notification.id));
  const groups = new Map<string, { count: number; rank: number }>();
  for (const card of cards) {
    const { notification } = card;
    if (ids.has(notification.id) || notification.acknowledged) continue;
    const kind = kindOfCard(card);
    const { count = 0, rank = 0 } = groups.get(kind) ?? {};
    groups.set(kind, { count: count + 1, rank: Math.max(rank, notification.rank) });
  }
  return (card) => {
    const group = groups.get(kindOfCard(card));
    return group !== undefined && group.count + 1 >= leastToGroup && card.notification.rank <= group.rank;
  };
}

/** What may be heard now. */
export interface Hearing {
  readonly isOn: boolean;
  readonly isQuiet: boolean;
  readonly serverTime: number;
  /** Similar cards are one item on the screen. */
  readonly isFlood: boolean;
}

/** Plays the sounds of cards: when they arrive, and again until somebody acknowledges them. */
export class PanelSound {
  readonly #session: Session;
  readonly #sound: Sound;
  readonly #repeated = new RepeatedSound();

  constructor(session: Session, sound: Sound) {
    this.#session = session;
    this.#sound = sound;
  }

  arrived(added: readonly Card[], { isOn, isQuiet, serverTime, isFlood }: Hearing): void {
    if (added.length === 0 || !isOn) return;
    const { board } = this.#session;
    const chosen = soundFor(added, {
      serverTime,
      quiet: isQuiet,
      level: (name) => board.level(name),
      known: (id) => this.#session.isKnown(id),
      joins: isFlood ? joinedBy(added, board.cards()) : () => false,
    });
    if (chosen) this.#sound.play(chosen.sound, chosen.rank);
  }

  /** Call it repeatedly; `now` must never go back. */
  repeat({ isOn, isQuiet }: Hearing, now: number): void {
    if (!isOn) return;
    const { board } = this.#session;
    const level = (name: string) => board.level(name);
    const chosen = this.#repeated.next(board.cards(), { now, level, minRank: isQuiet ? alwaysRank : 0 });
    if (chosen) this.#sound.play(chosen.sound, chosen.rank);
  }
}
