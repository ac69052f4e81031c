/** The interface of formats: from a sender's payload to items, and from an item to the fields of a notification. */
import { createHash, randomUUID } from 'node:crypto';
import type { OptionalText } from '#contract/history/fields.ts';
import { type Labels, runbookLabel } from '#contract/history/labels.ts';
import { limits } from '#contract/limits.ts';
import { canonicalAddress } from '#core/addresses.ts';
import { AppError, badRequest } from '#core/errors.ts';
import type { RetryKey } from '#core/intake/idempotency.ts';
import { type CheckedFields, checkFields, checkTtl } from '#core/intake/notification.ts';
import type { HistoryRecord } from '#core/log/log.ts';
import {
  type JsonObject,
  longestText,
  objectsAt,
  type PayloadWork,
  type SentLabel,
  textOf,
} from './payload.ts';

/** The optional texts of an item; its source gives host and address. */
type ItemText = Exclude<OptionalText, 'host' | 'ip' | 'labels'>;

/** One alert or message of a payload. Its texts may have any length; they are cut to the limits of the fields. */
export interface Item extends Readonly<Partial<Record<ItemText, string | undefined>>> {
  readonly title: string | undefined;
  /** Blank or absent: the title is the message. */
  readonly message?: string | undefined;
  /** The sender's own word for how serious it is, in lower case. `?level=` maps it to a level. */
  readonly severity: string;
  /** The level if `?level=` does not map the severity. */
  readonly level: string;
  /** What it is about: a host name, an address, either with a port, or a URL. */
  readonly source?: string | undefined;
  readonly key?: string | undefined;
  /** What the sender sorts it by. Names and values are made to fit, and of equal names the first stays. */
  readonly labels?: readonly SentLabel[] | undefined;
  /**
   * It goes on until an item with the same key ends it. Panels show it until then, unless the address has a ttl or its level is
   * `info` or `success`: those have the time of their level.
   */
  readonly isFiring?: boolean;
  /** Dropped unless it is an http or https link. */
  readonly url?: string | undefined;
  /** Unique for each event. An item with the same identity is a repeat; an item without one is always new. */
  readonly identity?: string | undefined;
}

export interface Payload {
  /** The value of a JSON body, a form as an object of texts, a plain text, or the bytes of a file; undefined without a body. */
  readonly body: unknown;
  /** @throws AppError `bad-request` when it is given twice or cannot be read. */
  readonly header: (name: string) => string | undefined;
  /** In lower case. */
  readonly headerNames?: readonly string[];
  readonly query: URLSearchParams;
  /** The parameters of the path. */
  readonly params: Readonly<Record<string, string>>;
  /** Counts what a format reads more than once. Not given: it is not bounded. */
  readonly work?: PayloadWork;
  /** The alert with the key that {@link Format.alertKey} returns; undefined if none is found. */
  readonly alert?: StoredAlert | undefined;
}

/** An alert as it is stored. */
export type StoredAlert = Pick<HistoryRecord, 'id' | 'title' | 'sentLevel' | 'labels'>;

export interface Stored {
  readonly id: string;
  readonly fields: CheckedFields;
}

export interface Answer {
  readonly status: 200 | 202;
  /** A text is sent as plain text, anything else as JSON. */
  readonly body: unknown;
}

/** The I/O that a format needs to verify a payload. */
export interface Outside {
  /** The text at an https URL that the format has checked. @throws Error when there is none in time. */
  readonly fetchText: (url: string) => Promise<string>;
  readonly now: number;
}

