/** Syslog messages of RFC 5424 and the older RFC 3164, parsed as leniently as other receivers do. */
import type { Item } from '#integrations/format.ts';
import { usualLevel } from '#integrations/severity.ts';

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
}

/** RFC 3164: user.notice. */
const usualPriority = 13;
const modern = /^1 (\S{1,64}) (\S{1,255}) (\S{1,128}) (\S{1,128}) (\S{1,64})(?: |$)/;
/** Starts with a time of RFC 3164, or the ISO time that many programs write instead. */
const older =
  /^(?:[A-Z][a-z]{2} [ \d]\d(?: \d{4})? \d\d:\d\d:\d\d(?:\.\d+)?|\d{4}-\d\d-\d\dT\S+)(?: [A-Z]{3,4})?:? +/;
/**
 * Cisco's head: counters, the name of the device and a time, each optional, before a mnemonic. A clock that is not set has an
 * asterisk. As in `45: sw1: *Nov 27 10:11:12.345 CET: %LINK-3-UPDOWN: Interface Gi0/1, changed state to down`.
 */
const cisco = new RegExp(
  [
    /^(?:\d{0,10}: ?){0,2}(?:(?<device>[A-Za-z][\w.-]{0,254}) ?: )?/,
    /(?:[*.]?(?:\d{4} )?[A-Z][a-z]{2} [ \d]\d (?:\d{4} )?\d\d:\d\d:\d\d(?:\.\d+)?(?: \w{1,5})?: )?/,
    /%(?<mnemonic>[A-Z][A-Z0-9_-]{0,60}-[0-7]-\w{1,60}) ?: */,
  ]
    .map(({ source }) => source)
    .join(''),
);
const tag = /^([^\s:[\]]{1,48})(?:\[[^\]\s]{0,48}\])?: ?/;

/** How rsyslog forwards tabs and line ends. Behind a space, or before another digit, it may be a number, as in `ticket #012` or `PR#0123`. */
const rsyslogEscape = /(?<=\S)#01([12])(?!\d)/g;

/** A text without a priority is a message, too. Undefined when it is blank. */
export function parseSyslog(bytes: Buffer): SyslogMessage | undefined {
  const line = withoutLineEnd(decode(bytes));
  const [whole = '', number] = /^<(\d{1,3})>/.exec(line) ?? [];
  const priority = number === undefined || Number(number) > 191 ? usualPriority : Number(number);
  const severity = syslogSeverities[priority % 8] ?? 'notice';
  const rest = line.slice(whole.length);
  const parsed = parseModern(rest) ?? parseOlder(rest);
  const text = parsed.text.replace(rsyslogEscape, (_, code: string) => (code === '1' ? '\t' : '\n'));
  return text.trim() === '' ? undefined : { severity, ...parsed, text };
}

export function itemOfSyslog({ severity, host, program, text }: SyslogMessage, source: string): Item {
  const [line = ''] = text.trim().split('\n', 1);
  return {
    title: program === undefined ? line : `${program}: ${line}`,
    message: text,
    severity,
    level: usualLevel(severity, 'info'),
    source: host ?? source,
  };
}

type Parsed = Omit<SyslogMessage, 'severity'>;

function parseModern(rest: string): Parsed | undefined {
  const head = modern.exec(rest);
  if (!head) return undefined;
  const [whole, , host, program] = head;
  const text = withoutStructuredData(rest.slice(whole.length));
  return { host: named(host), program: named(program), text: text.replace(/^\ufeff/, '') };
}

const named = (text: string | undefined) => (text === '-' ? undefined : text);

/** The text after `-` or the elements `[id name="value"]…`, whose values may contain escaped quotes and brackets. */
function withoutStructuredData(rest: string): string {
  if (rest.startsWith('-')) return rest.slice(1).trimStart();
  const element = /\[[^\s="\]]{1,32}(?: [^\s="\]]{1,32}="(?:[^"\\\]]|\\.)*")*\]/sy;
  let at = 0;
  while (rest[at] === '[') {
    element.lastIndex = at;
    if (!element.test(rest)) break;
    at = element.lastIndex;
  }
  return rest.slice(at).trimStart();
}

function parseOlder(rest: string): Parsed {
  const time = older.exec(rest)?.[0];
  let text = time === undefined ? rest : rest.slice(time.length);
  let host: string | undefined;
  // There is a host only after a time, and a tag is not a host.
  const first = time === undefined ? undefined : /^(\S{1,255}) +(?=\S)/.exec(text);
  if (first && !first[1]?.endsWith(':') && !/\[\d*\]:?$/.test(first[1] ?? '')) {
    host = first[1];
    text = text.slice(first[0].length);
  }
  const head = cisco.exec(text);
  if (head?.groups)
    return {
      host: head.groups.device ?? host,
      program: head.groups.mnemonic,
      text: text.slice(head[0].length),
    };
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
