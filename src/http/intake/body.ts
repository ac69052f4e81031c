/** The body of a sender's request: its kind and its text. */
import { isUtf8 } from 'node:buffer';
import { findExcess } from '#core/bounded-json.ts';
import { AppError, badRequest } from '#core/errors.ts';

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
export function refuseCompressed(encoding: string | undefined): void {
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
export const mostFormFields = 1_000;

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