/** The payloads of one kind of sender. */
export interface Format {
  /** The items of a payload, in their order. @throws AppError `bad-request` when it is no payload of this sender. */
  readonly read: (payload: Payload) => readonly Item[];
  /** Runs before `read`. @throws AppError when the payload is not genuine. */
  readonly verify?: (payload: Payload, outside: Outside) => Promise<void>;
  /**
   * Set when the body may be a text of any content type: always, then a file too, or where it is no JSON (`otherwise`). Not
   * given: it is JSON, a form or plain text.
   */
  readonly takesAnyText?: 'always' | 'otherwise';
  /**
   * Set when something else than a shared word for `critical` can make an item critical: matches a JSON text that may contain it.
   */
  readonly criticalPattern?: RegExp;
  /** The key of an alert that the payload names without its texts: to end it, or to acknowledge it. */
  readonly alertKey?: (payload: Payload) => string | undefined;
  /** Whether the payload acknowledges that alert. */
  readonly acknowledges?: (payload: Payload) => boolean;
  /** How many files the JSON holds, which are ignored. */
  readonly countFiles?: (payload: Payload) => number;
  /** The answer that this sender expects when everything is stored. Not given: `{"ok": true, "items": […]}`. */
  readonly answer?: (stored: readonly Stored[], payload: Payload, now: number) => Answer;
}

/** The title of a payload that ends an alert: with the alert's own title, if it is known, and else with `name`. */
export function endTitle(word: string, name: string, { alert }: Payload): string {
  // It has ended before.
  if (alert?.title.startsWith(`${word}: `)) return alert.title;
  return `${word}: ${alert?.title ?? name}`;
}

/**
 * The fields of an item. `ttl` is that of the address: it is for all items but those that end an alert, which have the time of their level.
 * @throws AppError `bad-request` when it has neither title nor message.
 */
export function fieldsOf(item: Item, { words, others }: LevelMap, ttl?: number): CheckedFields {
  const message = cut(item.message ?? '', limits.messageChars);
  const title =
    cut(oneLine(item.title?.slice(0, longestText) ?? ''), limits.titleChars) ||
    cut(oneLine(message), limits.titleChars);
  if (title === '') throw badRequest('the payload holds neither a title nor a message');
  const level = words.get(item.severity) ?? others ?? item.level;
  const stays = item.isFiring && level !== 'info' && level !== 'success';
  return checkFields({
    title,
    message: message.trim() === '' ? title : message,
    level,
    ttl: item.level === 'success' ? undefined : (ttl ?? (stays ? 0 : undefined)),
    ...textsOf(item),
    labels: item.labels && fittingLabels(item.labels),
  });
}

/** Each is made to fit its field: a text that checkFields refuses would lose the alert. */
function textsOf({
  source,
  key,
  url,
}: Item): Partial<Record<Exclude<OptionalText, 'labels'>, string | undefined>> {
  return {
    ...sourceOf(source),
    key: key === undefined ? undefined : keyOf(key),
    url: linkOf(url),
  };
}

/** The first labels that there is room for, of equal names the first. A character that a name cannot have becomes `_`; a long value is cut, but not a link. */
function fittingLabels(given: readonly SentLabel[]): Labels {
  const labels = new Map<string, readonly [name: string, value: string]>();
  for (const [name, value] of given) {
    if (labels.size === limits.labels) break;
    const [named, text] = [textOf(name), typeof value === 'string' ? value : textOf(value)];
    if (named === undefined || text === undefined) continue;
    const fitting = fittingName(named);
    if (fitting === runbookLabel && text.length > limits.labelValueChars) continue;
    const folded = fitting.toLowerCase();
    if (!labels.has(folded)) labels.set(folded, [fitting, cut(text, limits.labelValueChars)]);
  }
  return Object.fromEntries(labels.values());
}

/** `5xx` becomes `_5xx`. */
const fittingName = (name: string) =>
  name
    .slice(0, 63)
    .replace(/[^A-Za-z0-9_.-]/g, '_')
    .replace(/^(?=[^A-Za-z_])/, '_')
    .slice(0, 63);

