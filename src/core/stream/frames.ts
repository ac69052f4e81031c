/** Encodes entries of the log as events of a stream. */
import { mapOptionalTexts } from '#contract/history/fields.ts';
import type { NotificationEvent } from '#contract/history/notification.ts';
import { encodeSse, formatCursor } from '#contract/panels/sse.ts';
import type {
  Acknowledged,
  Acknowledgement,
  Clear,
  Entry,
  LiveNotification,
  Notification,
} from '../ports.ts';
import type { Target } from '../target.ts';
import { isEmpty } from '../target.ts';
import { iso, isoOrNull } from '../time.ts';

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
export const acknowledgedView = (given: Acknowledged | null) =>
  given && { at: iso(given.at), by: given.by, note: given.note };

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
    sourceIp: n.sourceIp,
    receivedAt: iso(n.receivedAt),
    expiresAt: isoOrNull(n.expiresAt),
    escalated: n.route.escalated
      ? { times: n.route.escalated.times, since: iso(n.route.escalated.since) }
      : null,
  };
}

export function notificationEvent(
  n: Notification & Partial<Pick<LiveNotification, 'count' | 'acknowledged'>>,
  now: number,
): NotificationEvent {
  return {
    ...contentOf(n),
    remainingMs: n.expiresAt === null ? null : remainingMs(n.expiresAt, n.ttl, now),
    count: n.count ?? 0,
    acknowledged: acknowledgedView(n.acknowledged ?? null),
  };
}

/** At most the ttl, because the clock may have been ahead on arrival and corrected since. */
function remainingMs(expiresAt: number, ttl: number, now: number): number {
  return Math.min(ttl, Math.max(0, expiresAt - now));
}

/** A live notification includes its count and acknowledgement; otherwise they follow as events. */
export function encodeNotification(epoch: string, n: Notification | LiveNotification, now: number): string {
  return encodeSse({
    event: 'notification',
    id: formatCursor(epoch, n.position),
    data: notificationEvent(n, now),
  });
}

function encodeClear(epoch: string, { position, id, reason, by }: Clear): string {
  return encodeSse({ event: 'clear', id: formatCursor(epoch, position), data: { id, position, reason, by } });
}

function encodeAcknowledgement(epoch: string, { position, id, at, by, note }: Acknowledgement): string {
  const data = { id, position, at: iso(at), by, note };
  return encodeSse({ event: 'acknowledge', id: formatCursor(epoch, position), data });
}

/** A throttle suppressed one more notification: the panel raises the count on the shown one. */
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
function encodeChange(epoch: string, entry: Entry): string {
  if (entry.kind === 'clear') return encodeClear(epoch, entry);
  return entry.kind === 'acknowledgement'
    ? encodeAcknowledgement(epoch, entry)
    : encodeThrottled(epoch, entry);
}

/** The frame of an entry; undefined if it goes to no panel (muted, or without a target). */
export function frameOf(epoch: string, entry: Entry, now: number): Frame | undefined {
  const { route, position } = entry;
  if (route.muted || isEmpty(route.target)) return undefined;
  const base = { position, target: route.target, encodedAt: now };
  if (entry.kind !== 'notification' || entry.throttledOn !== null)
    return { ...base, expiresAt: null, bytes: Buffer.from(encodeChange(epoch, entry)), ttl: null };
  const { expiresAt, ttl } = entry;
  return { ...base, expiresAt, bytes: Buffer.from(encodeNotification(epoch, entry, now)), ttl };
}

/** The frames of entries with a target. An entry that cannot be encoded is reported and left out. */
export function* framesOf(
  epoch: string,
  entries: readonly Entry[],
  now: number,
  onError: (error: unknown) => void,
): Generator<Frame> {
  for (const entry of entries) {
    let frame: Frame | undefined;
    try {
      frame = frameOf(epoch, entry, now);
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
