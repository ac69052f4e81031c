import type { IncomingMessage } from 'node:http';
import { badRequest } from '#core/errors.ts';
import type { Format } from '#integrations/format.ts';
import { bodyKind, decodeUtf8, looksLikeJson, parseForm, parseJson, refuseCompressed } from './body.ts';

/** Fields in which senders that send a form put their JSON: Slack's and GitHub's, and Uptime Kuma's. */
const jsonFields = ['payload', 'data'];

/**
 * The body of a request as the formats read it: the value of JSON, a form as an object of texts, plain text as a text.
 * @throws AppError `unsupported-type` or `bad-request`.
 */
export async function readPayloadBody(
  { headers }: IncomingMessage,
  body: Buffer | undefined,
  { takesAnyText }: Pick<Format, 'takesAnyText'>,
): Promise<unknown> {
  const { 'content-type': type, 'content-encoding': encoding } = headers;
  if (!body || body.length === 0) return undefined;
  if (takesAnyText === 'always') {
    refuseCompressed(encoding);
    return decodeUtf8(body);
  }
  if (/^multipart\/form-data\b/i.test(type ?? '')) {
    refuseCompressed(encoding);
    return fromForm(await parseMultipart(type ?? '', body));
  }
  const kind = kindOf(type, encoding, body, takesAnyText === 'otherwise');
  const text = decodeUtf8(body);
  if (kind === 'json') return parseJson(text);
  return kind === 'form' ? fromForm(parseForm(text)) : text;
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

/** The platform's own parser. */
async function parseMultipart(type: string, body: Buffer): Promise<FormData> {
  try {
    return await new Response(new Uint8Array(body), { headers: { 'content-type': type } }).formData();
  } catch {
    throw badRequest('the body is not valid multipart/form-data');
  }
}

function fromForm(form: URLSearchParams | FormData): unknown {
  const fields = new Map<string, string>();
  for (const [name, value] of form) {
    if (typeof value !== 'string')
      throw badRequest(`${name.slice(0, 40)} is a file, and files are not taken`);
    if (fields.has(name)) throw badRequest(`${name.slice(0, 40)} is given twice in the form`);
    fields.set(name, value);
  }
  const json = jsonFields.map((name) => fields.get(name)).find((text) => text?.trimStart().startsWith('{'));
  return json === undefined ? Object.fromEntries(fields) : parseJson(json);
}
