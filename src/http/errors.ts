/** Turns every error into an answer, including those of the parser: `{"error": "…"}`. Paths of ntfy and Gotify have more fields. */
import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { FastifyBaseLogger, FastifyError } from 'fastify';
import { type ErrorPlace, errorHeader, formatErrorHeader } from '#contract/error-header.ts';
import { errorBodyAt, errors } from '#contract/errors.ts';
import { limits } from '#contract/limits.ts';
import { AppError, badRequest, pathOf } from '#core/errors.ts';
import { offerNearest } from '#core/search/search-nearest.ts';
import type { HeaderSink } from './callers/rate-limits.ts';
import { requestIdHeader, requestIdOf } from './requests.ts';

/** An answer that has not begun: the framework's reply, and that of notifications, which go past the framework. */
export interface Answer extends HeaderSink {
  readonly raw: ServerResponse;
  hasHeader(name: string): boolean;
  code(status: number): unknown;
  send(body: string): unknown;
}

/** A request, as far as the answer to its error needs it. */
export interface AnsweredRequest {
  readonly raw: IncomingMessage;
  readonly log: FastifyBaseLogger;
  readonly routeOptions?: { readonly bodyLimit?: number };
}

/**
 * Answers any error, as `known` if that is given. Only the message of an AppError reaches the caller; what is no AppError is a bug, and
 * logged with its stack.
 */
export function answerError<A extends Answer>(
  error: unknown,
  { raw, log, routeOptions }: AnsweredRequest,
  answer: A,
  known = toAppError(error, routeOptions?.bodyLimit),
): A {
  const { url = '' } = raw;
  if (known.code === 'internal')
    log.error(
      { err: error, url: url.split('?')[0], requestId: requestIdOf(raw) },
      'a request failed unexpectedly',
    );
  for (const [name, value] of errorHeaders(known)) answer.header(name, value);
  if (known.code === 'too-large') endAfterBody(raw, answer.raw);
  const { status } = errors[known.code];
  answer.code(status);
  answer.send(JSON.stringify(errorBodyAt(url, status, known.message)));
  return answer;
}

function errorHeaders({ code, place, retryAfterSeconds }: AppError): [name: string, value: string][] {
  const headers: [string, string][] = [
    [errorHeader, formatErrorHeader(code, place)],
    ['content-type', 'application/json; charset=utf-8'],
  ];
  if (code === 'unauthorized') headers.push(['www-authenticate', 'Bearer']);
  if (retryAfterSeconds !== undefined)
    headers.push(['retry-after', String(Math.max(1, Math.ceil(retryAfterSeconds)))]);
  if (code === 'too-large') headers.push(['connection', 'close']);
  return headers;
}

/** A client that is still sending can read the answer if the server keeps reading: up to this much, for this long. */
const lingerBytes = 8 * 1024 * 1024;
const lingerMs = 2_000;

/**
 * Ends the connection once the rest of the body has arrived, or too much of it. If it were closed at once, it would be reset under a
 * client that is still sending, and the answer would be lost with it.
 */
export function endAfterBody(request: IncomingMessage, response: ServerResponse): void {
  if (request.complete) return;
  const end = response.end.bind(response) as () => ServerResponse;
  response.end = ((body?: unknown) => {
    if (body !== undefined && body !== null) response.write(body);
    let left = lingerBytes;
    const finish = () => {
      clearTimeout(timer);
      request.off('data', count).off('end', finish).off('close', finish);
      end();
    };
    const count = (chunk: Buffer) => {
      left -= chunk.length;
      if (left < 0) finish();
    };
    const timer = setTimeout(finish, lingerMs).unref();
    request.on('data', count).once('end', finish).once('close', finish).resume();
    return response;
  }) as ServerResponse['end'];
}

export const tooLarge = (limitBytes: number) =>
  new AppError('too-large', `the body is too large: at most ${sizeText(limitBytes)}`);

/** `nearest`: the path of a route that the caller may have meant. */
export const nothingThere = (nearest?: string) =>
  new AppError(
    'not-found',
    `there is nothing at this path${nearest ? `; did you mean ${nearest}?` : ';'} /docs/api/ lists all paths`,
  );

