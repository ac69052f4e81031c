/** What a sender gave, from body and headers, merged field by field. */
import { isUtf8 } from 'node:buffer';
import type { IncomingMessage } from 'node:http';
import { AppError, badRequest } from '#core/errors.ts';
import { type FieldName, fieldNames, type SentFields } from '#core/notification.ts';
import { decodeEncodedWords } from './encoded-words.ts';

const fieldOfHeader: Readonly<Record<string, FieldName>> = Object.fromEntries(
  fieldNames.map((name) => [`x-${name}`, name]),
);

type Mutable = { -readonly [K in FieldName]?: unknown };

/**
 * Merges: a JSON field that is present and not null is used, even if empty; otherwise its header; otherwise it is absent.
 *
 * @throws AppError `unsupported-type` for a body of another kind, `bad-request` for one that cannot be read.
 */
export function readFields(request: IncomingMessage, body: Buffer): SentFields {
  const contentType = request.headers['content-type'];
  const kind = bodyKind(contentType, request.headers['content-encoding'], body);
  const fields = fromHeaders(request.rawHeaders);
  if (kind === 'none') return fields;
  const text = decodeUtf8(body);
  if (kind === 'text') fields.message = text;
  else if (kind === 'form') fromForm(text, fields);
  else fromJson(text, fields);
  return fields;
}

