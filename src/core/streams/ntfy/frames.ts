/**
 * The encoding of the streams of phones: entries of the log as messages of ntfy, each a line of JSON without its topic, which each
 * stream puts in front. Clients show what has the same `sequence_id` as one thing: a repeat changes it without a sound. What is taken care
 * of or off the panels is taken off with `message_clear`.
 */
import type { OptionalTexts } from '#contract/history/fields.ts';
import { labelsOf, runbookLabel, runbookLinkOf } from '#contract/history/labels.ts';
import { builtInStyles } from '#contract/routing/level-styles.ts';
import { createLruMap } from '../../limits/lru-map.ts';
import type { Clear, Entry, LiveNotification, Notification, Return } from '../../log/log.ts';
import { isOffPanels } from '../../log/route.ts';
import { isEmpty, type Target } from '../../log/target.ts';
import { clipBytes, inBytes, messageText } from '../../routing/message-text.ts';
import { type Encoding, type EncodingContext, isTakenCareOf } from '../encoding.ts';
import type { Frame } from '../frame-buffer.ts';
import { clickOf, instructionsNow, textOf } from '../phone-message.ts';
import { type RingingFrame, soundOf } from '../ring-pause.ts';
import { ntfyId, sequenceId } from './ids.ts';
import { type Filtered, runbookAction, SharedLines } from './lines.ts';

/** As long as ntfy's own server keeps messages. */
export const keptMs = 12 * 3_600_000;
/** As ntfy's own server takes them: some clients read no longer lines than 64 KiB. */
const messageBytes = 4_096;
/** Repeats of an alarm that expires, which are followed back to the first of them. */
const longestChain = 50;
const labelsShown = 8;

/** Sequences that are remembered, by the id of the notification. */
const remembered = 10_000;

type Event = 'message' | 'message_clear';

export interface NtfyFrame extends Frame, Omit<RingingFrame, 'rank'> {
  readonly sequence: string;
  /** The notification that is shown, if its alarm may have buttons. */
  readonly alarm?: string;
  /** The address of its runbook, for which the line has an action. */
  readonly runbook?: string;
  /** It takes off what was shown. */
  readonly takesOff?: true;
  /** What filters compare, as JSON of a {@link Filtered}. Absent: it is so in the line. */
  readonly filtered?: Buffer;
  /** The same of what takes its place where `unless` reaches: a client whose filter leaves that out must take off what it shows. */
  readonly next?: Buffer;
}

/** The frames of a batch of entries, and what is found out for them. */
interface Batch {
  readonly byPosition: ReadonlyMap<number, Entry>;
  readonly notifications: ReadonlyMap<string, Notification>;
}

export class NtfyEncoding implements Encoding {
  readonly lines = new SharedLines();
  readonly #context: EncodingContext;
  readonly #sequences = createLruMap<string, string>(remembered);

  constructor(context: EncodingContext) {
    this.#context = context;
  }

  async framesOf(
    entries: readonly Entry[],
    now: number,
    onError: (error: unknown) => void,
  ): Promise<readonly Frame[]> {
    const batch = {
      byPosition: new Map(entries.map((entry) => [entry.position, entry])),
      notifications: new Map(
        entries.flatMap((each) => (each.kind === 'notification' ? [[each.id, each]] : [])),
      ),
    };
    const frames: NtfyFrame[] = [];
    const firsts = new Map<string, NtfyFrame>();
    for (const entry of entries) {
      try {
        const frame = await this.#frameOf(entry, batch, now);
        if (!frame) continue;
        // Of the same in one batch only the last is sent, so it is a repeat if the first of them is.
        const first = firsts.get(frame.sequence);
        const isRepeat = first ? first.isRepeat : replaces(frame, frames.at(-1));
        const marked: NtfyFrame = isRepeat ? { ...frame, isRepeat } : frame;
        frames.push(marked);
        if (!first && !frame.takesOff) firsts.set(frame.sequence, marked);
      } catch (error) {
        onError(error);
      }
    }
    return lastStates(frames);
  }

  async pastFramesOf(
    entries: readonly Entry[],
    now: number,
    onError: (error: unknown) => void,
  ): Promise<readonly Frame[]> {
    const { history, tenant } = this.#context;
    const frames = await this.framesOf(entries, now, onError);
    const sent = new Set(frames.map(({ position }) => position));
    const notifications = entries.filter(
      ({ kind, position }) => kind === 'notification' && sent.has(position),
    );
    const records = await history.recordsAt(
      tenant,
      notifications.map(({ position }) => position),
    );
    const over = new Set(records.filter(isTakenCareOf).map(({ position }) => position));
    return frames.filter(({ position }) => !over.has(position));
  }