const sizeText = (bytes: number) =>
  bytes % 1024 === 0
    ? bytes >= 1024 * 1024
      ? `${bytes / 1024 / 1024} MiB`
      : `${bytes / 1024} KiB`
    : `${bytes} bytes`;

/** An AppError as it is, errors of the framework with our messages, everything else as an internal error. */
export function toAppError(error: unknown, bodyLimit?: number): AppError {
  if (error instanceof AppError) return error;
  if (!(error instanceof Error)) return new AppError('internal', 'internal error');
  const { code, statusCode, validation, validationContext } = error as Partial<FastifyError> & {
    validationContext?: string;
  };
  if (validation) return invalidRequest(validationContext, validation);
  switch (code) {
    case 'FST_ERR_CTP_BODY_TOO_LARGE':
      return tooLarge(bodyLimit ?? limits.bodyBytes);
    case 'FST_ERR_CTP_INVALID_MEDIA_TYPE':
      return new AppError('unsupported-type', 'the content type must be application/json');
    case 'FST_ERR_CTP_EMPTY_JSON_BODY':
      return badRequest('the body is empty: a JSON object is expected');
    case 'FST_ERR_CTP_INVALID_JSON_BODY':
      return badRequest('the body is not valid JSON');
    case 'FST_ERR_BAD_URL':
      return badRequest('the path is not a valid URL: percent signs must start an escape such as %20');
    case 'FST_ERR_MAX_PARAM_LENGTH':
      return nothingThere();
    case 'ECONNRESET':
      return new AppError('timeout', 'the request was cut off');
  }
  return statusCode !== undefined && statusCode < 500
    ? badRequest(error.message)
    : new AppError('internal', 'internal error');
}

/** Answers errors before there is a request: of the parser, and time-outs before the head was complete. */
export function answerClientError(error: Error & { code?: string }, socket: Socket): void {
  if (error.code === 'ECONNRESET') socket.destroy();
  else answerInTurn(socket, parserError(error.code));
}

/** CONNECT takes the socket away from HTTP, so its errors must be handled here. */
export function answerConnect(socket: Socket): void {
  socket.on('error', () => socket.destroy());
  const error = new AppError('method-not-allowed', 'this is no proxy: CONNECT is not taken');
  answerInTurn(socket, error, ['allow: GET, HEAD, POST']);
}

/** Sockets whose last answer waits for earlier ones. */
const waiting = new WeakSet<Socket>();

/** Sends the last answer of a connection after those to earlier complete requests, because a client matches answers by order. */
function answerInTurn(socket: Socket, error: AppError, headers: readonly string[] = []): void {
  if (waiting.has(socket)) return;
  const before = (socket as { _httpMessage?: ServerResponse })._httpMessage;
  const isStream = before?.headersSent === true && !before.writableEnded;
  if (!socket.writable || isStream) {
    socket.destroy();
  } else if (before?.req.complete) {
    waiting.add(socket);
    before.once('close', () => {
      waiting.delete(socket);
      answerInTurn(socket, error, headers);
    });
  } else {
    answerLast(socket, error, headers);
  }
}

function answerLast(socket: Socket, { code, message }: AppError, headers: readonly string[]): void {
  const body = JSON.stringify({ error: message });
  const head = [
    `HTTP/1.1 ${errors[code].status} ${code}`,
    `${errorHeader}: ${formatErrorHeader(code)}`,
    `${requestIdHeader}: ${randomUUID()}`,
    ...headers,
    'content-type: application/json; charset=utf-8',
    `content-length: ${Buffer.byteLength(body)}`,
    'connection: close',
  ];
  // Destroyed after the write: the system still sends it, and a client that does not read cannot hold the socket.
  socket.end(`${head.join('\r\n')}\r\n\r\n${body}`, () => socket.destroy());
}