/** The items of a list. Of a storm, the first 1,000 and one that counts the rest. @throws AppError as {@link objectsAt}. */
export function itemsOf(
  list: unknown,
  pointer: string,
  read: (value: JsonObject, pointer: string) => Item,
): readonly Item[] {
  const items = objectsAt(list, pointer).map((value, i) => read(value, `${pointer}/${i}`));
  const all = (list as readonly unknown[]).length;
  if (all === items.length) return items;
  const first = items[0]?.identity;
  return [
    ...items,
    {
      title: `${all - items.length} more were not stored`,
      message: `A payload had ${all} items, of which the first ${items.length} were stored.`,
      severity: 'truncated',
      level: 'warning',
      identity: first && JSON.stringify([all, first, items.at(-1)?.identity]),
    },
  ];
}

/**
 * The key by which a repeat of the item is detected. An item with a key is a state of its alert: only the newest state can be
 * repeated, and an item without an identity never is. Null if it has neither: each item is new.
 */
export function retryKeyOf(format: string, { identity }: Item, fields: CheckedFields): RetryKey | null {
  if (fields.key !== null)
    return { key: `${format}:key:${hash(fields.key)}`, state: identity ?? randomUUID() };
  if (identity === undefined) return null;
  // Other labels are another notification, as another title is. Without any, the key is that of versions that had none.
  const content = JSON.stringify([identity, { ...fields, labels: fields.labels ?? undefined }]);
  return { key: `${format}:${hash(content)}` };
}

const hash = (text: string) => createHash('sha256').update(text).digest('base64url');

/** Zero bytes, and the escapes with which programs colour a terminal. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: the pattern finds control characters to remove them
const invisible = /\0|\x1b\[[\d;:?]{0,40}[A-Za-z]/g;

/** At most `max` characters, with an ellipsis where the rest was cut off. */
function cut(text: string, max: number): string {
  const clean = text.slice(0, longestText).toWellFormed().replace(invisible, '').trim();
  if (clean.length <= max) return clean;
  // Counts code points; each has at most 2 units, so the rest need not be read.
  const characters = Array.from(clean.slice(0, 2 * max + 2));
  return characters.length <= max ? clean : `${characters.slice(0, max - 1).join('')}…`;
}

const oneLine = (text: string) => text.trim().split(/[\r\n]/, 1)[0] ?? '';

/** A key that is too long is replaced by its hash, so that a resolve still finds its alert. */
export function keyOf(key: string): string | undefined {
  const clean = key.toWellFormed().replaceAll('\0', '').trim();
  if (clean === '') return undefined;
  return clean.length <= limits.keyChars ? clean : hash(clean);
}

/** An http or https link without user and password; undefined for anything else. */
export function linkOf(text: string | undefined): string | undefined {
  const link = text?.trim();
  if (!link || link.length > limits.urlChars || !link.isWellFormed()) return undefined;
  const url = /^https?:\/\//i.test(link) && !/[\s\p{Cc}]/u.test(link) ? URL.parse(link) : null;
  if (!url?.hostname) return undefined;
  if (url.username === '' && url.password === '') return link;
  // A password must not reach panels and exports.
  url.username = '';
  url.password = '';
  return url.href.length <= limits.urlChars ? url.href : undefined;
}

/** The host name or address in `db-01:9100`, `10.0.0.5:9100`, `[fd00::5]:9100`, `https://example.org/health`. */
function sourceOf(source: string | undefined): Readonly<Record<'host' | 'ip', string | undefined>> {
  const text = source?.trim() ?? '';
  const named = /^[a-z][a-z0-9+.-]*:\/\//i.test(text) ? (URL.parse(text)?.hostname ?? '') : text;
  const bare = /^\[([^\]]+)\](?::\d+)?$/.exec(named)?.[1] ?? named.replace(/^([^:]+):\d+$/, '$1');
  const ip = canonicalAddress(bare);
  if (ip !== undefined) return { host: undefined, ip };
  const isHost =
    bare !== '' && bare.isWellFormed() && !/[\s\p{Cc}]/u.test(bare) && bare.length <= limits.hostChars;
  return { host: isHost ? bare : undefined, ip: undefined };
}

