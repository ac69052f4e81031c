/** Handles a notification of an authenticated sender: limits, body, fields, intake, answer. Works on Node's own request. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { FastifyBaseLogger, FastifyRequest } from 'fastify';
import type { RejectionReason } from '#contract/history/overview.ts';
import { limits } from '#contract/limits.ts';
import { type AppError, badRequest, forbidden } from '#core/errors.ts';
import type { RetryKey } from '#core/intake/idempotency.ts';
import type { Accepted } from '#core/intake/intake.ts';
import { type CheckedFields, checkFields, textProblem } from '#core/intake/notification.ts';
import type { Sender } from '#core/intake/own-sender.ts';
import { answerRawError, logBug, toAppError, tooLarge } from '../errors.ts';
import { requestIdOf } from '../request-id.ts';
import type { Services } from '../services.ts';
import { traceRequest } from '../tracing.ts';
import { queryOf, type ReadFields, readFields, readHeader, readQueryFields } from './notify-fields.ts';
import type { NotifyLimits } from './notify-limits.ts';
import type { IntakeGate } from './overload.ts';

/** A body that comes later than this after its head: its token may have been revoked since. */
const lateBodySeconds = 0.1;

/** Why a sender may no longer send: its token may have been revoked since its request began. */
type RefusalOf = (sender: Sender, sourceIp: string) => Promise<AppError | undefined>;

/** One request of an authenticated sender. */
class NotifyCall {
  readonly request: IncomingMessage;
  readonly sender: Sender;
  readonly #response: ServerResponse;
  readonly #beganAt = performance.now();
  /** Names and values in turn. */
  readonly #headers = ['x-content-type-options', 'nosniff'];

  constructor(request: IncomingMessage, response: ServerResponse, sender: Sender) {
    this.request = request;
    this.#response = response;
    this.sender = sender;
  }

  header(name: string, value: string): void {
    this.#headers.push(name, value);
  }

  get saysLimits(): boolean {
    return this.#headers.includes('ratelimit');
  }

  get seconds(): number {
    return (performance.now() - this.#beganAt) / 1000;
  }

  accept({ id, warning }: Accepted): void {
    const more = warning === undefined ? '' : `,"warning":${JSON.stringify(warning)}`;
    const body = `{"ok":true,"id":"${id}"${more}}`;
    this.#headers.push('content-type', 'application/json; charset=utf-8');
    this.#headers.push('content-length', String(Buffer.byteLength(body)));
    this.#response.writeHead(200, this.#headers).end(body);
  }

  refuse(error: AppError): void {
    answerRawError(error, this.request, this.#response, this.#headers);
  }
}

export class NotifyHandler {
  readonly #services: Pick<Services, 'intake' | 'metrics'> & Partial<Pick<Services, 'tracer'>>;
  readonly #rates: NotifyLimits;
  readonly #gate: IntakeGate;
  readonly #refusalOf: RefusalOf;
  readonly #log: FastifyBaseLogger;

  constructor(
    services: Pick<Services, 'intake' | 'metrics'> & Partial<Pick<Services, 'tracer'>>,
    {
      rates,
      gate,
      refusalOf,
      log,
    }: { rates: NotifyLimits; gate: IntakeGate; refusalOf: RefusalOf; log: FastifyBaseLogger },
  ) {
    this.#services = services;
    this.#rates = rates;
    this.#gate = gate;
    this.#refusalOf = refusalOf;
    this.#log = log;
  }

  /** Answers the request, or ends its connection. `sender` may send notifications. */
  handle(request: IncomingMessage, response: ServerResponse, sender: Sender, sourceIp: string): void {
    const call = new NotifyCall(request, response, sender);
    const answer = () =>
      this.#answer(call, sourceIp).catch((error: unknown) => {
        this.#log.error(
          { err: error, requestId: requestIdOf(request) },
          'a notification could not be answered',
        );
        response.destroy();
      });
    const { tracer } = this.#services;
    const name = isGet(request) ? 'GET /api/notify/send' : 'POST /api/notify';
    if (tracer) void traceRequest(tracer, { name, request, response }, answer);
    else void answer();
  }

  async #answer(call: NotifyCall, sourceIp: string): Promise<void> {
    const { request, sender } = call;
    const metrics = this.#services.metrics.of(sender.tenant);
    let accepted: Accepted;
    try {
      const loading = this.#rates.load(sender);
      // Awaited only if necessary, so that a body that arrived with its head is read without buffering.
      if (loading) await loading;
      const onlyCritical = this.#rates.refuseAnyLevel(call, sender);
      const body = isGet(request) ? Buffer.from(queryOf(request.url)) : await readBody(request);
      const refusal = call.seconds > lateBodySeconds && (await this.#refusalOf(sender, sourceIp));
      if (refusal) throw refusal;
      accepted = await this.#store(call, body, { sourceIp, onlyCritical });
    } catch (error) {
      // The sender disconnected: nothing was refused, and no answer is needed.
      if (request.destroyed && !request.complete) return;
      const known = await this.#explain(call, error);
      logBug(error, known, { log: this.#log, request });
      call.refuse(known);
      return metrics.rejected(reasonOf(known));
    }
    call.accept(accepted);
    metrics.answeredAfter(call.seconds);
  }

  async #store(
    call: NotifyCall,
    body: Buffer,
    { sourceIp, onlyCritical }: { readonly sourceIp: string; readonly onlyCritical: boolean },
  ): Promise<Accepted> {
    const { request, sender } = call;
    const { intake } = this.#services;
    const underWay = this.#gate.enter();
    try {
      if (onlyCritical && !mayBeCritical(request, body)) this.#rates.refuseUsual(call, sender);
      const parsing = this.#services.tracer?.start('parse');
      const { fields, warning, idempotencyKey } = this.#readAndTake(call, body);
      parsing?.end();
      const accepted = await intake.accept(sender, sourceIp, fields, retryKey(request, idempotencyKey));
      return warning === undefined
        ? accepted
        : { id: accepted.id, warning: [accepted.warning, warning].filter(Boolean).join('; ') };
    } finally {
      this.#gate.leave(underWay);
    }
  }

  /** Validates the fields, and takes a token in any case. */
  #readAndTake(
    call: NotifyCall,
    body: Buffer,
  ): Omit<ReadFields, 'fields'> & { readonly fields: CheckedFields } {
    const { request } = call;
    let sent: ReadFields;
    let fields: CheckedFields;
    try {
      sent = isGet(request) ? readQueryFields(request) : readFields(request, body);
      fields = checkFields(sent.fields);
    } catch (error) {
      this.#rates.take(call, call.sender, undefined);
      throw error;
    }
    this.#rates.take(call, call.sender, fields.level);
    return { ...sent, fields };
  }

  /** The answer to an error. A refusal includes the rate limits, and takes a token for a body that is too large. */
  async #explain(call: NotifyCall, error: unknown): Promise<AppError> {
    try {
      const known = toAppError(error);
      if (known.code === 'too-large') this.#rates.take(call, call.sender, undefined);
      else if (!call.saysLimits) await this.#rates.writeHeaders(call, call.sender);
      return known;
    } catch (limit) {
      return toAppError(limit);
    }
  }
}

