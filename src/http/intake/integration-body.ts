import type { IncomingMessage } from 'node:http';
import { MIMEType, promisify } from 'node:util';
import { gunzip } from 'node:zlib';
import type { FastifyRequest } from 'fastify';
import { limits } from '#contract/limits.ts';
import { badRequest } from '#core/errors.ts';
import type { Format } from '#integrations/format.ts';
import { tooLarge } from '../errors.ts';
import {
  bodyKind,
  decodeUtf8,
  looksLikeJson,
  mostFormFields,
  parseForm,
  parseShallowJson,
  refuseCompressed,
} from './body.ts';

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
