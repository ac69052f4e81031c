/** The newest frames of a log in memory, and how a reader gets those that are for it. */
import { namesSize, type Target } from '../log/target.ts';

/** An entry as the readers of an encoding get it, encoded once for all of them. */
export interface Frame {
  readonly position: number;
  readonly target: Target;
  /** Panels that do not get it although the target names them. */
  readonly unless?: Target | undefined;
  /** Of the notification that it is about; set if the encoding leaves levels out. */
  readonly rank?: number;
  /** When the notification expires; the frame is not sent after that. null: it does not expire. */
  readonly expiresAt: number | null;
  readonly bytes: Buffer;
  /** The bytes that it holds beside `bytes`. */
  readonly alsoHeld?: number;
  readonly encodedAt: number;
  /** The time to live of a notification; null: it is another event. */
  readonly ttl: number | null;
}

/** Who reads frames: the panels of a stream, in the form in which the stream is written. */
export interface FrameReader {
  /** Readers of the same group get the same bytes, except of frames that name panels by their ids. undefined: no other reader does. */
  readonly group: string | undefined;
  /** The bytes to send now; undefined when the frame is not for this reader, or out of date. */
  bytesOf(frame: Frame, now: number): Buffer | undefined;
}

/** The most bytes of one write, and so the most that is buffered for a panel that does not read. */
const chunkBytes = 64 * 1024;

/** A range of the log for one reader: all of its events after a cursor, joined into one write. */
export interface Segment {
  /** The cursor after this range. */
  readonly to: number;
  /** undefined: the range has no event for that reader. */
  readonly bytes: Buffer | undefined;
  /** The number of notifications in the range, without other events. */
  readonly notifications: number;
}

/**
 * The newest frames of a tenant's log, bounded in number and in bytes, those of their targets included. Panels with the same tags and the same
 * cursor share one joined segment, so more such panels do not make an event more expensive.
 */
export class FrameBuffer {
  readonly #maxFrames: number;
  readonly #maxBytes: number;
  /** Frames in order of position; entries without a target have none. */
  #frames: Frame[] = [];
  #bytes = 0;
  /** How many frames have each target: frames with equal routes share one. */
  readonly #targets = new Map<Target, number>();
  #first: number;
  #head: number;
  /** The newest position that names panels by id: segments after it can be shared. */
  #lastById = 0;
  readonly #segments = new Map<string, Map<number, Segment>>();
  #segmentBytes = 0;
  #segmentsAt = 0;

  constructor(head: number, bounds: { maxFrames?: number; maxBytes?: number } = {}) {
    this.#maxFrames = bounds.maxFrames ?? 4_096;
    this.#maxBytes = bounds.maxBytes ?? 8 * 1024 * 1024;
    this.#first = head + 1;
    this.#head = head;
  }

  /** The position of the newest entry. */
  get head(): number {
    return this.#head;
  }

  /** A reader whose cursor is at least this has its next entry here. */
  get floor(): number {
    return this.#first - 1;
  }

  /** Adds the next entries: `upTo` is the last position, `frames` those of them with a target. */
  push(frames: Iterable<Frame>, upTo: number): void {
    for (const frame of frames) {
      this.#frames.push(frame);
      this.#bytes += sizeOf(frame);
      this.#countTarget(frame.target, 1);
      if (frame.target.ids.length > 0) this.#lastById = frame.position;
    }
    this.#head = upTo;
    this.#clearSegments();
    this.#trim();
  }

  /** Drops all frames and continues after `position`. */
  reset(position: number): void {
    this.#frames = [];
    this.#bytes = 0;
    this.#targets.clear();
    this.#first = position + 1;
    this.#head = position;
    this.#clearSegments();
  }

  /** The next segment after `cursor` (at least `floor`). */
  after(cursor: number, reader: FrameReader, now: number): Segment {
    const { group } = reader;
    if (group === undefined || cursor < this.#lastById) return this.#join(cursor, reader, now);
    if (now - this.#segmentsAt > 1_000 || this.#segmentBytes > this.#maxBytes) this.#clearSegments();
    let ofGroup = this.#segments.get(group);
    if (!ofGroup) {
      if (this.#segments.size === 0) this.#segmentsAt = now;
      ofGroup = new Map();
      this.#segments.set(group, ofGroup);
    }
    let segment = ofGroup.get(cursor);
    if (!segment) {
      segment = this.#join(cursor, reader, now);
      ofGroup.set(cursor, segment);
      this.#segmentBytes += segment.bytes?.length ?? 0;
    }
    return segment;
  }

  #clearSegments(): void {
    this.#segments.clear();
    this.#segmentBytes = 0;
  }

  #join(cursor: number, reader: FrameReader, now: number): Segment {
    const frames = this.#frames.slice(this.#indexAfter(cursor));
    return joinFrames(frames, reader, { now, upTo: this.#head });
  }

  /** Index of the first frame with a position above `cursor`. */
  #indexAfter(cursor: number): number {
    let low = 0;
    let high = this.#frames.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.#frames[middle] as Frame).position <= cursor) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  #trim(): void {
    let drop = 0;
    while (
      this.#frames.length - drop > 0 &&
      (this.#frames.length - drop > this.#maxFrames || this.#bytes > this.#maxBytes)
    ) {
      const frame = this.#frames[drop++] as Frame;
      this.#bytes -= sizeOf(frame);
      this.#countTarget(frame.target, -1);
      this.#first = frame.position + 1;
    }
    if (drop > 0) this.#frames = this.#frames.slice(drop);
  }

  /** Counts the bytes of a target with its first frame, until its last one has left. */
  #countTarget(target: Target, change: 1 | -1): void {
    const before = this.#targets.get(target) ?? 0;
    const after = before + change;
    if (after > 0) this.#targets.set(target, after);
    else this.#targets.delete(target);
    if (before === 0 || after === 0) this.#bytes += change * (namesSize(target.ids) + namesSize(target.tags));
  }
}

const sizeOf = ({ bytes, alsoHeld = 0 }: Frame): number => bytes.length + alsoHeld;

/** The next segment of these frames for a reader; its cursor is `upTo` when it has them all. */
export function joinFrames(
  frames: Iterable<Frame>,
  reader: FrameReader,
  { now, upTo }: { readonly now: number; readonly upTo: number },
): Segment {
  const parts: Buffer[] = [];
  let size = 0;
  let notifications = 0;
  for (const frame of frames) {
    const bytes = reader.bytesOf(frame, now);
    if (!bytes) continue;
    if (size > 0 && size + bytes.length > chunkBytes)
      return { to: frame.position - 1, bytes: joined(parts, size), notifications };
    parts.push(bytes);
    size += bytes.length;
    if (frame.ttl !== null) notifications += 1;
  }
  return { to: upTo, bytes: joined(parts, size), notifications };
}

function joined(parts: readonly Buffer[], size: number): Buffer | undefined {
  if (parts.length === 0) return undefined;
  return parts.length === 1 ? parts[0] : Buffer.concat(parts, size);
}