/** All that a GET sends is in its URL. */
const isGet = ({ method }: IncomingMessage) => method === 'GET';

/** @throws AppError `too-large`, as soon as that is known; Error when the sender goes away. */
function readBody(request: IncomingMessage): Promise<Buffer> {
  const length = Number(request.headers['content-length']);
  if (length > limits.bodyBytes) return Promise.reject(tooLarge(limits.bodyBytes));
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let size = 0;
    const take = (chunk: Buffer) => {
      size += chunk.length;
      // The body is complete.
      if (size === length) return resolve(chunks.length === 0 ? chunk : Buffer.concat([...chunks, chunk]));
      if (size <= limits.bodyBytes) return void chunks.push(chunk);
      request.off('data', take);
      reject(tooLarge(limits.bodyBytes));
    };
    request.on('data', take);
    request.once('end', () => resolve(chunks.length === 1 ? (chunks[0] as Buffer) : Buffer.concat(chunks)));
    request.once('error', reject);
  });
}

/** Whether it could be critical, before it is parsed: by the word itself, or by escapes that may spell it. */
function mayBeCritical({ headers }: IncomingMessage, body: Buffer): boolean {
  if (/critical|=\?/i.test(String(headers['x-level'] ?? ''))) return true;
  return /critical|\\u00|%[4-7]/i.test(body.toString('latin1'));
}

/** `ofQuery`: the key that the query has; then the header is not read. */
function retryKey({ headers, rawHeaders }: IncomingMessage, ofQuery: string | undefined): RetryKey | null {
  if (ofQuery === undefined && headers['idempotency-key'] === undefined) return null;
  const name = ofQuery === undefined ? 'the header Idempotency-Key' : 'idempotencyKey';
  const text = (ofQuery ?? readHeader(rawHeaders, 'Idempotency-Key'))?.trim() ?? '';
  if (text === '' || [...text].length > limits.idempotencyKeyChars) {
    throw badRequest(`${name} must have 1 to ${limits.idempotencyKeyChars} characters`);
  }
  const problem = textProblem(text);
  if (problem) throw badRequest(`${name} ${problem}`);
  return { key: text };
}

const reasons: Readonly<Record<string, RejectionReason>> = {
  'bad-request': 'invalid',
  forbidden: 'forbidden',
  'tenant.suspended': 'forbidden',
  conflict: 'conflict',
  'too-large': 'too-large',
  'unsupported-type': 'unsupported-type',
  'rate-limited': 'rate-limited',
  unavailable: 'unavailable',
};

/** The reason by which a refusal is counted. */
export const reasonOf = ({ code }: AppError): RejectionReason => reasons[code] ?? 'internal';

/** @throws AppError `forbidden` for a caller without a token. */
export function senderOf({ principal }: FastifyRequest): Sender {
  if (principal.kind !== 'token') throw forbidden();
  return principal;
}
