import type { Card } from '#client/board.ts';
import type { Sound } from '../sound.ts';
import type { Session } from './session.ts';
import { RepeatedSound } from './state/repeated-sound.ts';
import { alwaysRank, soundFor } from './state/sound-choice.ts';

/** What may be heard now. */
export interface Hearing {
  readonly isOn: boolean;
  readonly isQuiet: boolean;
  readonly serverTime: number;
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

  arrived(added: readonly Card[], { isOn, isQuiet, serverTime }: Hearing): void {
    if (added.length === 0 || !isOn) return;
    const { board } = this.#session;
    const chosen = soundFor(added, {
      serverTime,
      quiet: isQuiet,
      level: (name) => board.level(name),
      known: (id) => this.#session.isKnown(id),
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
