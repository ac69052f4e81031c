/** Merges the fields of a request's body and headers. */
import { isUtf8 } from 'node:buffer';
import type { IncomingMessage } from 'node:http';
import { type FieldName, fieldNames, sentFields } from '#contract/history/fields.ts';
import { readLabels } from '#contract/history/labels.ts';
import { isPlainObject } from '#contract/plain-object.ts';
import { badRequest } from '#core/errors.ts';
import type { SentFields } from '#core/intake/notification.ts';
import { bodyKind, decodeUtf8, parseForm, parseJson } from './body.ts';

const fieldOfHeader: Readonly<Record<string, FieldName>> = Object.fromEntries(
  fieldNames.map((name) => [sentFields[name].header.toLowerCase(), name]),
);
/** How long the names of their headers are: a look that spares most other headers the change to lower case. */
const headerLengths = new Set(Object.keys(fieldOfHeader).map(({ length }) => length));

/** What other software calls our fields. */
const lookalikes: Readonly<Record<string, FieldName>> = {
  severity: 'level',
  priority: 'level',
  body: 'message',
  text: 'message',
};

type Mutable = { -readonly [K in FieldName]?: unknown };

export interface ReadFields {
  readonly fields: SentFields;
  /** Names what was sent under another name than ours. */
  readonly warning: string | undefined;
  /** Of the query of a GET. */
  readonly idempotencyKey?: string | undefined;
}

/**
 * Merges: a JSON field that is present and not null is used, even if empty; otherwise its header; otherwise it is absent.
 *
 * @throws AppError `unsupported-type` for a body of another kind, `bad-request` for one that cannot be read.
 */
export function readFields(request: IncomingMessage, body: Buffer): ReadFields {
  const contentType = request.headers['content-type'];
  const kind = bodyKind(contentType, request.headers['content-encoding'], body);
  const fields = fromHeaders(request.rawHeaders);
  if (kind === 'none') return { fields, warning: undefined };
  const text = decodeUtf8(body);
  if (kind === 'text') fields.message = text;
  const sent = kind === 'form' ? fromForm(text, fields) : kind === 'json' ? fromJson(text, fields) : [];
  return { fields, warning: warningOf(sent) };
}

