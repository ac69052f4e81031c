/** Validates a sender's fields. Error messages name the field, the problem and the correct form. */

import {
  type FieldName,
  mapOptionalTexts,
  type OptionalText,
  type OptionalTexts,
  optionalTextsOf,
} from '#contract/history/fields.ts';
import { labelsText } from '#contract/history/labels.ts';
import { limits } from '#contract/limits.ts';
import { isPlainObject } from '#contract/plain-object.ts';
import { builtInLevels } from '#contract/routing/level-styles.ts';
import { parseDurationOrMs } from '#contract/time.ts';
import { canonicalAddress } from '../addresses.ts';
import { badRequest } from '../errors.ts';
import { checkCron } from '../time/cron.ts';
import { checkTimeZone } from '../time/time.ts';

/** The unvalidated fields, of any type; undefined (or null in JSON) means absent. */
export type SentFields = { readonly [K in FieldName]?: unknown };

export interface CheckedFields extends OptionalTexts {
  readonly title: string;
  readonly message: string;
  readonly level: string;
  readonly ttl: number | null;
  /** Absent instead of undefined if there is no expectation, because retries are compared by their fields. */
  readonly expect?: Expectation;
}

/** The expectation that the next notification of the key arrives in time. */
export interface Expectation {
  /** Milliseconds; 0 ends the expectation. Without it and `cron`, only the end of what began is expected. */
  readonly everyMs?: number;
  readonly cron?: string;
  /** By default that of the tenant. */
  readonly timeZone?: string;
  readonly graceMs?: number;
  /** This notification says that work began; its end is expected. */
  readonly isStart?: true;
  /** The level of the notification that Belfry sends when it is missing. */
  readonly level: string;
}

/** The fields of a stored notification that is sent once more, with this level and time on panels. */
export const fieldsOfStored = (
  stored: OptionalTexts & Pick<CheckedFields, 'title' | 'message'>,
  { level, ttl }: Pick<CheckedFields, 'level' | 'ttl'>,
): CheckedFields => ({
  ...{ title: stored.title, message: stored.message },
  ...{ level, ttl, ...optionalTextsOf(stored) },
});

/** @throws AppError `bad-request` for the first field that is wrong, in the order of the table of fields. */
export function checkFields(sent: SentFields): CheckedFields {
  return {
    title: text('title', sent.title, limits.titleChars, (value) => value.trim()),
    message: text('message', sent.message, limits.messageChars, (value) => value),
    level: checkLevel(sent.level),
    ttl: checkTtl(sent.ttl),
    ...mapOptionalTexts((name) => {
      const value = sent[name];
      if (value === undefined || value === null) return null;
      return name === 'labels' ? checkLabels(value) : checkText[name](wellFormed(name, value).trim());
    }),
    ...expectationOf(sent),
  };
}

