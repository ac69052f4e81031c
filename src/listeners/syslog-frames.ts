/** Messages in a stream (RFC 6587): each is preceded by its length in bytes, or ended by a line feed or a zero byte. */

export interface Frames {
  readonly frames: readonly Buffer[];
  /** A message is too long, so the start of the next one is unknown, or is cut off. The messages before it are included. */
  readonly isBroken: boolean;
}

/** A length is followed by a message, which begins with its priority. Other numbers are text. */
const counted = /^([1-9]\d{0,7}) </;
const mayBecomeCounted = /^[1-9]\d{0,7} ?$/;

/** Splits a stream into messages. Keeps an incomplete message until the rest arrives. */
export class SyslogFrames {
  readonly #maxBytes: number;
  #rest = Buffer.alloc(0);
  /** How much of the rest was searched and contains no end of a message. */
  #scanned = 0;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  /** Returns the messages that are now complete. */
  push(chunk: Buffer): Frames {
    const bytes = this.#rest.length === 0 ? chunk : Buffer.concat([this.#rest, chunk]);
    const frames: Buffer[] = [];
    let at = 0;
    for (;;) {
      const found = this.#next(bytes, at);
      if (found === 'too long') return { frames, isBroken: true };
      if (!found) break;
      if (found.to > found.from) frames.push(bytes.subarray(found.from, found.to));
      at = found.next;
    }
    this.#rest = Buffer.from(bytes.subarray(at));
    return { frames, isBroken: this.#rest.length > this.#maxBytes + 10 };
  }

  /** Returns the last message, which has no end of its own. One that is shorter than its length is broken. */
  end(): Frames {
    const isCounted = counted.test(this.#rest.toString('latin1', 0, 10));
    const isBroken = isCounted || this.#rest.length > this.#maxBytes;
    return { frames: this.#rest.length === 0 || isBroken ? [] : [this.#rest], isBroken };
  }

  #next(bytes: Buffer, at: number): { from: number; to: number; next: number } | 'too long' | undefined {
    const head = bytes.toString('latin1', at, at + 10);
    const length = counted.exec(head)?.[1];
    if (length !== undefined) {
      const from = at + length.length + 1;
      const to = from + Number(length);
      if (to - from > this.#maxBytes) return 'too long';
      return to <= bytes.length ? { from, to, next: to } : undefined;
    }
    if (mayBecomeCounted.test(head)) return undefined;
    for (let to = at + this.#scanned; to < bytes.length; to++) {
      if (bytes[to] === 0x0a || bytes[to] === 0) {
        this.#scanned = 0;
        return to - at > this.#maxBytes ? 'too long' : { from: at, to, next: to + 1 };
      }
    }
    this.#scanned = bytes.length - at;
    return undefined;
  }
}
