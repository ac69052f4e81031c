/**
 * The encoding of Gotify: notifications as its messages, each a line of JSON. Its apps cannot take back or change what they show, so
 * an end, an acknowledgement or a shelf is no message; what comes back to the panels is a new one.
 */
import { hash } from 'node:crypto';
import { runbookLinkOf } from '#contract/history/labels.ts';
import { builtInLevels, builtInStyles } from '#contract/routing/level-styles.ts';
import { createLruMap } from '../../limits/lru-map.ts';
import type { Entry, History, Notification, Return } from '../../log/log.ts';
import { isOffPanels } from '../../log/route.ts';
import { isEmpty, type PanelAddress } from '../../log/target.ts';
import { clipBytes, instructionsTitle } from '../../routing/message-text.ts';
import {
  type Encoding,
  type EncodingContext,
  isFor,
  phonePanelOf,
  type StreamEncoder,
  type StreamKind,
} from '../encoding.ts';
import type { Frame } from '../frame-buffer.ts';
import { clickOf, instructionsNow, type MessageContext, textOf } from '../phone-message.ts';
import { type RingingFrame, RingPauses, soundOf } from '../ring-pause.ts';
import { gotifyId } from './ids.ts';

/** A message as it is sent. Clients fail where a field is missing or has another type. */
export interface GotifyMessage {
  readonly id: number;
  readonly appid: number;
  readonly title: string;
  readonly message: string;
  readonly priority: number;
  readonly date: string;
  /** `belfry`: the notification that it shows. */
  readonly extras: Readonly<Record<string, object>> & { readonly belfry: { readonly id: string } };
}

export interface MessageFrame extends Frame, Omit<RingingFrame, 'rank'> {
  /** The position of the notification that it shows. */
  readonly shows: number;
  readonly at: number;
}

export interface GotifyContext extends MessageContext, Pick<EncodingContext, 'tenant' | 'epoch'> {
  readonly history: Pick<History, 'find'>;
}

export const gotifyStreams: StreamKind = {
  name: 'gotify',
  heartbeats: 1,
  encoding: (context) => new GotifyEncoding(context),
  encoder: (context, encoding, panels) =>
    gotifyEncoder(context, encoding as GotifyEncoding, panels[0] as PanelAddress),
};

/** Streams get the same messages at almost the same time. */
const messagesKept = 64;
/** The most bytes of instructions in a message. */
const instructionsBytes = 4_096;

/** Only what is new: a client asks for older messages by their ids. Its WebSocket has a ping of its own. */
function gotifyEncoder(
  context: EncodingContext,
  encoding: GotifyEncoding,
  panel: PanelAddress,
): StreamEncoder {
  const { now } = context;
  let reader = phonePanelOf(context, panel);
  const pauses = new RingPauses();
  return {
    group: undefined,
    get panels() {
      return [reader.address];
    },
    bytesOf: (frame) =>
      isFor(frame, reader) ? encoding.bytesOf(frame, pauses.isSilent(frame, reader, now())) : undefined,
    ready: () => '',
    event: undefined,
    live: () => '',
    afterLive: () => '',
    heartbeat: () => '',
    update(changed) {
      reader = phonePanelOf(context, changed);
      return false;
    },
  };
}

/** The message as one that does not ring. */
const silenced = (bytes: Buffer): Buffer => {
  const message = JSON.parse(bytes.toString()) as GotifyMessage;
  return Buffer.from(
    `${JSON.stringify({ ...message, priority: Math.min(message.priority, silentPriority) })}\n`,
  );
};

export class GotifyEncoding implements Encoding {
  readonly #context: GotifyContext;
  /** By the message that rings. */
  readonly #silenced = createLruMap<Buffer, Buffer>(messagesKept);

  constructor(context: GotifyContext) {
    this.#context = context;
  }

  /** The message as a phone gets it, with or without a sound. */
  bytesOf({ bytes }: Frame, isSilent: boolean): Buffer {
    if (!isSilent) return bytes;
    const known = this.#silenced.get(bytes) ?? silenced(bytes);
    this.#silenced.set(bytes, known);
    return known;
  }

