/** The body of a sender's request: its kind and its text. */
import { isUtf8 } from 'node:buffer';
import type { IncomingMessage } from 'node:http';
import { MIMEType, promisify } from 'node:util';
import { gunzip } from 'node:zlib';
import type { FastifyRequest } from 'fastify';
import { limits } from '#contract/limits.ts';
import { AppError, badRequest } from '#core/errors.ts';
import { findExcess } from '#core/limits/bounded-json.ts';
import type { Format } from '#integrations/format.ts';
import { tooLarge } from '../errors.ts';

type BodyKind = 'none' | 'json' | 'form' | 'text';

/**
 * A body that starts with `{` under a plain or form content type is JSON, which is what `curl -d '{…}'` sends.
 * A form without a `=` is plain text, which is what `curl -d 'done'` sends. Without a content type it is JSON when it starts with `{`
 * or `[`, and otherwise text.
 * @throws AppError `unsupported-type` for another kind, and for a body that is compressed.
 */
export function bodyKind(
  contentType: string | undefined,
  encoding: string | undefined,
  body: Buffer,
): BodyKind {
  refuseCompressed(encoding);
  if (body.length === 0) return 'none';
  if (contentType === 'application/json') return 'json';
  const type = (contentType ?? '').split(';', 1)[0]?.trim().toLowerCase() ?? '';
  if (type === 'application/json' || /^[a-z0-9!#$&^_.-]+\/[a-z0-9!#$&^_.-]+\+json$/.test(type)) return 'json';
  if (type === '') return looksLikeJson(body) ? 'json' : 'text';
  if (type === 'application/x-www-form-urlencoded' || type === 'text/plain') {
    if (startsObject(body)) return 'json';
    return type === 'text/plain' || !body.includes('=') ? 'text' : 'form';
  }
  throw new AppError(
    'unsupported-type',
    'the content type must be application/json, application/x-www-form-urlencoded or text/plain, or the body empty',
  );
}

const startsObject = (body: Buffer) => firstByte(body) === 0x7b;
/** Whether it begins as an object or a list. */
export const looksLikeJson = (body: Buffer) => startsObject(body) || firstByte(body) === 0x5b;

/** @throws AppError `unsupported-type` when there is a Content-Encoding. */
function refuseCompressed(encoding: string | undefined): void {
  if (encoding === undefined) return;
  throw new AppError(
    'unsupported-type',
    `the body must not be compressed: send it without Content-Encoding, not as ${encoding.slice(0, 40)}`,
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

/** The text without its BOM. @throws AppError `bad-request` when it is not UTF-8. */
export function decodeUtf8(body: Buffer): string {
  if (!isUtf8(body))
    throw badRequest(
      'the body must be UTF-8: other characters than ASCII can also be escaped in JSON, as in \\u00e9',
    );
  return body.toString('utf8', startsWithBom(body) ? bom.length : 0);
}

/** @throws AppError `bad-request`, which does not repeat what was sent. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw badRequest(`the body is not valid JSON: ${jsonProblem(error)}`);
  }
}

/** As {@link parseJson}, of bodies that may be large. */
export function parseShallowJson(text: string): unknown {
  const excess = findExcess(text);
  if (excess !== undefined) throw badRequest(`the body cannot be read: ${excess}`);
  return parseJson(text);
}

/** What usually causes a message of V8. */
const jsonHints: readonly (readonly [RegExp, string])[] = [
  [/property name/, 'a field name in double quotes is expected, and no comma before }'],
  [/^Expected ',' or '[}\]]'/, 'a comma or a closing bracket is missing'],
  [/^Bad control character/, 'a line break or tab in a text must be written as \\n or \\t'],
  [/^Bad escaped character/, 'a backslash in a text must be written twice'],
];

/** V8's message without the part of the body that it quotes. */
function jsonProblem(error: unknown): string {
  const message = error instanceof Error ? error.message : '';
  if (/^Un(expected end|terminated)/.test(message)) return 'it ends too early';
  const place = /at position \d+(?: \(line \d+ column \d+\))?/.exec(message)?.[0];
  const hint = jsonHints.find(([pattern]) => pattern.test(message))?.[1] ?? 'unexpected text';
  if (place) return `${hint} ${place}`;
  return 'unexpected text; it must be one object, as in {"title": "Backup", "message": "done"}';
}

/** More fields than any form of a sender has. */
const mostFormFields = 1_000;

/**
 * Names and values in their order. The parser of the platform takes seconds for a megabyte of signs, and puts U+FFFD in the place of
 * what it cannot read.
 * @throws AppError `bad-request` when its text is not UTF-8, and for too many fields.
 */
export function parseForm(
  text: string,
  where: 'form' | 'URL' = 'form',
): (readonly [name: string, value: string])[] {
  const fields = text.split('&', mostFormFields + 1);
  if (fields.length > mostFormFields)
    throw badRequest(`a ${where} may have at most ${mostFormFields} fields`);
  const decode = (part: string) => decodeForm(part, where);
  return fields
    .filter((field) => field !== '')
    .map((field) => {
      const at = field.indexOf('=');
      return at < 0 ? [decode(field), ''] : [decode(field.slice(0, at)), decode(field.slice(at + 1))];
    });
}

function decodeForm(text: string, where: string): string {
  if (!/[%+]/.test(text)) return text;
  const bytes = percentDecoded(Buffer.from(text.replaceAll('+', ' ')));
  if (!isUtf8(bytes)) throw badRequest(`the ${where} must be UTF-8, behind its percent signs too`);
  return bytes.toString('utf8');
}

/** In one pass; a percent sign without two digits stays. */
function percentDecoded(bytes: Buffer): Buffer {
  let length = 0;
  for (let at = 0; at < bytes.length; at++) {
    const [high, low] = bytes[at] === 0x25 ? [hexDigit(bytes[at + 1]), hexDigit(bytes[at + 2])] : [-1, -1];
    const isEscape = high >= 0 && low >= 0;
    bytes[length++] = isEscape ? 16 * high + low : (bytes[at] as number);
    if (isEscape) at += 2;
  }
  return bytes.subarray(0, length);
}

function hexDigit(code = 0): number {
  if (code >= 0x30 && code <= 0x39) return code - 0x30;
  const lower = code | 0x20;
  return lower >= 0x61 && lower <= 0x66 ? lower - 0x61 + 10 : -1;
}

/** Fields in which senders that send a form put their JSON: Slack's and GitHub's, and Uptime Kuma's. */
const jsonFields = ['payload', 'data'];

/** So much of a file is read and dropped before the answer, for so long: many clients read the answer only after they have sent all. */
const droppedBytes = 15 * 1024 * 1024;
const droppedMs = 12_000;

const cutShort = new WeakSet<IncomingMessage>();
const ignoredFiles = new WeakMap<IncomingMessage, number>();

/**
 * The body of a request as the formats read it: the value of JSON, a form as an object of texts without its files, plain text as a text.
 * A format that always takes any text also gets a file, as its bytes.
 * @throws AppError `unsupported-type` or `bad-request`.
 */
export async function readPayloadBody(
  request: IncomingMessage,
  body: Buffer | undefined,
  { takesAnyText }: Pick<Format, 'takesAnyText'>,
): Promise<unknown> {
  const { 'content-type': type, 'content-encoding': encoding } = request.headers;
  if (!body || body.length === 0) return undefined;
  if (takesAnyText === 'always') {
    refuseCompressed(encoding);
    return decodeStart(body) ?? body;
  }
  if (/^multipart\/form-data\b/i.test(type ?? '')) {
    refuseCompressed(encoding);
    const form = await parseMultipart(type ?? '', body);
    ignoredFiles.set(request, [...form.values()].filter((value) => typeof value !== 'string').length);
    return fromForm(form);
  }
  const kind = kindOf(type, encoding, body, takesAnyText === 'otherwise');
  const text = decodeUtf8(body);
  if (kind === 'json') return parseShallowJson(text);
  return kind === 'form' ? fromForm(parseForm(text)) : text;
}

/** Whether {@link readStart} has not read all of the body. */
export const isCutShort = (request: IncomingMessage): boolean => cutShort.has(request);

/**
 * Unpacks a body that is compressed with gzip, as Fluent Bit sends it. Returns whether it was.
 * @throws AppError `too-large` when it has more than `mostBytes` unpacked, and `bad-request` when it cannot be unpacked.
 */
export async function unpack(request: FastifyRequest, mostBytes: number): Promise<boolean> {
  const { headers } = request.raw;
  if (!/^(?:x-)?gzip$/i.test(headers['content-encoding'] ?? '') || !Buffer.isBuffer(request.body))
    return false;
  try {
    request.body = await promisify(gunzip)(request.body, { maxOutputLength: mostBytes });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE') throw tooLarge(mostBytes);
    throw badRequest('the body is not valid gzip');
  }
  delete headers['content-encoding'];
  return true;
}

/** How many files {@link readPayloadBody} has left out of a form. */
export const countIgnoredFiles = (request: IncomingMessage): number => ignoredFiles.get(request) ?? 0;

/** The first 64 KiB of a body of any size. Rejects when the client goes away before its end. */
export async function readStart(request: IncomingMessage): Promise<Buffer> {
  const kept: Buffer[] = [];
  const until = performance.now() + droppedMs;
  let bytes = 0;
  for await (const chunk of request.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
    if (bytes < limits.bodyBytes) kept.push(chunk.subarray(0, limits.bodyBytes - bytes));
    bytes += chunk.length;
    if (bytes > droppedBytes || performance.now() > until) {
      cutShort.add(request);
      break;
    }
  }
  return Buffer.concat(kept);
}

/** A text, whose last character may be cut off where `readStart` kept no more; undefined for anything else. */
function decodeStart(body: Buffer): string | undefined {
  if (body.includes(0)) return undefined;
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(body, {
      stream: body.length === limits.bodyBytes,
    });
  } catch {
    return undefined;
  }
}

/** Software sends JSON with various content types. */
function kindOf(type: string | undefined, encoding: string | undefined, body: Buffer, takesAnyText: boolean) {
  try {
    return bodyKind(type, encoding, body);
  } catch (error) {
    refuseCompressed(encoding);
    if (looksLikeJson(body)) return 'json';
    if (takesAnyText) return 'text';
    throw error;
  }
}

/** The platform's own parser. It gets the boundary by which the parts were counted, however the header writes it. */
async function parseMultipart(type: string, body: Buffer): Promise<FormData> {
  const boundary = boundaryOf(type);
  refuseManyParts(boundary, body);
  const headers = { 'content-type': `multipart/form-data; boundary="${boundary}"` };
  try {
    return await new Response(new Uint8Array(body), { headers }).formData();
  } catch {
    throw invalidForm();
  }
}

const invalidForm = () => badRequest('the body is not valid multipart/form-data');

/** https://www.rfc-editor.org/rfc/rfc2046#section-5.1.1 @throws AppError `bad-request`. */
function boundaryOf(type: string): string {
  let boundary: string | null;
  try {
    boundary = new MIMEType(type).params.get('boundary');
  } catch {
    throw invalidForm();
  }
  if (!/^[\w'()+,./:=? -]{1,70}$/.test(boundary ?? '')) throw invalidForm();
  return boundary as string;
}

/** It takes a second for a megabyte of small parts. @throws AppError `bad-request`. */
function refuseManyParts(boundary: string, body: Buffer): void {
  let parts = 0;
  for (let at = body.indexOf(`--${boundary}`); at >= 0; at = body.indexOf(`--${boundary}`, at + 1))
    if (++parts > mostFormFields) throw badRequest(`a form may have at most ${mostFormFields} fields`);
}

function fromForm(form: Iterable<readonly [string, string | File]>): unknown {
  const fields = new Map<string, string>();
  for (const [name, value] of form) {
    if (typeof value !== 'string') continue;
    if (fields.has(name)) throw badRequest(`${name.slice(0, 40)} is given twice in the form`);
    fields.set(name, value);
  }
  const json = jsonFields.map((name) => fields.get(name)).find((text) => text?.trimStart().startsWith('{'));
  return json === undefined ? Object.fromEntries(fields) : parseShallowJson(json);
}
