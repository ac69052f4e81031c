/** Encodes entries of the log as events of a stream. */
import { mapOptionalTexts } from '#contract/history/fields.ts';
import { labelsOf } from '#contract/history/labels.ts';
import type { NotificationEvent } from '#contract/history/notification.ts';
import { encodeSse, formatCursor } from '#contract/panels/sse.ts';
import type {
  Acknowledged,
  Acknowledgement,
  Assignment,
  Clear,
  Entry,
  LiveNotification,
  Notification,
  Return,
  Shelving,
  Suppression,
} from '../log/log.ts';
import { isOffPanels } from '../log/route.ts';
import { isEmpty, namesSize, type PanelAddress, reaches, type Target } from '../log/target.ts';
import { instructionsText } from '../routing/instructions.ts';
import type { Router } from '../routing/router.ts';
import { iso, isoOrNull } from '../time/time.ts';

/** What the events of a log need besides its entries. */
export interface FrameContext {
  readonly epoch: string;
  /** The rules as they are now; undefined: none have been read. */
  readonly router: () => Pick<Router, 'instructing'> | undefined;
}

/** An entry as panels get it, encoded once for all of them. */
export interface Frame {
  readonly position: number;
  readonly target: Target;
  /** When the notification expires; the frame is not sent after that. null: it does not expire. */
  readonly expiresAt: number | null;
  readonly bytes: Buffer;
  readonly encodedAt: number;
  /** The time to live of a notification; null: it is another event. */
  readonly ttl: number | null;
}

/** The `remainingMs` of a frame may be out of date by this much; `expiresAt` is exact. */
const staleMs = 1_000;

/** As the API returns it. */
export const acknowledgedView = ({ at, by, note, until }: Acknowledged) => ({
  ...{ at: iso(at), by, note },
  until: isoOrNull(until),
});

/** What a notification has on panels and in history alike. */
export function contentOf(n: Notification) {
  return {
    id: n.id,
    position: n.position,
    title: n.title,
    message: n.message,
    level: n.level,
    rank: n.rank,
    ttl: n.ttl,
    ...mapOptionalTexts((name) => n[name]),
    labels: labelsOf(n.labels),
    sourceIp: n.sourceIp,
    receivedAt: iso(n.receivedAt),
    expiresAt: isoOrNull(n.expiresAt),
    escalated: n.route.escalated
      ? { times: n.route.escalated.times, since: iso(n.route.escalated.since) }
      : null,
  };
}

/** By what panels group it, after all other fields, as the answers of the API have it. */
export const groupedBy = ({ route: { group } }: Pick<Notification, 'route'>) =>
  group && { group: [...group] };

export function notificationEvent(
  n: Notification & Partial<Pick<LiveNotification, 'count' | 'acknowledged'>>,
  now: number,
  router: Pick<Router, 'instructing'> | undefined,
): NotificationEvent {
  const instructions = router && instructionsText(n, router);
  return {
    ...contentOf(n),
    remainingMs: n.expiresAt === null ? null : remainingMs(n.expiresAt, n.ttl, now),
    count: n.count ?? 0,
    acknowledged: n.acknowledged ? acknowledgedView(n.acknowledged) : null,
    ...groupedBy(n),
    ...(instructions !== undefined && { instructions }),
  };
}

/** At most the ttl, because the clock may have been ahead on arrival and corrected since. */
function remainingMs(expiresAt: number, ttl: number, now: number): number {
  return Math.min(ttl, Math.max(0, expiresAt - now));
}

/** A live notification includes its count and acknowledgement; otherwise they follow as events. */
export function encodeNotification(
  { epoch, router }: FrameContext,
  n: Notification | LiveNotification,
  now: number,
): string {
  return encodeSse({
    event: 'notification',
    id: formatCursor(epoch, n.position),
    data: notificationEvent(n, now, router()),
  });
}

function encodeClear(epoch: string, { position, id, reason, by }: Clear): string {
  return encodeSse({ event: 'clear', id: formatCursor(epoch, position), data: { id, position, reason, by } });
}

function encodeAcknowledgement(epoch: string, entry: Acknowledgement): string {
  const { position, id, at, by, note, until } = entry;
  const data = { id, position, at: iso(at), by, note, until: isoOrNull(until) };
  return encodeSse({ event: 'acknowledge', id: formatCursor(epoch, position), data });
}

function encodeShelving(epoch: string, { position, id, at, by, note, until }: Shelving): string {
  const data = { id, position, at: iso(at), by, note, until: iso(until) };
  return encodeSse({ event: 'shelve', id: formatCursor(epoch, position), data });
}

function encodeSuppression({ epoch }: FrameContext, { position, id, at, by }: Suppression): string {
  const data = { id, position, at: iso(at), by };
  return encodeSse({ event: 'suppress', id: formatCursor(epoch, position), data });
}

/** What comes back to the panels is sent whole: they do not have it. */
function encodeReturn(
  { epoch, router }: FrameContext,
  { position, id, at, by, from, shown }: Return,
  now: number,
): string {
  const data = { id, position, at: iso(at), by };
  const cursor = formatCursor(epoch, position);
  if (!shown) return encodeSse({ event: 'unacknowledge', id: cursor, data });
  return encodeSse({
    event: from === 'suppressed' ? 'unsuppress' : 'unshelve',
    id: cursor,
    data: { ...data, notification: notificationEvent(shown, now, router()) },
  });
}