  async framesOf(
    entries: readonly Entry[],
    now: number,
    onError: (error: unknown) => void,
  ): Promise<readonly MessageFrame[]> {
    const frames: MessageFrame[] = [];
    for (const entry of entries) {
      try {
        const frame = await this.#frameOf(entry, entries, now);
        if (frame) frames.push(frame);
      } catch (error) {
        onError(error);
      }
    }
    return frames;
  }

  async #frameOf(entry: Entry, batch: readonly Entry[], now: number): Promise<MessageFrame | undefined> {
    const { route } = entry;
    if (route.muted || isEmpty(route.target)) return undefined;
    if (entry.kind === 'notification')
      return entry.throttledOn !== null || isOffPanels(route) ? undefined : this.#message(entry, entry, now);
    if (entry.kind !== 'return') return undefined;
    const { history, tenant } = this.#context;
    const inBatch = batch.find((each) => each.kind === 'notification' && each.id === entry.id);
    const shown =
      entry.shown ?? (inBatch as Notification | undefined) ?? (await history.find(tenant, entry.id));
    return shown && this.#message(shown, entry, now);
  }

  /** The message that shows `n`, sent as the entry `of`. */
  #message(n: Notification, of: Notification | Return, now: number): MessageFrame {
    const { position, route } = of;
    const at = of.kind === 'return' ? of.at : of.receivedAt;
    const message: GotifyMessage = {
      id: gotifyId(this.#context.epoch, position),
      appid: applicationId(this.#knownLevel(n.level)),
      ...{ title: n.title, message: this.#textOf(n, of), priority: priorityOf(n.rank) },
      date: new Date(at).toISOString(),
      extras: this.#extrasOf(n),
    };
    return {
      ...{ position, target: route.target, rank: n.rank, encodedAt: now, expiresAt: null, ttl: n.ttl },
      ...{ shows: n.position, at, sound: soundOf(n, of) },
      bytes: Buffer.from(`${JSON.stringify(message)}\n`),
    };
  }

  /** Each message has an application in the list, also that of a level which is deleted. */
  #knownLevel(level: string): string {
    return this.#context.snapshot()?.levels.has(level) === false ? 'info' : level;
  }

  /** Why it is sent again, the message, and below it what to do. */
  #textOf(n: Notification, of: Notification | Return): string {
    const instructions = instructionsNow(this.#context, n);
    const runbook = runbookLinkOf(n);
    return [
      textOf(n, of),
      instructions === null ? '' : `${instructionsTitle}:\n${clipBytes(instructions, instructionsBytes)}`,
      runbook === undefined ? '' : `Runbook: ${runbook}`,
    ]
      .filter((part) => part !== '')
      .join('\n\n');
  }

  #extrasOf(n: Notification) {
    const click = clickOf(this.#context, n);
    return {
      belfry: { id: n.id },
      ...(click !== null && { 'client::notification': { click: { url: click } } }),
    };
  }
}

/** Gotify's own scale, as its app rings: from 1 low, from 4 with a sound, from 8 on the screen. Publishing reads it as `warning` and `error`. */
const priorities = [
  { from: builtInStyles.critical.rank, priority: 10 },
  { from: builtInStyles.error.rank, priority: 8 },
  { from: builtInStyles.warning.rank, priority: 5 },
  { from: builtInStyles.info.rank, priority: 2 },
] as const;
const lowestPriority = 1;
const silentPriority = 2;

export const priorityOf = (rank: number): number =>
  priorities.find(({ from }) => rank >= from)?.priority ?? lowestPriority;

/** An application of Gotify stands for a level: the same number for a name, in every tenant. */
export function applicationId(level: string): number {
  const index = (builtInLevels as readonly string[]).indexOf(level);
  return index >= 0 ? index + 1 : 1_000 + Number.parseInt(hash('sha256', level, 'hex').slice(0, 7), 16);
}
