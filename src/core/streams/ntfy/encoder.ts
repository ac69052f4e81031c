/** The streams of phones: what one client gets of the messages in `frames.ts`. */
import { buttonsOf } from '#contract/panels/buttons.ts';
import type { LiveNotification } from '../../log/log.ts';
import type { PanelAddress } from '../../log/target.ts';
import {
  type EncodingContext,
  isFor,
  type PhonePanel,
  phonePanelOf,
  type StreamEncoder,
  type StreamKind,
} from '../encoding.ts';
import { RingPauses } from '../ring-pause.ts';
import { NtfyEncoding, type NtfyFrame } from './frames.ts';
import { ntfyId } from './ids.ts';
import type { ButtonLinks, Buttons, FilteredLine } from './lines.ts';

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
  /** undefined: its messages have none. */
  readonly buttons: Buttons | undefined;
}

function ntfyEncoder(
  context: EncodingContext,
  encoding: NtfyEncoding,
  panels: readonly PanelAddress[],
  reading: NtfyReading,
): StreamEncoder {
  const { topics, filter, after = '', isPoll = false, isIphone = false, isSocket = false } = reading;
  const { epoch, now } = context;
  const isFiltered = Object.keys(filter).length > 0;
  const isLeftOut = (shown: Pick<NtfyFrame, 'bytes' | 'filtered'>) =>
    isFiltered && !passes(filter, encoding.lines.filteredOf(shown));
  let readers = panels.map((panel) => readerOf(context, panel, reading));
  // A poll or a filter may leave out what rings in other streams of the panel.
  const pauses = new RingPauses(isPoll || isFiltered ? undefined : context);
  const names = [...topics.values()].join(',');
  const event = (kind: string, cursor: number) =>
    `${JSON.stringify({ id: ntfyId(epoch, cursor), time: Math.floor(now() / 1000), event: kind, topic: names })}\n`;
  const bytesOf = (sent: Omit<NtfyFrame, 'encodedAt' | 'sequence'>): Buffer | undefined => {
    if (isIphone && sent.takesOff) return undefined;
    const { bytes, next } = sent;
    const isLast = next && isLeftOut({ bytes, filtered: next });
    const frame = isLast ? { ...sent, unless: undefined } : sent;
    // An alarm of several topics is one to an app, which knows messages by their ids: so it comes once.
    const reader = readers.find((each) => isFor(frame, each));
    if (!reader) return undefined;
    // A filter by priority means that of the alarm, in quiet hours, too.
    if (isLeftOut(frame)) return undefined;
    const isSilent = !frame.takesOff && pauses.isSilent(frame, reader, now());
    return encoding.lines.lineOf(frame, reader.prefix, isSilent, reader.buttons);
  };
  return {
    // Each has a topic and links of its own.
    group: undefined,
    get panels() {
      return readers.map(({ address }) => address);
    },
    bytesOf,
    // Before a live set a client has nothing yet: continuing after this id must not skip it.
    ready({ resume }, { cursor }) {
      if (resume === 'replayed') pauses.resume(readers, cursor);
      return isPoll ? '' : event('open', resume === 'replayed' ? cursor : 0) + after;
    },
    event: undefined,
    async live(n: LiveNotification, { head }) {
      if (n.acknowledged) return '';
      // It may have come back since its notification, and stands as at the head.
      return bytesOf({ ...(await encoding.live(n)), position: head })?.toString() ?? '';
    },
    afterLive: () => '',
    heartbeat: (cursor) => (isSocket || isPoll ? '' : event('keepalive', cursor)),
    update(changed) {
      readers = readers.map((each) =>
        each.address.id === changed.id ? readerOf(context, changed, reading) : each,
      );
      return false;
    },
  };
}

function readerOf(
  context: EncodingContext,
  panel: PanelAddress,
  { topics, buttons: links }: NtfyReading,
): Reader {
  const { id } = panel;
  const display = context.snapshot()?.panels.get(id)?.display;
  const shown = buttonsOf(display?.actions);
  const language = display?.locale?.startsWith('de') ? 'de' : 'en';
  return {
    ...phonePanelOf(context, panel),
    prefix: Buffer.from(`{"topic":${JSON.stringify(topics.get(id) ?? '')},`),
    buttons:
      links && shown.length > 0
        ? {
            shown,
            language,
            name: `${language} ${shown}`,
            start: Buffer.from(JSON.stringify(links.start(id)).slice(1, -1)),
            end: links.end,
          }
        : undefined,
  };
}

const usualPriority = 3;

const passes = ({ id, message, title, priorities, tags }: NtfyFilter, sent: FilteredLine): boolean =>
  (id === undefined || sent.id === id) &&
  (message === undefined || sent.message === message) &&
  (title === undefined || sent.title === title) &&
  (priorities?.includes(sent.priority ?? usualPriority) ?? true) &&
  (tags?.every((tag) => sent.tags?.includes(tag)) ?? true);
