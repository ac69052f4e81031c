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
const tag = /^([^\s:[\]]{1,48})(?:\[[^\]\s]{0,48}\])?: ?/;

/** A text without a priority is a message, too. Undefined when it is blank. */
export function parseSyslog(bytes: Buffer): SyslogMessage | undefined {
  const line = withoutLineEnd(decode(bytes));
  const [whole = '', number] = /^<(\d{1,3})>/.exec(line) ?? [];
  const priority = number === undefined || Number(number) > 191 ? usualPriority : Number(number);
  const severity = syslogSeverities[priority % 8] ?? 'notice';
  const rest = line.slice(whole.length);
  const parsed = parseModern(rest) ?? parseOlder(rest);
  return parsed.text.trim() === '' ? undefined : { severity, ...parsed };
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