/** Words that many senders share. A format with words of its own has a table of its own. */
const levelOfWord: Readonly<Record<string, readonly string[]>> = {
  critical: ['critical', 'crit', 'fatal', 'disaster', 'emergency', 'emerg', 'panic', 'alert', 'page', 'p1'],
  error: ['error', 'err', 'high', 'major', 'failure', 'failed', 'fail', 'danger', 'down', 'alarm', 'p2'],
  warning: ['warning', 'warn', 'average', 'medium', 'moderate', 'minor', 'degraded', 'pending', 'p3'],
  info: ['info', 'information', 'informational', 'notice', 'low', 'debug', 'none', 'normal', 'p4', 'p5'],
  success: ['success', 'successful', 'ok', 'up', 'good', 'resolved', 'recovered', 'recovery', 'passed'],
};

const usualLevels: ReadonlyMap<string, string> = new Map(
  Object.entries(levelOfWord).flatMap(([level, words]) => words.map((word) => [word, level] as const)),
);

/** The level of a word that senders share, and `otherwise` for any other. */
export function usualLevel(word: string, otherwise: string): string {
  return usualLevels.get(word) ?? otherwise;
}

/** A word for `critical` as a whole string of JSON, or an escape that may spell one. */
const criticalString = new RegExp(String.raw`"\s*(?:${levelOfWord.critical?.join('|')})\s*"|\\u00`, 'i');

/** Whether a JSON text may contain a critical item, by the shared words alone. False is certain. */
export const mayHoldCritical = (json: string): boolean => criticalString.test(json);

/** The value of `?level=`: the level of each word, and the level of all other words. */
interface LevelMap {
  readonly words: ReadonlyMap<string, string>;
  readonly others: string | undefined;
}

const example = 'write level=critical:alarm,warning:warn, and a level alone for every other word';

/**
 * Reads `critical:alarm,warning:warn,info`: a word of the sender with its level, and a level alone for every other word.
 * @throws AppError `bad-request` when it cannot be read.
 */
export function parseLevelMap(texts: readonly string[]): LevelMap {
  const words = new Map<string, string>();
  let others: string | undefined;
  const entries = texts.flatMap((text) => text.split(',')).filter((entry) => entry.trim() !== '');
  for (const entry of entries) {
    const at = entry.lastIndexOf(':');
    const word = entry.slice(0, Math.max(at, 0)).trim().toLowerCase();
    const level = entry
      .slice(at + 1)
      .trim()
      .toLowerCase();
    if (!limits.levelPattern.test(level) || (at >= 0 && word === '')) throw invalid(`"${entry}" is no level`);
    if (at < 0 ? others !== undefined : words.has(word)) throw invalid(`"${entry}" is a second level`);
    if (at < 0) others = level;
    else words.set(word, level);
  }
  return { words, others };
}

const invalid = (problem: string) =>
  new AppError('bad-request', `level in the query: ${problem.slice(0, 200)}; ${example}`, {
    place: { parameter: 'level' },
  });

/**
 * The value of `?ttl=` or of the header `X-TTL`: how long panels show what is sent there, in milliseconds; undefined: not given.
 * @throws AppError `bad-request` when it cannot be read.
 */
export function parseTtl(given: readonly string[], header: string | undefined): number | undefined {
  const [text, second] = given.filter((each) => each.trim() !== '');
  if (second !== undefined)
    throw new AppError('bad-request', 'ttl is given twice in the query', { place: { parameter: 'ttl' } });
  const sent = (text ?? header ?? '').trim();
  return sent === '' ? undefined : (checkTtl(/^\d{1,15}$/.test(sent) ? Number(sent) : sent) ?? undefined);
}

/** A sender's word in the form in which tables contain it. */
export const wordOf = (text: string): string => text.trim().toLowerCase();