function parserError(code: string | undefined): AppError {
  switch (code) {
    case 'HPE_HEADER_OVERFLOW':
      return new AppError('headers-too-large', 'the headers are too large: at most 64 KiB together');
    case 'HPE_CHUNK_EXTENSIONS_OVERFLOW':
      return new AppError('too-large', 'the chunk extensions are too large');
    case 'ERR_HTTP_REQUEST_TIMEOUT':
      return new AppError('timeout', 'the request took too long to arrive');
    case 'HPE_INVALID_URL':
      return badRequest('the URL has a character that needs an escape: write %C3%BC for ü');
    case 'HPE_INVALID_CONSTANT':
      return badRequest('the request is not valid HTTP/1.1; write %20 for a blank in a URL');
    default:
      return badRequest('the request is not valid HTTP/1.1');
  }
}

/** Ajv gives the schema of the keyword too (`verbose`), which may state what would be right. */
type Problem = NonNullable<FastifyError['validation']>[number] & {
  readonly parentSchema?: {
    readonly errorMessage?: string;
    readonly properties?: object;
    readonly patternProperties?: object;
  };
};

/** "when.host must have at least 1 item", with the allowed values where there is a choice. */
function invalidRequest(context: string | undefined, problems: readonly Problem[]): AppError {
  // Each branch of a union has its problem. The deepest is of the branch that the value was meant for.
  const deepest = problems.toSorted((a, b) => depthOf(b) - depthOf(a))[0];
  if (!deepest) return badRequest('the request is not valid');
  const { instancePath } = deepest;
  const there = problems.filter((problem) => problem.instancePath === instancePath);
  const name = pathOf(instancePath) || (context === 'querystring' ? 'the query' : 'the body');
  return new AppError('bad-request', sentenceOf(name, instancePath, there), {
    place: placeOf(context, instancePath),
  });
}

const depthOf = ({ instancePath }: Problem) => instancePath.split('/').length;

/** The schema's own words if it has any; of a union, those of the union itself come last. */
function sentenceOf(name: string, pointer: string, problems: readonly Problem[]): string {
  const stated = problems.findLast(
    ({ keyword, parentSchema }) => keyword !== 'type' && parentSchema?.errorMessage,
  );
  if (stated?.parentSchema?.errorMessage) return `${name} ${stated.parentSchema.errorMessage}`;
  const [first, ...others] = problems.filter(({ keyword }) => keyword !== 'anyOf');
  if (first?.keyword === 'required')
    return `${pathOf(`${pointer}/${String(first.params.missingProperty)}`)} is required`;
  if (first?.keyword !== 'type' || others.some(({ keyword }) => keyword !== 'type'))
    return `${name} ${plain(first)}`;
  return `${name} must be ${[first, ...others].map(({ params }) => typesOf(params.type)).join(' or ')}`;
}

const typeNames: Readonly<Record<string, string>> = {
  string: 'a string',
  integer: 'a whole number',
  number: 'a number',
  boolean: 'true or false',
  array: 'a list',
  object: 'an object',
};

const typesOf = (types: unknown) =>
  [types]
    .flat()
    .map((type) => typeNames[String(type)] ?? String(type))
    .join(' or ');

function plain({ message = 'is not valid', params = {}, parentSchema }: Partial<Problem> = {}): string {
  const { allowedValues, additionalProperty, format } = params as {
    allowedValues?: unknown[];
    additionalProperty?: string;
    format?: string;
  };
  if (allowedValues) return `must be one of ${allowedValues.join(', ')}`;
  if (additionalProperty !== undefined) {
    if (parentSchema?.patternProperties) return `cannot have the name "${additionalProperty}"`;
    const { clause } = offerNearest(additionalProperty, Object.keys(parentSchema?.properties ?? {}));
    return `has no field "${additionalProperty}"${clause}`;
  }
  if (format === 'date-time') return 'must be a time, as in 2026-11-01T10:00:00Z';
  return message
    .replace('must NOT have more than', 'must have at most')
    .replace('must NOT have fewer than', 'must have at least')
    .replace(/ 1 (character|item|propertie)s$/, (_, one: string) => ` 1 ${one.replace('tie', 'ty')}`);
}

function placeOf(context: string | undefined, pointer: string): ErrorPlace {
  return context === 'body' || context === undefined ? { pointer } : { parameter: pointer.slice(1) };
}
