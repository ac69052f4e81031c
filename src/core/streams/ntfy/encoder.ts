/** The streams of phones: what one client gets of the messages in `frames.ts`. */
import { type Button, buttonsOf } from '#contract/panels/buttons.ts';
import type { LiveNotification } from '../../log/log.ts';
import type { PanelAddress } from '../../log/target.ts';
import type { ActionLink } from '../../people/action-links.ts';
import {
  type EncodingContext,
  isFor,
  isQuietFor,
  type PhonePanel,
  phonePanelOf,
  type StreamEncoder,
  type StreamKind,
} from '../encoding.ts';
import { NtfyEncoding, type NtfyFrame } from './frames.ts';
import { ntfyId } from './ids.ts';

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
  /** The app for iPhones: it shows each line as a message, so it gets nothing else. */
  readonly isIphone?: boolean;
  /** A WebSocket, which has a ping of its own. */
  readonly isSocket?: boolean;
  /** Absent: the client may not act, so its notifications have no buttons. */
  readonly buttons?: ButtonLinks;
}

export interface ButtonLinks {
  /** Equal for clients that get the same addresses. */
  readonly group: string;
  /** The address to which a button of a notification posts. */
  readonly urlOf: (pressed: Omit<ActionLink, 'tenant' | 'credential'>) => string;
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
interface Reader extends PhonePanel {
  readonly prefix: Buffer;
  readonly buttons: readonly Button[];
  readonly isGerman: boolean;
}

function ntfyEncoder(
  context: EncodingContext,
  encoding: NtfyEncoding,
  panels: readonly PanelAddress[],
  reading: NtfyReading,
): StreamEncoder {
  const { topics, filter, after = '', isPoll = false, isIphone = false, isSocket = false } = reading;
  const { buttons: links } = reading;
  const { epoch, now } = context;
  let readers = panels.map((panel) => readerOf(context, panel, topics));
  const names = [...topics.values()].join(',');
  const nameOf = () =>
    JSON.stringify([
      readers.map(({ prefix: _, quiet: __, ...reader }) => reader),
      names,
      filter,
      links?.group,
      isIphone,
    ]);
  let group = nameOf();
  const event = (kind: string, cursor: number) =>
    `${JSON.stringify({ id: ntfyId(epoch, cursor), time: Math.floor(now() / 1000), event: kind, topic: names })}\n`;
  const bytesOf = (
    frame: Pick<NtfyFrame, 'target' | 'unless' | 'rank' | 'bytes' | 'alarm' | 'takesOff'>,
  ): Buffer | undefined => {
    if (isIphone && frame.takesOff) return undefined;
    // An alarm of several topics is one to an app, which knows messages by their ids: so it comes once.
    const reader = readers.find((each) => isFor(frame, each));
    if (!reader) return undefined;
    // A filter by priority means that of the alarm, in quiet hours, too.
    if (!passes(filter, reader, frame)) return undefined;
    const isSilent = !frame.takesOff && isQuietFor(frame, reader, now());
    const bytes = isSilent ? silenced(frame.bytes) : frame.bytes;
    return Buffer.concat([reader.prefix, ...withButtons({ ...frame, bytes }, reader, links)]);
  };
  return {
    // Those that ring, and those in their quiet hours, get other bytes.
    get group() {
      const at = now();
      const quiet = readers.flatMap(({ quiet: hours, address }) => (hours?.isQuiet(at) ? [address.id] : []));
      return quiet.length === 0 ? group : `${group} ${quiet.join()}`;
    },
    get panels() {
      return readers.map(({ address }) => address);
    },
    bytesOf,
    // Before a live set a client has nothing yet: continuing after this id must not skip it.
    ready: ({ resume }, { cursor }) =>
      isPoll ? '' : event('open', resume === 'replayed' ? cursor : 0) + after,
    event: undefined,
    async live(n: LiveNotification) {
      if (n.acknowledged) return '';
      return bytesOf(await encoding.live(n))?.toString() ?? '';
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
  context: EncodingContext,
  panel: PanelAddress,
  topics: ReadonlyMap<string, string>,
): Reader {
  const { id } = panel;
  const display = context.snapshot()?.panels.get(id)?.display;
  return {
    ...phonePanelOf(context, panel),
    buttons: buttonsOf(display?.actions),
    isGerman: display?.locale?.startsWith('de') ?? false,
    prefix: Buffer.from(`{"topic":${JSON.stringify(topics.get(id) ?? '')},`),
  };
}

/** Apps show it without a sound. */
const silentPriority = 2;

/** The rest of a line, as of a message that does not ring. */
function silenced(bytes: Buffer): Buffer {
  const message = JSON.parse(`{${bytes.toString()}`) as NtfyMessage;
  return Buffer.from(`${JSON.stringify({ ...message, priority: silentPriority }).slice(1)}\n`);
}

/** The end of a line. */
const lineEnd = Buffer.from('}\n');

const labels = {
  acknowledge: { en: 'Acknowledge', de: 'Quittieren' },
  shelve: { en: 'Shelve for 1 h', de: '1 h zurückstellen' },
} as const;

/** The rest of a line, with the buttons of the panel. Apps post to their addresses without the credential of the stream. */
function withButtons(
  { bytes, alarm }: Pick<NtfyFrame, 'bytes' | 'alarm'>,
  { address, buttons, isGerman }: Reader,
  links: ButtonLinks | undefined,
): Buffer[] {
  if (!links || alarm === undefined || buttons.length === 0) return [bytes];
  const actions = buttons.map((button) => ({
    id: button,
    action: 'http',
    label: labels[button][isGerman ? 'de' : 'en'],
    clear: true,
    method: 'POST',
    url: links.urlOf({ panel: address.id, notification: alarm, button }),
  }));
  const end = Buffer.from(`,"actions":${JSON.stringify(actions)}`);
  return [bytes.subarray(0, -lineEnd.length), end, lineEnd];
}

const usualPriority = 3;

function passes(
  filter: NtfyFilter,
  { prefix }: Pick<Reader, 'prefix'>,
  { bytes }: Pick<NtfyFrame, 'bytes'>,
): boolean {
  if (Object.keys(filter).length === 0) return true;
  const sent = JSON.parse(Buffer.concat([prefix, bytes]).toString()) as NtfyMessage;
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
