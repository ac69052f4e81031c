/** The body of a sender's request: its kind and its text. */
import { isUtf8 } from 'node:buffer';
import { AppError, badRequest } from '#core/errors.ts';

type BodyKind = 'none' | 'json' | 'form' | 'text';

/**
 * A body that starts with `{` under a missing, plain or form content type is JSON, which is what `curl -d '{…}'` sends.
 * A form without a `=` is plain text, which is what `curl -d 'done'` sends.
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
  if (type === '' && startsObject(body)) return 'json';
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

/** @throws AppError `bad-request` when its text is not UTF-8. */
export function parseForm(text: string): URLSearchParams {
  // URLSearchParams would put U+FFFD in the place of what it cannot read.
  if (text.includes('%') && !isUtf8(percentDecoded(text))) {
    throw badRequest('the form must be UTF-8, behind its percent signs too');
  }
  return new URLSearchParams(text);
}

function percentDecoded(text: string): Buffer {
  const bytes = Buffer.from(text).toString('latin1');
  const decoded = bytes.replace(/%([0-9A-Fa-f]{2})/g, (_, hex: string) =>
    String.fromCharCode(Number.parseInt(hex, 16)),
  );
  return Buffer.from(decoded, 'latin1');
}
