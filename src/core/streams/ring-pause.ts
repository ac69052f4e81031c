/**
 * The pause between the sounds of a phone: after a message has made a sound, messages of the same or a lower level make none for some
 * time. Each stream remembers for each of its panels which message rang last, as a filter may leave out of one stream what rings in
 * another one. Times are those of the log, so it is decided in the same way whenever a message is sent, also if it is sent twice.
 */
import { ownSenderId } from '../intake/own-sender.ts';
import type { Notification, Return } from '../log/log.ts';
import { type EncodingContext, isQuietFor, type PhonePanel } from './encoding.ts';
import type { Frame } from './frame-buffer.ts';
import type { Sound } from './last-sounds.ts';

/** undefined: a test alarm, which the pause does not concern. */
export function soundOf(
  { rank, route, tokenId }: Notification,
  of: Notification | Return,
): Sound | undefined {
  if (tokenId === testSender) return undefined;
  const at = of.kind === 'return' ? of.at : of.receivedAt;
  // A repeat of an escalation is no further step.
  const step = route.escalates === undefined ? 0 : (route.escalated?.times ?? 0);
  return { position: of.position, at, rank, step };
}
const testSender = ownSenderId('test');

/** A frame of a message; one that takes off is none. */
export interface RingingFrame extends Pick<Frame, 'rank'> {
  readonly sound?: Sound | undefined;
  /** A phone that shows what it repeats changes the text without a sound, so no pause begins. */
  readonly isRepeat?: boolean;
}

type Kept = Pick<EncodingContext, 'epoch' | 'tenant' | 'lastSounds'>;

/** What makes a sound in one stream. `kept`: where streams which get the same messages find what rang last. */
export class RingPauses {
  readonly #last = new Map<string, Sound>();
  readonly #kept: Kept | undefined;

  constructor(kept?: Kept) {
    this.#kept = kept;
  }

  /** The client has everything up to this position, so a pause that began until then goes on. If it lacks what rang, that rings again. */
  resume(panels: readonly PhonePanel[], cursor: number): void {
    for (const { address } of panels) {
      const last = this.#kept?.lastSounds?.get(this.#nameOf(address.id));
      if (last && last.position <= cursor) this.#last.set(address.id, last);
    }
  }

  /**
   * Whether the message makes no sound now: because of the quiet hours, or because of the pause after the one that rang last. That one
   * rings each time it is asked for. One that rings begins the pause anew.
   */
  isSilent(frame: RingingFrame, panel: PhonePanel, now: number): boolean {
    if (isQuietFor(frame, panel, now)) return true;
    const { sound, isRepeat } = frame;
    const { ringPauseMs } = panel;
    if (!sound || ringPauseMs === undefined) return false;
    if (isInPause(sound, this.#last.get(panel.address.id), ringPauseMs)) return true;
    if (!isRepeat) this.#rang(panel.address.id, sound);
    return false;
  }

  #rang(id: string, sound: Sound): void {
    this.#last.set(id, sound);
    this.#kept?.lastSounds?.set(this.#nameOf(id), sound);
  }

  #nameOf(id: string): string {
    return `${this.#kept?.epoch} ${this.#kept?.tenant} ${id}`;
  }
}

function isInPause({ position, at, rank, step }: Sound, last: Sound | undefined, pauseMs: number): boolean {
  if (!last || position === last.position) return false;
  // Before or after it: when the clock is set back, the pause must not become longer.
  return Math.abs(at - last.at) < pauseMs && rank <= last.rank && step <= last.step;
}