  /** The frame of a notification of the live set. */
  live(n: LiveNotification): Promise<NtfyFrame> {
    return this.#message(n, n, nothing);
  }

  async #frameOf(entry: Entry, batch: Batch, now: number): Promise<NtfyFrame | undefined> {
    const { route } = entry;
    if (route.muted || isEmpty(route.target)) return undefined;
    switch (entry.kind) {
      case 'assignment':
        return undefined;
      case 'notification':
        return entry.throttledOn !== null || isOffPanels(route)
          ? undefined
          : { ...(await this.#message(entry, entry, batch)), encodedAt: now };
      case 'return':
        return this.#returned(entry, batch, now);
      case 'clear':
        return this.#cleared(entry, batch, now);
      default:
        return this.#takenOff(entry, entry.id, batch, now);
    }
  }

  async #returned(entry: Return, batch: Batch, now: number): Promise<NtfyFrame | undefined> {
    const n = entry.shown ?? (await this.#find(entry.id, batch));
    return n && { ...(await this.#message(n, entry, batch)), encodedAt: now };
  }

  async #cleared(entry: Clear, batch: Batch, now: number): Promise<NtfyFrame | undefined> {
    const cleared = await this.#takenOff(entry, entry.id, batch, now);
    if (entry.reason === 'cleared' || !cleared) return cleared;
    const next = await this.#find(entry.by, batch);
    const isShown = next && !next.route.muted && !isOffPanels(next.route) && next.throttledOn === null;
    if (!isShown || (await this.#sequenceOf(next, batch)) !== cleared.sequence) return cleared;
    // The next one takes its place, where it is shown.
    const filtered = toBytes(filteredOf(next));
    const alsoHeld = (cleared.alsoHeld ?? 0) + filtered.length;
    return { ...cleared, unless: next.route.target, next: filtered, alsoHeld };
  }

  async #takenOff(
    entry: { readonly position: number; readonly at: number; readonly route: { readonly target: Target } },
    id: string,
    batch: Batch,
    now: number,
  ): Promise<NtfyFrame | undefined> {
    const n = await this.#find(id, batch);
    if (!n) return undefined;
    const sequence = await this.#sequenceOf(n, batch);
    const { position, at, route } = entry;
    const filtered = toBytes(filteredOf(n));
    return {
      ...{
        position,
        target: route.target,
        rank: n.rank,
        encodedAt: now,
        expiresAt: null,
        ttl: null,
        sequence,
      },
      ...{ takesOff: true, filtered, alsoHeld: filtered.length },
      bytes: this.#line('message_clear', sequence, position, at, {}),
    };
  }

  /** The message that shows `n`, sent as the entry `of`. */
  async #message(
    n: Notification,
    of: Notification | Return,
    batch: Batch,
  ): Promise<Omit<NtfyFrame, 'encodedAt'> & { readonly encodedAt: number }> {
    const sequence = await this.#sequenceOf(n, batch);
    const at = of.kind === 'return' ? of.at : of.receivedAt;
    const { position } = of;
    const plain = filteredOf(n);
    const instructions = instructionsNow(this.#context, n);
    const message = textOf(n, of);
    const isLonger = instructions !== null || message !== n.message;
    const filtered = isLonger ? toBytes(plain) : undefined;
    const click = clickOf(this.#context, n);
    const runbook = runbookLinkOf(n);
    const content = {
      ...plain,
      ...(isLonger && {
        title: n.title,
        message: messageText({ message, instructions }, messageBytes, inBytes),
      }),
      ...(click !== null && { click }),
      // The last field: see lines.ts.
      ...(runbook !== undefined && { actions: [runbookAction(runbook)] }),
    };
    return {
      ...{
        position,
        target: of.route.target,
        rank: n.rank,
        encodedAt: at,
        expiresAt: null,
        ttl: n.ttl,
        sequence,
      },
      sound: soundOf(n, of),
      ...(n.rank >= builtInStyles.info.rank && { alarm: n.id }),
      ...(runbook !== undefined && { runbook }),
      ...(filtered && { filtered, alsoHeld: filtered.length }),
      bytes: this.#line('message', sequence, position, at, content),
    };
  }

  #line(event: Event, sequence: string, position: number, at: number, content: object): Buffer {
    const time = Math.floor(at / 1000);
    const message = {
      id: ntfyId(this.#context.epoch, position),
      ...(sequence !== '' && { sequence_id: sequence }),
      ...{ time, expires: time + keptMs / 1000, event, ...content },
    };
    // Without the brace, as the topic comes in front of it.
    return Buffer.from(`${JSON.stringify(message).slice(1)}\n`);
  }

  async #find(id: string, { notifications }: Batch): Promise<Notification | undefined> {
    const { history, tenant } = this.#context;
    return notifications.get(id) ?? (await history.find(tenant, id));
  }

  /** Repeats with the same level have that of the first one. */
  async #sequenceOf(n: Notification, batch: Batch, depth = 0): Promise<string> {
    const known = this.#sequences.get(n.id);
    if (known !== undefined) return known;
    const sequence = await this.#newSequenceOf(n, batch, depth);
    this.#sequences.set(n.id, sequence);
    return sequence;
  }

  async #newSequenceOf(n: Notification, batch: Batch, depth: number): Promise<string> {
    if (n.key === null) return sequenceId(n.id);
    // It stays until an entry of the log takes it off, so the next one of its key is either a repeat of it, or rings.
    if (n.expiresAt === null) return sequenceId('key', n.key, ...lookOf(n));
    // It leaves the panels without an entry: unless it repeats one that stood, it must ring, although a phone may still show that.
    const before = depth < longestChain ? await this.#replacedBy(n, batch) : undefined;
    if (!before || String(lookOf(before)) !== String(lookOf(n))) return sequenceId(n.id);
    return this.#sequenceOf(before, batch, depth + 1);
  }

  /** The notification whose place `n` took: that is the entry before it. */
  async #replacedBy(n: Notification, batch: Batch): Promise<Notification | undefined> {
    const { history, tenant } = this.#context;
    const position = n.position - 1;
    const before =
      batch.byPosition.get(position) ?? (await history.readAfter(tenant, position - 1, 1)).entries[0];
    if (before?.kind !== 'clear' || before.reason !== 'replaced' || before.by !== n.id) return undefined;
    return this.#find(before.id, batch);
  }
}

