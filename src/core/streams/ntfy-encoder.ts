/** The streams of phones: what one client gets of the messages in `ntfy-frames.ts`. */
import { minRankOf } from '#contract/routing/level-styles.ts';
import type { LiveNotification } from '../log/log.ts';
import { type PanelAddress, reaches } from '../log/target.ts';
import type { EncodingContext, StreamEncoder, StreamKind } from './encoding.ts';
import type { Frame } from './frame-buffer.ts';
import { NtfyEncoding } from './ntfy-frames.ts';
import { ntfyId } from './ntfy-ids.ts';

/** What a client asks for. Fields that are not set let everything through. */
export interface NtfyFilter {
  readonly id?: string;
  readonly message?: string;
  readonly title?: string;
  /** Any of them. */
  readonly priorities?: readonly number[];
  /** All of them. */
  readonly tags?: readonly string[];
}

export interface NtfyReading {
  /** The topic of each panel, as the client names it. */
  readonly topics: ReadonlyMap<string, string>;
  readonly filter: NtfyFilter;
  /** What follows the first line. */
  readonly after?: string;
  /** A poll: no first line, no keepalive. */
  readonly isPoll?: boolean;
  /** A WebSocket, which has a ping of its own. */
  readonly isSocket?: boolean;
}

/** A message as it is sent. */
export interface NtfyMessage {
  readonly id: string;
  readonly event: string;
  readonly topic: string;
  readonly title?: string;
  readonly message?: string;
  readonly priority?: number;
  readonly tags?: readonly string[];
}

/** The name of {@link StreamKind} that all streams of phones share. */
const name = 'phones';

export const phoneStreams = (reading: NtfyReading): StreamKind => ({
  name,
  heartbeats: 3,
  encoding: (context) => new NtfyEncoding(context),
  encoder: (context, encoding, panels) => ntfyEncoder(context, encoding as NtfyEncoding, panels, reading),
});

/** A topic, and the panel that it stands for. */
interface Reader {
  readonly address: PanelAddress;
  readonly minRank: number;
  readonly prefix: Buffer;
}

function ntfyEncoder(
  context: EncodingContext,
  encoding: NtfyEncoding,
  panels: readonly PanelAddress[],
  { topics, filter, after = '', isPoll = false, isSocket = false }: NtfyReading,
): StreamEncoder {
  const { epoch, now } = context;
  let readers = panels.map((panel) => readerOf(context, panel, topics));
  const nameOf = () => JSON.stringify([readers.map(({ address, minRank }) => [address, minRank]), filter]);
  let group = nameOf();
  const names = [...topics.values()].join(',');
  const event = (kind: string, cursor: number) =>
    `${JSON.stringify({ id: ntfyId(epoch, cursor), time: Math.floor(now() / 1000), event: kind, topic: names })}\n`;
  const bytesOf = (frame: Pick<Frame, 'target' | 'unless' | 'rank' | 'bytes'>): Buffer | undefined => {
    // An alarm of several topics is one to an app, which knows messages by their ids: so it comes once.
    const reader = readers.find((each) => isFor(frame, each));
    const line = reader && Buffer.concat([reader.prefix, frame.bytes]);
    return line && passes(filter, line) ? line : undefined;
  };
  return {
    get group() {
      return group;
    },
    get panels() {
      return readers.map(({ address }) => address);
    },
    bytesOf,
    ready: (_data, { cursor }) => (isPoll ? '' : event('open', cursor) + after),
    event: undefined,
    async live(n: LiveNotification) {
      if (n.acknowledged) return '';
      const frame = { target: n.route.target, rank: n.rank, bytes: await encoding.live(n) };
      return bytesOf(frame)?.toString() ?? '';
    },
    afterLive: () => '',
    heartbeat: (cursor) => (isSocket || isPoll ? '' : event('keepalive', cursor)),
    update(changed) {
      readers = readers.map((each) =>
        each.address.id === changed.id ? readerOf(context, changed, topics) : each,
      );
      group = nameOf();
      return false;
    },
  };
}

function readerOf(
  { snapshot }: EncodingContext,
  { id, tags }: PanelAddress,
  topics: ReadonlyMap<string, string>,
): Reader {
  const known = snapshot();
  const display = known?.panels.get(id)?.display;
  return {
    address: { id, tags },
    minRank: known && display ? minRankOf(display, known.levels) : Number.NEGATIVE_INFINITY,
    prefix: Buffer.from(`{"topic":${JSON.stringify(topics.get(id) ?? '')},`),
  };
}

const isFor = (
  { target, unless, rank = Number.POSITIVE_INFINITY }: Pick<Frame, 'target' | 'unless' | 'rank'>,
  { address, minRank }: Reader,
) => rank >= minRank && reaches(target, address) && !(unless && reaches(unless, address));

const usualPriority = 3;

function passes(filter: NtfyFilter, line: Buffer): boolean {
  if (Object.keys(filter).length === 0) return true;
  const sent = JSON.parse(line.toString()) as NtfyMessage;
  const { id, message, title, priorities, tags } = filter;
  if (id !== undefined && sent.id !== id) return false;
  // What is taken off has none of these fields.
  if (sent.event !== 'message') return true;
  return (
    (message === undefined || sent.message === message) &&
    (title === undefined || sent.title === title) &&
    (priorities?.includes(sent.priority ?? usualPriority) ?? true) &&
    (tags?.every((tag) => sent.tags?.includes(tag)) ?? true)
  );
}
