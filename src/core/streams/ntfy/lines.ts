/**
 * What the lines of thousands of streams about one message share. Each stream has its own topic at the beginning of a line, and its own
 * links in the buttons, so a line is joined from parts that are made once.
 */
import { buttonLabels } from '#contract/panels/button-labels.ts';
import type { Button } from '#contract/panels/buttons.ts';
import { createLruMap } from '../../limits/lru-map.ts';
import type { LinkedAction } from '../../people/action-links.ts';

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

/** What subscriptions may be limited to. */
export type FilteredLine = Pick<NtfyMessage, 'id' | 'title' | 'message' | 'priority' | 'tags'>;
/** What of it is the same for all lines about a notification. */
export type Filtered = Omit<FilteredLine, 'id'>;

/** A link is the address that both return, one after the other. */
export interface ButtonLinks {
  /** The beginning of all links of this client. */
  readonly start: (panel: string) => string;
  /** The end, which is the same for all clients of the tenant. */
  readonly end: (of: Omit<LinkedAction, 'tenant'>) => string;
}

/** The buttons of a stream. */
export interface Buttons {
  readonly shown: readonly Button[];
  readonly language: 'en' | 'de';
  /** Both of these as one text, made once: streams of the same name share the parts of a line. */
  readonly name: string;
  /** The beginning of its links, as it is in JSON. */
  readonly start: Buffer;
  readonly end: ButtonLinks['end'];
}

interface Shown {
  readonly position: number;
  /** The line without its beginning. */
  readonly bytes: Buffer;
  /** The notification that it shows, if it may have buttons. */
  readonly alarm?: string;
  /** The address of its runbook: the line ends with the action for it. */
  readonly runbook?: string;
  /** What filters compare, if it is not so in the line. */
  readonly filtered?: Buffer;
}

/** Streams get the same messages at almost the same time. */
const messagesKept = 64;

export class SharedLines {
  /** By the rest of the line, and by what differs between streams. */
  readonly #parts = createLruMap<Buffer, Map<string, readonly Buffer[]>>(messagesKept);
  readonly #filtered = createLruMap<Buffer, FilteredLine>(messagesKept);

  /** The line of a stream. `prefix`: it begins with that. */
  lineOf(frame: Shown, prefix: Buffer, isSilent: boolean, buttons: Buttons | undefined): Buffer {
    if (!buttons && !isSilent) return Buffer.concat([prefix, frame.bytes]);
    const [first, ...others] = this.#partsOf(frame, isSilent, buttons);
    const line = [prefix, first as Buffer];
    for (const part of others) line.push(buttons?.start as Buffer, part);
    return Buffer.concat(line);
  }

  /** What filters compare. */
  filteredOf({ bytes, filtered }: Pick<Shown, 'bytes' | 'filtered'>): FilteredLine {
    const key = filtered ?? bytes;
    let found = this.#filtered.get(key);
    if (!found) {
      const line = messageIn(bytes);
      found = filtered ? { id: line.id, ...(JSON.parse(filtered.toString()) as Filtered) } : line;
      this.#filtered.set(key, found);
    }
    return found;
  }

  /** What stands before, between and after the places of the links' beginning. */
  #partsOf(frame: Shown, isSilent: boolean, buttons: Buttons | undefined): readonly Buffer[] {
    let ofFrame = this.#parts.get(frame.bytes);
    if (!ofFrame) {
      ofFrame = new Map();
      this.#parts.set(frame.bytes, ofFrame);
    }
    const named = buttons?.name ?? '';
    const name = isSilent ? `silent ${named}` : named;
    let parts = ofFrame.get(name);
    if (!parts) {
      const bytes = isSilent ? silenced(frame.bytes) : frame.bytes;
      parts = buttons ? withButtons({ ...frame, bytes }, buttons) : [bytes];
      ofFrame.set(name, parts);
    }
    return parts;
  }
}

const messageIn = (bytes: Buffer) => JSON.parse(`{${bytes.toString()}`) as NtfyMessage;

/** Apps show it without a sound. */
const silentPriority = 2;

/** The rest of a line, as of a message that does not ring. */
function silenced(bytes: Buffer): Buffer {
  return Buffer.from(`${JSON.stringify({ ...messageIn(bytes), priority: silentPriority }).slice(1)}\n`);
}

const lineEnd = '}\n';

/** Opens the runbook. */
export const runbookAction = (url: string) => ({
  ...{ id: 'runbook', action: 'view', label: 'Runbook', clear: false },
  url,
});

/** Apps post to the addresses of buttons without the credential of the stream. */
function withButtons(
  { bytes, alarm, runbook, position }: Shown,
  { shown, language, end }: Buttons,
): Buffer[] {
  if (alarm === undefined || shown.length === 0) return [bytes];
  const others = runbook === undefined ? '' : JSON.stringify(runbookAction(runbook));
  const given = others === '' ? lineEnd : `,"actions":[${others}]${lineEnd}`;
  const before = Buffer.concat([bytes.subarray(0, -Buffer.byteLength(given)), Buffer.from(',"actions":[')]);
  const lastEnd = `${others === '' ? '' : `,${others}`}]${lineEnd}`;
  const texts = shown.map((button, i) => {
    const fields = {
      id: button,
      action: 'http',
      label: buttonLabels[button][language],
      clear: true,
      method: 'POST',
    };
    const url = end({ notification: alarm, position, button });
    const isLast = i === shown.length - 1;
    return {
      head: `${JSON.stringify(fields).slice(0, -1)},"url":"`,
      tail: `${JSON.stringify(url).slice(1)}}${isLast ? lastEnd : ','}`,
    };
  });
  return [
    Buffer.concat([before, Buffer.from(texts[0]?.head ?? '')]),
    ...texts.map(({ tail }, i) => Buffer.from(tail + (texts[i + 1]?.head ?? ''))),
  ];
}