const nothing: Batch = { byPosition: new Map(), notifications: new Map() };

/** What makes a repeat ring again when it changes. */
const lookOf = ({ rank, route }: Notification) => [rank, route.escalated?.times ?? 0];

/** Whether it takes the place of what the frame before it takes off, as the same thing. */
const replaces = ({ position, sequence }: NtfyFrame, before: NtfyFrame | undefined): boolean =>
  before?.next !== undefined && before.position === position - 1 && before.sequence === sequence;

/**
 * Of frames about the same thing for the same panels, only the last: a client that is behind must neither show what was taken off since
 * nor take off what it has got since.
 */
function lastStates(frames: readonly NtfyFrame[]): NtfyFrame[] {
  const later = new Set<string>();
  return frames
    .toReversed()
    .filter(({ sequence, target, unless }) => {
      // Where it is not for a client, it does nothing.
      if (unless) return true;
      const name = `${sequence} ${JSON.stringify(target)}`;
      if (later.has(name)) return false;
      later.add(name);
      return true;
    })
    .reverse();
}

/** The tags that ntfy's clients show as emoji, by the rank of the level, and the priorities. */
const looks = [
  { from: 50, priority: 5, tag: 'fire' },
  { from: 40, priority: 4, tag: 'rotating_light' },
  { from: 30, priority: 4, tag: 'warning' },
  { from: 20, priority: 3, tag: 'information_source' },
  { from: Number.NEGATIVE_INFINITY, priority: 2, tag: 'white_check_mark' },
] as const;

/** Fields of a message. Clients fail on other types, so they are exactly these. */
function filteredOf(n: Pick<Notification, 'title' | 'message' | 'rank' | 'level'> & OptionalTexts): Filtered {
  const look = looks.find(({ from }) => n.rank >= from) ?? looks[4];
  const runbook = runbookLinkOf(n);
  const labels = Object.entries(labelsOf(n.labels))
    .filter(([name]) => runbook === undefined || name !== runbookLabel)
    .slice(0, labelsShown);
  // Apps show each that is the name of an emoji as one: the tag of warnings is also their level.
  const tags = new Set([look.tag, n.level, ...(n.host === null ? [] : [n.host])]);
  return {
    ...(n.message === ''
      ? { message: clipBytes(n.title, messageBytes) }
      : { title: n.title, message: clipBytes(n.message, messageBytes) }),
    priority: look.priority,
    tags: [...tags, ...labels.map(([name, value]) => `${name}=${value}`)],
  };
}

const toBytes = (of: Filtered): Buffer => Buffer.from(JSON.stringify(of));