/** What is not given is absent, because retries are compared by their fields. */
function expectationOf(sent: SentFields): { expect?: Expectation } {
  const { key, expectEvery, expectCron, expectTimeZone, expectGrace, expectStart, expectLevel } = sent;
  const isStart = isGiven(expectStart) && checkStart(expectStart);
  const given = { expectEvery, expectCron, expectStart: isStart || undefined };
  const named = Object.entries(given).find(([, value]) => isGiven(value))?.[0];
  if (named === undefined) {
    if (isGiven(expectGrace)) throw badRequest('expectGrace needs expectEvery, expectCron or expectStart');
    if (isGiven(expectTimeZone)) throw badRequest('expectTimeZone needs expectCron');
    return {};
  }
  if (isGiven(expectEvery) && isGiven(expectCron))
    throw badRequest('expectEvery and expectCron exclude each other: send one of them');
  if (!isGiven(key))
    throw badRequest(`${named} needs a key: it is the next notification of that key which is expected`);
  if (isGiven(expectTimeZone) && !isGiven(expectCron)) throw badRequest('expectTimeZone needs expectCron');
  const { expectMinMs, expectMaxMs } = limits;
  const everyMs = isGiven(expectEvery)
    ? checkDuration(
        expectEvery,
        (ms) => ms === 0 || (ms >= expectMinMs && ms <= expectMaxMs),
        'expectEvery must be a duration from 1s to 31d, as in 5m, or milliseconds; 0 ends it',
      )
    : undefined;
  const graceMs = isGiven(expectGrace)
    ? checkDuration(
        expectGrace,
        (ms) => ms >= 0 && ms <= expectMaxMs,
        'expectGrace must be a duration from 0 to 31d, as in 30m, or milliseconds',
      )
    : undefined;
  if (everyMs === 0 && isStart)
    throw badRequest('expectEvery: 0 ends the expectation, expectStart begins one');
  const timeZone = isGiven(expectTimeZone) ? wellFormed('expectTimeZone', expectTimeZone).trim() : undefined;
  if (timeZone !== undefined) checkTimeZone(timeZone, 'expectTimeZone');
  const cron = isGiven(expectCron)
    ? checkCron(wellFormed('expectCron', expectCron), 'expectCron')
    : undefined;
  return {
    expect: {
      ...(everyMs !== undefined && { everyMs }),
      ...(cron !== undefined && { cron }),
      ...(timeZone !== undefined && { timeZone }),
      ...(graceMs !== undefined && { graceMs }),
      ...(isStart && { isStart }),
      level: checkLevel(expectLevel ?? 'error', 'expectLevel'),
    },
  };
}

const isGiven = (value: unknown) => value !== undefined && value !== null;

/** Milliseconds. @throws AppError `bad-request` with `message`. */
function checkDuration(value: unknown, isInRange: (ms: number) => boolean, message: string): number {
  const ms = typeof value === 'string' ? parseDurationOrMs(value.trim()) : value;
  if (typeof ms !== 'number' || !Number.isInteger(ms) || !isInRange(ms)) throw badRequest(message);
  return ms;
}

function checkStart(value: unknown): boolean {
  const text = String(value).trim().toLowerCase();
  if (text === '1' || text === 'true') return true;
  if (text === '0' || text === 'false') return false;
  throw badRequest('expectStart must be 1 when work begins, or 0');
}

/** The number of Unicode code points, which is close to what people count. */
function characters(value: string): number {
  let count = value.length;
  for (let i = 0; i < value.length - 1; i++) {
    const unit = value.charCodeAt(i);
    if (unit >= 0xd800 && unit <= 0xdbff) count -= 1;
  }
  return count;
}

/** Whether a text has more than `max` characters. Counts only if the length in UTF-16 units does not decide it. */
function exceeds(value: string, max: number): boolean {
  return value.length > max && (value.length > 2 * max || characters(value) > max);
}

function wellFormed(field: string, value: unknown): string {
  if (typeof value !== 'string') throw badRequest(`${field} must be a string, not ${describe(value)}`);
  const problem = textProblem(value);
  if (problem) throw badRequest(`${field} ${problem}`);
  return value;
}

function describe(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'an array';
  return typeof value === 'object' ? 'an object' : `a ${typeof value}`;
}

function text(
  field: 'title' | 'message',
  value: unknown,
  max: number,
  shape: (value: string) => string,
): string {
  if (value === undefined || value === null) throw badRequest(`${field} is required`);
  const shaped = shape(wellFormed(field, value));
  if (shaped.trim() === '') throw badRequest(`${field} is required`);
  if (exceeds(shaped, max))
    throw badRequest(`${field} must have at most ${max} characters, not ${characters(shaped)}`);
  return shaped;
}

/** Any level is taken, so a mistake in its name would go unnoticed: conditions such as `minLevel: warning` do not find it. */
export const newLevelWarning = (level: string): string =>
  `"${level}" is a new level, with the rank of info; the built-in levels are ${builtInLevels.join(', ')}`;