function bodyKind(
  contentType: string | undefined,
  encoding: string | undefined,
  body: Buffer,
): 'none' | 'json' | 'form' | 'text' {
  if (encoding !== undefined) {
    throw new AppError(
      'unsupported-type',
      `the body must not be compressed: send it without Content-Encoding, not as ${encoding.slice(0, 40)}`,
    );
  }
  if (body.length === 0) return 'none';
  if (contentType === 'application/json') return 'json';
  const type = (contentType ?? '').split(';', 1)[0]?.trim().toLowerCase() ?? '';
  if (type === 'application/json' || /^[a-z0-9!#$&^_.-]+\/[a-z0-9!#$&^_.-]+\+json$/.test(type)) return 'json';
  const looksLikeJson = firstByte(body) === 0x7b;
  if (type === '' && looksLikeJson) return 'json';
  if (type === 'application/x-www-form-urlencoded') return looksLikeJson ? 'json' : 'form';
  if (type === 'text/plain') return looksLikeJson ? 'json' : 'text';
  throw new AppError(
    'unsupported-type',
    'the content type must be application/json, application/x-www-form-urlencoded or text/plain, or the body empty',
  );
}

const bom = [0xef, 0xbb, 0xbf] as const;
const startsWithBom = (body: Buffer) => bom.every((byte, i) => body[i] === byte);

/** The first byte that is no white space, behind a BOM if there is one. */
function firstByte(body: Buffer): number | undefined {
  let i = startsWithBom(body) ? bom.length : 0;
  while (i < body.length && (body[i] === 0x20 || body[i] === 0x09 || body[i] === 0x0a || body[i] === 0x0d))
    i += 1;
  return body[i];
}

function decodeUtf8(body: Buffer): string {
  if (!isUtf8(body))
    throw badRequest(
      'the body must be UTF-8: other characters than ASCII can also be escaped in JSON, as in \\u00e9',
    );
  return body.toString('utf8', startsWithBom(body) ? bom.length : 0);
}

function fromJson(text: string, fields: Mutable): void {
  let parsed: unknown;
  try {
    parsed = JSON.parse(text);
  } catch (error) {
    throw badRequest(`the body is not valid JSON: ${jsonProblem(error)}`);
  }
  if (typeof parsed !== 'object' || parsed === null || Array.isArray(parsed)) {
    throw badRequest('the body must be one JSON object, as in {"title": "Backup", "message": "done"}');
  }
  for (const name of fieldNames) {
    // Own properties only: what "__proto__" would lend is not what the sender said.
    const value: unknown = Object.hasOwn(parsed, name)
      ? (parsed as Record<string, unknown>)[name]
      : undefined;
    if (value !== undefined && value !== null) fields[name] = value;
  }
  if (isAlertmanagers(parsed)) refuseWithout(fields, 'title', 'message');
}

/** Whether it is what Alertmanager sends to a webhook: alerts for a receiver. */
const isAlertmanagers = (parsed: object): boolean =>
  'alerts' in parsed && Array.isArray(parsed.alerts) && 'receiver' in parsed && 'groupLabels' in parsed;

function refuseWithout(fields: Mutable, ...required: readonly FieldName[]): void {
  const missing = required.find((name) => fields[name] === undefined);
  if (missing === undefined) return;
  throw badRequest(
    `${missing} is required: this looks like the webhook of Alertmanager, but /api/notify takes one notification with title and message; put a relay between them that sends one request per alert`,
  );
}

/** Where V8 stopped, without the piece of the body that it quotes. */
function jsonProblem(error: unknown): string {
  const message = error instanceof Error ? error.message : '';
  if (/^Un(expected end|terminated)/.test(message)) return 'it ends too early';
  const place = /at position \d+(?: \(line \d+ column \d+\))?/.exec(message)?.[0];
  if (place) return `unexpected text ${place}`;
  return 'unexpected text; it must be one object, as in {"title": "Backup", "message": "done"}';
}

function fromForm(text: string, fields: Mutable): void {
  // URLSearchParams would put U+FFFD in the place of what it cannot read.
  if (text.includes('%') && !isUtf8(percentDecoded(text))) {
    throw badRequest('the form must be UTF-8, behind its percent signs too');
  }
  const form = new URLSearchParams(text);
  for (const name of fieldNames) {
    const values = form.getAll(name);
    if (values.length > 1) throw badRequest(`${name} is given twice in the form`);
    if (values[0] !== undefined) fields[name] = name === 'ttl' ? decimal(values[0]) : values[0];
  }
}

function percentDecoded(text: string): Buffer {
  const bytes = Buffer.from(text).toString('latin1');
  const decoded = bytes.replace(/%([0-9A-Fa-f]{2})/g, (_, hex: string) =>
    String.fromCharCode(Number.parseInt(hex, 16)),
  );
  return Buffer.from(decoded, 'latin1');
}

function fromHeaders(raw: readonly string[]): Mutable {
  const fields: Mutable = {};
  for (let i = 0; i < raw.length; i += 2) {
    const name = raw[i] as string;
    // The cheap look first: a field's header is "X-" and three to seven letters.
    if (name.length > 9 || (name.charCodeAt(0) | 0x20) !== 0x78) continue;
    const field = fieldOfHeader[name.toLowerCase()];
    if (field === undefined) continue;
    if (Object.hasOwn(fields, field)) throw badRequest(`the header ${name} is given twice`);
    const value = headerText(name, raw[i + 1] as string);
    fields[field] = field === 'ttl' ? decimal(value) : value;
  }
  return fields;
}

/** One header's text. @throws AppError `bad-request` when it is given twice, or is no UTF-8. */
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

/** So much of a header is shown as it is to be sent. */
const exampleChars = 40;

/** Node hands header bytes over as Latin-1; they are UTF-8 to us, and RFC 2047 encoded words are decoded. */
function headerText(name: string, value: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: the range is exactly what plain header text is
  if (/^[\x00-\x7f]*$/.test(value)) return value.includes('=?') ? decodeEncodedWords(value, name) : value;
  const bytes = Buffer.from(value, 'latin1');
  if (!isUtf8(bytes)) {
    const word = `=?UTF-8?B?${Buffer.from(value.slice(0, exampleChars)).toString('base64')}?=`;
    throw badRequest(
      `the header ${name} must be UTF-8, or RFC 2047 encoded words; it looks like Latin-1, which is sent as ${word}`,
    );
  }
  const text = bytes.toString('utf8');
  return text.includes('=?') ? decodeEncodedWords(text, name) : text;
}

/** Decimal digits only; anything else is no number, which the rule for ttl refuses if it is the value that counts. */
function decimal(value: string): number {
  return /^[0-9]{1,15}$/.test(value.trim()) ? Number(value) : Number.NaN;
}
