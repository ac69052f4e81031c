/** Syslog messages of RFC 5424 and the older RFC 3164, parsed as leniently as other receivers do. */
import { type Item, usualLevel } from '#integrations/format.ts';
import type { SentLabel } from '#integrations/payload.ts';

/** By number. */
export const syslogSeverities = [
  'emerg',
  'alert',
  'crit',
  'err',
  'warning',
  'notice',
  'info',
  'debug',
] as const;
export type SyslogSeverity = (typeof syslogSeverities)[number];

export interface SyslogMessage {
  readonly severity: SyslogSeverity;
  /** A host name or an address. */
  readonly host: string | undefined;
  readonly program: string | undefined;
  readonly text: string;
  /** The parameters of the structured data. */
  readonly labels?: readonly SentLabel[];
}

/** RFC 3164: user.notice. */
const usualPriority = 13;
const modern = /^1 (\S{1,64}) (\S{1,255}) (\S{1,128}) (\S{1,128}) (\S{1,64})(?: |$)/;
const date = '[*.]?(?:\\d{4} )?[A-Z][a-z]{2} {1,2}\\d{1,2}(?: \\d{4})? \\d\\d:\\d\\d:\\d\\d(?:\\.\\d+)?';
/** Starts with a time of RFC 3164, or the ISO time that many programs write instead. A long name of a zone is only Cisco's. */
const older = new RegExp(
  `^(?:${date}|\\d{4}-\\d\\d-\\d\\dT\\S+)(?: [A-Z]{3,4}| [A-Z][A-Za-z]{1,31}(?=: %))?:? +`,
);
/**
 * Cisco's head: counters, the name or address of the device (its origin-id), a part of it, a time and a process, each optional,
 * before a mnemonic; some have no mnemonic. A clock that is not set has an asterisk. As in
 * `45: sw1: *Nov 27 10:11:12.345 CET: %LINK-3-UPDOWN: Interface Gi0/1, changed state to down`.
 */
const ciscoHead =
  /(?:\d{0,10}: ){0,2}:?(?:(?!\d+ ?: )(?<device>[A-Za-z\d][\w.:-]{0,254}?) ?: )?(?:[A-Z]{2}\/[\w/]{1,40}:)?/
    .source;
const ciscoTime = `${date}(?: [\\w+:-]{1,32}?)? ?: `;
const mnemonicText = /(?:[\w.-]{1,64}\[\d{0,10}\]: )?%(?<mnemonic>[A-Z][\w-]{0,60}-[0-7]-\w{1,60}) ?: */
  .source;
const cisco = new RegExp(`^${ciscoHead}(?:${ciscoTime})?${mnemonicText}`);
const ciscoWithoutMnemonic = new RegExp(`^(?=\\d{0,10}:)${ciscoHead}${ciscoTime}`);
/** A counter is no program. */
const tag = /^(?!\d+:)([^\s:[\]]{1,48})(?:\[[^\]\s]{0,48}\])?: ?/;

/** What a syslogd writes without a host. */
const repeated = /^last message (?:repeated|buffered) \d/;

/** How rsyslog forwards tabs and line ends. Behind a space, or before another digit, it may be a number, as in `ticket #012` or `PR#0123`. */
const rsyslogEscape = /(?<=\S)#01([12])(?!\d)/g;

/** The colour of a terminal, as rsyslog forwards it. */
const escapedColour = /#033\[[\d;]{0,40}m/g;

/** A text without a priority is a message, too. Undefined when it is blank. */
export function parseSyslog(bytes: Buffer): SyslogMessage | undefined {
  const line = withoutLineEnd(decode(bytes));
  const [whole = '', number] = /^<(\d{1,3})>/.exec(line) ?? [];
  const priority = number === undefined || Number(number) > 191 ? usualPriority : Number(number);
  const severity = syslogSeverities[priority % 8] ?? 'notice';
  const rest = line.slice(whole.length);
  const parsed = parseModern(rest) ?? parseOlder(rest);
  const text = parsed.text
    .replaceAll(escapedColour, '')
    .replace(rsyslogEscape, (_, code: string) => (code === '1' ? '\t' : '\n'));
  return text.trim() === '' ? undefined : { severity, ...parsed, text };
}

export function itemOfSyslog({ severity, host, program, text, labels }: SyslogMessage, source: string): Item {
  const [line = ''] = text.trim().split('\n', 1);
  return {
    title: program === undefined ? line : `${program}: ${line}`,
    message: text,
    severity,
    level: usualLevel(severity, 'info'),
    source: host ?? source,
    labels,
  };
}

type Parsed = Omit<SyslogMessage, 'severity'>;

function parseModern(rest: string): Parsed | undefined {
  const head = modern.exec(rest);
  if (!head) return undefined;
  const [whole, , host, program, , id] = head;
  const { labels, text } = structuredData(rest.slice(whole.length));
  const message = text.replace(/^\ufeff/, '');
  const data = labels.map(([name, value]) => `${name}="${value}"`);
  return {
    host: named(host),
    program: named(program),
    // Junos sends all in the name of the message and its data.
    text:
      message.trim() === '' ? [named(id), ...data].filter((each) => each !== undefined).join(' ') : message,
    labels,
  };
}

const named = (text: string | undefined) => (text === '-' ? undefined : text);

