/** Messages in a stream (RFC 6587): each behind its length in bytes, or each ended by a line feed or a zero byte. */

export class FrameTooLong extends Error {}

/** Takes a stream as it comes; holds back what is not complete, at most one message. */
export class SyslogFrames {
  readonly #maxBytes: number;
  #rest = Buffer.alloc(0);

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  /** The messages that are complete now. @throws FrameTooLong: what follows can no longer be told apart. */
  push(chunk: Buffer): Buffer[] {
    const bytes = this.#rest.length === 0 ? chunk : Buffer.concat([this.#rest, chunk]);
    const frames: Buffer[] = [];
    let at = 0;
    for (;;) {
      const end = this.#next(bytes, at);
      if (!end) break;
      if (end.to > end.from) frames.push(bytes.subarray(end.from, end.to));
      at = end.next;
    }
    if (bytes.length - at > this.#maxBytes + 10) throw new FrameTooLong();
    this.#rest = Buffer.from(bytes.subarray(at));
    return frames;
  }

  /** What came before the end of the stream without an end of its own. */
  end(): Buffer[] {
    const isCounted = /^[1-9]\d{0,7} /.test(this.#rest.toString('latin1', 0, 10));
    return this.#rest.length === 0 || isCounted ? [] : [this.#rest];
  }

  #next(bytes: Buffer, at: number): { from: number; to: number; next: number } | undefined {
    const head = bytes.toString('latin1', at, at + 10);
    const length = /^([1-9]\d{0,7}) /.exec(head);
    if (length) {
      const from = at + length[0].length;
      const to = from + Number(length[1]);
      if (to - from > this.#maxBytes) throw new FrameTooLong();
      return to <= bytes.length ? { from, to, next: to } : undefined;
    }
    // It may still become a length.
    if (/^[1-9]\d{0,7}$/.test(head)) return undefined;
    for (let to = at; to < bytes.length; to++) {
      if (bytes[to] === 0x0a || bytes[to] === 0) {
        if (to - at > this.#maxBytes) throw new FrameTooLong();
        return { from: at, to, next: to + 1 };
      }
    }
    return undefined;
  }
}