/** The query of a URL, without its question mark. */
export const queryOf = (url = ''): string => /\?([^#]*)/.exec(url)?.[1] ?? '';

/**
 * As {@link readFields}, of a GET: its query has the fields, and `idempotencyKey`.
 *
 * @throws AppError `bad-request` for a query that cannot be read.
 */
export function readQueryFields(request: IncomingMessage): ReadFields {
  const fields = fromHeaders(request.rawHeaders);
  const query = parseForm(queryOf(request.url), 'URL');
  takeValues(query, fields, 'URL');
  const keys = query.flatMap(([name, value]) => (name === 'idempotencyKey' ? [value] : []));
  if (keys.length > 1) throw badRequest('idempotencyKey is given twice in the URL');
  return { fields, warning: warningOf(query.map(([name]) => name)), idempotencyKey: keys[0] };
}

function warningOf(sent: readonly string[]): string | undefined {
  const unread = sent.filter((name) => Object.hasOwn(lookalikes, name));
  if (unread.length === 0) return undefined;
  return [...new Set(unread)].map((name) => `"${name}" is not read: use "${lookalikes[name]}"`).join('; ');
}

/** Returns the names that were sent. */
function fromJson(text: string, fields: Mutable): readonly string[] {
  const parsed = parseJson(text);
  if (!isPlainObject(parsed))
    throw badRequest('the body must be one JSON object, as in {"title": "Backup", "message": "done"}');
  for (const name of fieldNames) {
    // Own properties only, because the sender did not send those of a prototype.
    const value = Object.hasOwn(parsed, name) ? parsed[name] : undefined;
    if (value !== undefined && value !== null) fields[name] = value;
  }
  if (isAlertmanagers(parsed)) refuseWithout(fields, 'title', 'message');
  return Object.keys(parsed);
}

/** Whether it is what Alertmanager sends to a webhook: alerts for a receiver. */
const isAlertmanagers = (parsed: object): boolean =>
  'alerts' in parsed && Array.isArray(parsed.alerts) && 'receiver' in parsed && 'groupLabels' in parsed;

function refuseWithout(fields: Mutable, ...required: readonly FieldName[]): void {
  const missing = required.find((name) => fields[name] === undefined);
  if (missing === undefined) return;
  throw badRequest(
    `${missing} is required: this looks like the webhook of Alertmanager, but /api/notify takes one notification with title and message; set the url of its webhook_config to /api/integrations/alertmanager`,
  );
}

/** Returns the names that were sent; none when it is a message. */
function fromForm(text: string, fields: Mutable): readonly string[] {
  const form = parseForm(text);
  // A message with a "=", which `curl -d 'exit code=23'` calls a form.
  if (fields.message === undefined && !fieldNames.some((name) => form.some(([sent]) => sent === name))) {
    fields.message = text;
    return [];
  }
  takeValues(form, fields, 'form');
  return form.map(([name]) => name);
}

function takeValues(
  form: readonly (readonly [name: string, value: string])[],
  fields: Mutable,
  where: 'form' | 'URL',
): void {
  for (const name of fieldNames) {
    const values = form.flatMap(([sent, value]) => (sent === name ? [value] : []));
    if (values.length > 1) throw badRequest(`${name} is given twice in the ${where}`);
    if (values[0] !== undefined) fields[name] = fromText(name, values[0]);
  }
}

function fromHeaders(raw: readonly string[]): Mutable {
  const fields: Mutable = {};
  for (let i = 0; i < raw.length; i += 2) {
    const name = raw[i] as string;
    if (!headerLengths.has(name.length) || (name.charCodeAt(0) | 0x20) !== 0x78) continue;
    const field = fieldOfHeader[name.toLowerCase()];
    if (field === undefined) continue;
    if (Object.hasOwn(fields, field)) throw badRequest(`the header ${name} is given twice`);
    const value = headerText(name, raw[i + 1] as string);
    fields[field] = fromText(field, value);
  }
  return fields;
}

/** One header's text. @throws AppError `bad-request` when it is given twice, or has an encoded word that cannot be read. */
export function readHeader(raw: readonly string[], wanted: string): string | undefined {
  let text: string | undefined;
  for (let i = 0; i < raw.length; i += 2) {
    const name = raw[i] as string;
    if (name.length !== wanted.length || name.toLowerCase() !== wanted.toLowerCase()) continue;
    if (text !== undefined) throw badRequest(`the header ${name} is given twice`);
    text = headerText(name, raw[i + 1] as string);
  }
  return text;
}

/**
 * Node hands header bytes over as Latin-1. They are UTF-8 to us if they can be, and otherwise Latin-1, in which Python's `requests`
 * and the fetch of JavaScript send them. RFC 2047 encoded words are decoded.
 */
function headerText(name: string, value: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: the range is exactly what plain header text is
  if (/^[\x00-\x7f]*$/.test(value)) return value.includes('=?') ? decodeEncodedWords(value, name) : value;
  const bytes = Buffer.from(value, 'latin1');
  const text = isUtf8(bytes) ? bytes.toString('utf8') : value;
  return text.includes('=?') ? decodeEncodedWords(text, name) : text;
}

/** What a text of a header, a form or a URL stands for. If it cannot be read, it is refused when it is the value that counts. */
function fromText(field: FieldName, text: string): unknown {
  if (field === 'ttl') return decimal(text);
  return field === 'labels' ? (readLabels(text) ?? text) : text;
}

/** Decimal digits only; anything else is no number, which the rule for ttl refuses if it is the value that counts. */
function decimal(value: string): number {
  return /^[0-9]{1,15}$/.test(value.trim()) ? Number(value) : Number.NaN;
}

const word = String.raw`=\?([A-Za-z0-9_.:-]{1,40})(?:\*[A-Za-z0-9-]{1,20})?\?([BbQq])\?([!->@-~]*)\?=`;
/** Includes the white space after the word if another encoded word follows. */
const encodedWord = new RegExp(`${word}(?:[ \\t]+(?=${word}))?`, 'g');

/**
 * Decodes RFC 2047 encoded words (`=?utf-8?B?…?=`, `=?iso-8859-1?Q?…?=`); white space between two of them is dropped.
 * Text that only looks like one stays as it is.
 *
 * @throws AppError `bad-request` when the charset is unknown, or the bytes are not valid in it.
 */
export function decodeEncodedWords(value: string, header: string): string {
  return value.replace(encodedWord, (_, charset: string, encoding: string, text: string) =>
    decode(charset, encoding.toUpperCase() === 'B' ? Buffer.from(text, 'base64') : quotedBytes(text), header),
  );
}

function quotedBytes(text: string): Buffer {
  const binary = text
    .replaceAll('_', ' ')
    .replace(/=([0-9A-Fa-f]{2})/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
  return Buffer.from(binary, 'latin1');
}

function decode(charset: string, bytes: Buffer, header: string): string {
  const problem = `the header ${header} has an encoded word`;
  let decoder: TextDecoder;
  try {
    decoder = new TextDecoder(charset, { fatal: true });
  } catch {
    throw badRequest(`${problem} in the unknown charset ${charset}: write it in utf-8`);
  }
  try {
    return decoder.decode(bytes);
  } catch {
    throw badRequest(`${problem} whose bytes are not valid ${charset}`);
  }
}