function checkLevel(value: unknown, field: 'level' | 'expectLevel' = 'level'): string {
  if (value === undefined || value === null) return 'info';
  const level = wellFormed(field, value).trim().toLowerCase();
  if (!limits.levelPattern.test(level)) {
    throw badRequest(
      `${field} must be 1 to 32 of a-z, 0-9, "_", "." and "-", starting with a letter or digit, as in success, info, warning, error, critical`,
    );
  }
  return level;
}

/** @throws AppError `bad-request`. */
export function checkTtl(value: unknown): number | null {
  if (value === undefined || value === null) return null;
  if (typeof value !== 'number' || !Number.isInteger(value) || value < 0 || value > limits.ttlMaxMs) {
    throw badRequest(
      `ttl must be a whole number of milliseconds from 0 to ${limits.ttlMaxMs}, as in 300000 for five minutes; 0 stays until cleared`,
    );
  }
  return value === 0 ? 0 : value;
}

/** Each gets the text without white space at its ends, and returns what is stored. */
const checkText: Readonly<Record<Exclude<OptionalText, 'labels'>, (text: string) => string>> = {
  ip: checkIp,
  host: checkHost,
  key: (text) => checkLength('key', text, limits.keyChars),
  url: checkUrl,
};

function checkIp(text: string): string {
  const ip = canonicalAddress(text);
  if (ip === undefined) throw badRequest('ip must be an IPv4 or IPv6 address, as in 10.0.0.5 or fd00::5');
  return ip;
}

function checkHost(host: string): string {
  if (host === '' || exceeds(host, limits.hostChars) || /[\s\p{Cc}]/u.test(host)) {
    throw badRequest(
      `host must have 1 to ${limits.hostChars} characters, without white space or control characters`,
    );
  }
  return host;
}

function checkLength(field: OptionalText, text: string, max: number): string {
  if (text === '' || exceeds(text, max)) throw badRequest(`${field} must have 1 to ${max} characters`);
  return text;
}

/** Returns their text. @throws AppError `bad-request` for the first one that is wrong. */
function checkLabels(value: unknown): string | null {
  if (!isPlainObject(value)) {
    const form =
      'must be an object of texts, as in {"env": "prod"}; in a header or form env=prod, site=plant 2, each name once';
    throw badRequest(`labels ${form}`);
  }
  const entries = Object.entries(value);
  if (entries.length > limits.labels)
    throw badRequest(`labels must have at most ${limits.labels} entries, not ${entries.length}`);
  const names = new Map<string, string>();
  for (const [name] of entries) {
    const lower = name.toLowerCase();
    const other = names.get(lower);
    if (other !== undefined)
      throw badRequest(`labels must not have both ${other} and ${name}: upper and lower case are the same`);
    names.set(lower, name);
  }
  return labelsText(Object.fromEntries(entries.map(([name, given]) => [name, checkLabel(name, given)])));
}

function checkLabel(name: string, value: unknown): string {
  if (!limits.labelNamePattern.test(name)) {
    throw badRequest(
      `labels must have names of 1 to 63 letters, digits, "_", "." and "-", which start with a letter or "_", not ${JSON.stringify(name.slice(0, 70).toWellFormed())}`,
    );
  }
  const text = wellFormed(`labels.${name}`, value).trim();
  if (exceeds(text, limits.labelValueChars))
    throw badRequest(
      `labels.${name} must have at most ${limits.labelValueChars} characters, not ${characters(text)}`,
    );
  return text;
}

function checkUrl(url: string): string {
  const parsed = url.length <= limits.urlChars && /^https?:\/\//i.test(url) ? URL.parse(url) : null;
  if (!parsed?.hostname || /[\s\p{Cc}]/u.test(url)) {
    throw badRequest(`url must be an absolute http or https link of at most ${limits.urlChars} characters`);
  }
  return url;
}

/** What makes a text impossible to store, on one store or both: undefined if it can be stored. Reads on behind the name of a field. */
export function textProblem(text: string): string | undefined {
  if (text.includes('\0')) return 'must not hold the character U+0000';
  if (!text.isWellFormed()) return 'must be well-formed Unicode: it holds half of a surrogate pair';
  return undefined;
}
