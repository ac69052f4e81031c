/** The encoding of the streams of screens: entries of the log as Server-Sent Events. */
import { mapOptionalTexts } from '#contract/history/fields.ts';
import { labelsOf } from '#contract/history/labels.ts';
import type { NotificationEvent } from '#contract/history/notification.ts';
import type { ReadyEvent } from '#contract/panels/panel.ts';
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
import { isEmpty, type PanelAddress, reaches } from '../log/target.ts';
import { instructionsText } from '../routing/instructions.ts';
import type { Router } from '../routing/router.ts';
import { iso, isoOrNull } from '../time/time.ts';
import type { EncodingContext, StreamEncoder, StreamKind } from './encoding.ts';
import type { Frame } from './frame-buffer.ts';

/** What the events of a log need besides its entries. */
export interface FrameContext {
  readonly epoch: string;
  /** The rules as they are now; undefined: none have been read. */
  readonly router: () => Pick<Router, 'instructing'> | undefined;
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

type ScreenContext = FrameContext & Pick<EncodingContext, 'now'>;

/** The streams of screens. */
export const screenStreams: StreamKind = {
  name: 'screens',
  heartbeats: 1,
  encoding: (context) => ({
    framesOf: (entries, now, onError) => framesOf(context, entries, now, onError),
  }),
  encoder: (context, _encoding, panels) => new ScreenEncoder(context, panels[0] as PanelAddress),
};

/** The stream of a screen. A class, as a wall has thousands of them. */
class ScreenEncoder implements StreamEncoder {
  readonly #context: ScreenContext;
  panels: readonly [PanelAddress];
  group: string;

  constructor(context: ScreenContext, panel: PanelAddress) {
    this.#context = context;
    this.panels = [panel];
    this.group = groupOf(panel);
  }

  bytesOf(frame: Frame, now: number): Buffer | undefined {
    return reaches(frame.target, this.panels[0]) ? bytesOf(frame, now) : undefined;
  }

  ready(data: ReadyEvent, { retryMs }: { readonly retryMs: number }): string {
    return encodeSse({ event: 'ready', data, retryMs });
  }

  event(event: string, data: unknown): string {
    return encodeSse({ event, data });
  }

  live(n: LiveNotification, { now }: { readonly now: number }): string {
    return encodeNotification(this.#context, n, now);
  }

  afterLive(head: number): string {
    return this.heartbeat(head);
  }

  heartbeat(head: number): string {
    const { epoch, now } = this.#context;
    const data = { serverTime: iso(now()), head };
    return encodeSse({ event: 'heartbeat', id: formatCursor(epoch, head), data });
  }

  update(panel: PanelAddress): boolean {
    if (groupOf(panel) === this.group) return false;
    this.panels = [panel];
    this.group = groupOf(panel);
    return true;
  }
}

function groupOf({ tags }: PanelAddress): string {
  return JSON.stringify([...tags].sort());
}