/** Elements that are about the message itself, by RFC 5424. */
const metaElements = ['timeQuality', 'origin', 'meta'];

/** After `-` or the elements `[id name="value"]…`, whose values may contain escaped quotes and brackets, follows the text. */
function structuredData(rest: string): { labels: readonly SentLabel[]; text: string } {
  if (rest.startsWith('-')) return { labels: [], text: rest.slice(1).trimStart() };
  const element = /\[([^\s="\]]{1,32})((?: [^\s="\]]{1,32}="(?:[^"\\\]]|\\.)*")*)\]/sy;
  const labels: SentLabel[] = [];
  let at = 0;
  while (rest[at] === '[') {
    element.lastIndex = at;
    const [, id = '', values = ''] = element.exec(rest) ?? [];
    if (id === '') break;
    if (!metaElements.includes(id)) labels.push(...parametersIn(values));
    at = element.lastIndex;
  }
  return { labels, text: rest.slice(at).trimStart() };
}

const parametersIn = (values: string): readonly SentLabel[] =>
  Array.from(values.matchAll(/([^\s="\]]+)="((?:[^"\\\]]|\\.)*)"/gs), ([, name, value = '']) => [
    name,
    value.replace(/\\(["\\\]])/g, '$1'),
  ]);

function parseOlder(rest: string): Parsed {
  const time = older.exec(rest)?.[0];
  let text = time === undefined ? rest : rest.slice(time.length);
  let host: string | undefined;
  // There is a host only after a time, and a tag is not a host.
  const first = time === undefined || repeated.test(text) ? undefined : /^(\S{1,255}) +(?=\S)/.exec(text);
  if (first && !first[1]?.endsWith(':') && !/\[\d*\]:?$/.test(first[1] ?? '')) {
    host = first[1];
    text = text.slice(first[0].length);
  }
  const head = cisco.exec(text) ?? ciscoWithoutMnemonic.exec(text);
  if (head?.groups) {
    const { device, mnemonic } = head.groups;
    return { host: device ?? host, program: mnemonic, text: text.slice(head[0].length) };
  }
  const found = tag.exec(text);
  return { host, program: found?.[1], text: found ? text.slice(found[0].length) : text };
}

/** No regular expression: on a long run of line ends within a text it takes quadratic time. */
function withoutLineEnd(text: string): string {
  let end = text.length;
  while (end > 0 && '\r\n\0'.includes(text.charAt(end - 1))) end--;
  return text.slice(0, end);
}

/** UTF-8, or Latin-1 where it is none. */
function decode(bytes: Buffer): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return bytes.toString('latin1');
  }
}

/** Messages in a stream (RFC 6587): each is preceded by its length in bytes, or ended by a line feed or a zero byte. */

export interface Frames {
  readonly frames: readonly Buffer[];
  /** A message is too long, so the start of the next one is unknown, or is cut off. The messages before it are included. */
  readonly isBroken: boolean;
}

/** A length is followed by a message, which begins with its priority. Other numbers are text. */
const counted = /^([1-9]\d{0,7}) </;
const mayBecomeCounted = /^[1-9]\d{0,7} ?$/;

/** Splits a stream into messages. Keeps an incomplete message until the rest arrives. */
export class SyslogFrames {
  readonly #maxBytes: number;
  #rest = Buffer.alloc(0);
  /** How much of the rest was searched and contains no end of a message. */
  #scanned = 0;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  /** Returns the messages that are now complete. */
  push(chunk: Buffer): Frames {
    const bytes = this.#rest.length === 0 ? chunk : Buffer.concat([this.#rest, chunk]);
    const frames: Buffer[] = [];
    let at = 0;
    for (;;) {
      const found = this.#next(bytes, at);
      if (found === 'too long') return { frames, isBroken: true };
      if (!found) break;
      if (found.to > found.from) frames.push(bytes.subarray(found.from, found.to));
      at = found.next;
    }
    this.#rest = Buffer.from(bytes.subarray(at));
    return { frames, isBroken: this.#rest.length > this.#maxBytes + 10 };
  }

  /** Returns the last message, which has no end of its own. One that is shorter than its length is broken. */
  end(): Frames {
    const isCounted = counted.test(this.#rest.toString('latin1', 0, 10));
    const isBroken = isCounted || this.#rest.length > this.#maxBytes;
    return { frames: this.#rest.length === 0 || isBroken ? [] : [this.#rest], isBroken };
  }

  #next(bytes: Buffer, at: number): { from: number; to: number; next: number } | 'too long' | undefined {
    const head = bytes.toString('latin1', at, at + 10);
    const length = counted.exec(head)?.[1];
    if (length !== undefined) {
      const from = at + length.length + 1;
      const to = from + Number(length);
      if (to - from > this.#maxBytes) return 'too long';
      return to <= bytes.length ? { from, to, next: to } : undefined;
    }
    if (mayBecomeCounted.test(head)) return undefined;
    for (let to = at + this.#scanned; to < bytes.length; to++) {
      if (bytes[to] === 0x0a || bytes[to] === 0) {
        this.#scanned = 0;
        return to - at > this.#maxBytes ? 'too long' : { from: at, to, next: to + 1 };
      }
    }
    this.#scanned = bytes.length - at;
    return undefined;
  }
}