/** A throttle counted one more notification: the panel raises the count on the shown one. */
function encodeThrottled(epoch: string, n: Notification): string {
  const data = {
    id: n.throttledOn,
    position: n.position,
    count: n.throttleCount,
    receivedAt: iso(n.receivedAt),
  };
  return encodeSse({ event: 'throttled', id: formatCursor(epoch, n.position), data });
}

/** Encodes a change of a notification that panels have. */
function encodeChange(context: FrameContext, entry: Exclude<Entry, Assignment>, now: number): string {
  const { epoch } = context;
  switch (entry.kind) {
    case 'clear':
      return encodeClear(epoch, entry);
    case 'acknowledgement':
      return encodeAcknowledgement(epoch, entry);
    case 'shelving':
      return encodeShelving(epoch, entry);
    case 'suppression':
      return encodeSuppression(context, entry);
    case 'return':
      return encodeReturn(context, entry, now);
    case 'notification':
      return encodeThrottled(epoch, entry);
  }
}

/** The frame of an entry; undefined if it goes to no panel: muted, shelved, suppressed, without a target, or about an owner. */
export function frameOf(context: FrameContext, entry: Entry, now: number): Frame | undefined {
  const { route, position } = entry;
  if (route.muted || isEmpty(route.target) || entry.kind === 'assignment') return undefined;
  const base = { position, target: route.target, encodedAt: now };
  if (entry.kind !== 'notification' || entry.throttledOn !== null) {
    const { expiresAt, ttl } = (entry.kind === 'return' && entry.shown) || { expiresAt: null, ttl: null };
    return { ...base, expiresAt, bytes: Buffer.from(encodeChange(context, entry, now)), ttl };
  }
  if (isOffPanels(route)) return undefined;
  const { expiresAt, ttl } = entry;
  return { ...base, expiresAt, bytes: Buffer.from(encodeNotification(context, entry, now)), ttl };
}

/** The frames of entries with a target. An entry that cannot be encoded is reported and left out. */
export function* framesOf(
  context: FrameContext,
  entries: readonly Entry[],
  now: number,
  onError: (error: unknown) => void,
): Generator<Frame> {
  for (const entry of entries) {
    let frame: Frame | undefined;
    try {
      frame = frameOf(context, entry, now);
    } catch (error) {
      onError(error);
    }
    if (frame) yield frame;
  }
}

/** The bytes to send now; undefined when the notification has expired. */
export function bytesOf({ bytes, expiresAt, ttl, encodedAt }: Frame, now: number): Buffer | undefined {
  if (expiresAt === null || ttl === null) return bytes;
  if (expiresAt <= now) return undefined;
  return now - encodedAt <= staleMs ? bytes : withRemaining(bytes, remainingMs(expiresAt, ttl, now));
}

/** In texts of senders, JSON puts a backslash before each quotation mark, so this is found only as the name of the field. */
const remainingField = '"remainingMs":';

/** The event of a notification with another `remainingMs`. */
function withRemaining(bytes: Buffer, remaining: number): Buffer {
  const from = bytes.lastIndexOf(remainingField) + remainingField.length;
  return Buffer.concat([
    bytes.subarray(0, from),
    Buffer.from(String(remaining)),
    bytes.subarray(bytes.indexOf(',', from)),
  ]);
}

/** The most bytes of one write, and so the most that is buffered for a panel that does not read. */
const chunkBytes = 64 * 1024;

/** A range of the log for one panel: all of its events after a cursor, joined into one write. */
export interface Segment {
  /** The cursor after this range. */
  readonly to: number;
  /** undefined: the range has no event for that panel. */
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
      this.#bytes += frame.bytes.length;
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

  /** The next segment after `cursor` (at least `floor`) for a panel; `group` names panels with the same tags. */
  after(cursor: number, panel: PanelAddress, group: string, now: number): Segment {
    if (cursor < this.#lastById) return this.#join(cursor, panel, now);
    if (now - this.#segmentsAt > 1_000 || this.#segmentBytes > this.#maxBytes) this.#clearSegments();
    let ofGroup = this.#segments.get(group);
    if (!ofGroup) {
      if (this.#segments.size === 0) this.#segmentsAt = now;
      ofGroup = new Map();
      this.#segments.set(group, ofGroup);
    }
    let segment = ofGroup.get(cursor);
    if (!segment) {
      segment = this.#join(cursor, panel, now);
      ofGroup.set(cursor, segment);
      this.#segmentBytes += segment.bytes?.length ?? 0;
    }
    return segment;
  }

  #clearSegments(): void {
    this.#segments.clear();
    this.#segmentBytes = 0;
  }

  #join(cursor: number, panel: PanelAddress, now: number): Segment {
    const frames = this.#frames.slice(this.#indexAfter(cursor));
    return joinFrames(frames, panel, { now, upTo: this.#head });
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
      this.#bytes -= frame.bytes.length;
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

/** The next segment of these frames for a panel; its cursor is `upTo` when it has them all. */
export function joinFrames(
  frames: Iterable<Frame>,
  panel: PanelAddress,
  { now, upTo }: { readonly now: number; readonly upTo: number },
): Segment {
  const parts: Buffer[] = [];
  let size = 0;
  let notifications = 0;
  for (const frame of frames) {
    const bytes = reaches(frame.target, panel) ? bytesOf(frame, now) : undefined;
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
