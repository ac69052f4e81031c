/** Handles a notification of an authenticated sender: limits, body, fields, intake, answer. Works on Node's own request. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { FastifyBaseLogger } from 'fastify';
import { limits } from '#contract/limits.ts';
import { type AppError, badRequest } from '#core/errors.ts';
import type { RetryKey } from '#core/intake/idempotency.ts';
import type { Accepted } from '#core/intake/intake.ts';
import { type CheckedFields, checkFields, textProblem } from '#core/intake/notification.ts';
import type { Sender } from '#core/intake/own-sender.ts';
import { type Answer, answerError, tooLarge } from '../errors.ts';
import { requestIdOf } from '../request-id.ts';
import type { Services } from '../services.ts';
import { traceRequest } from '../tracing.ts';
import type { IntakeControl } from './intake-control.ts';
import { queryOf, type ReadFields, readFields, readHeader, readQueryFields } from './notify-fields.ts';

/** A body that comes later than this after its head: its token may have been revoked since. */
const lateBodySeconds = 0.1;

/** Why a sender may no longer send: its token may have been revoked since its request began. */
type RefusalOf = (sender: Sender, sourceIp: string) => Promise<AppError | undefined>;

/** The answer to one request of an authenticated sender. */
class NotifyCall implements Answer {
  readonly raw: ServerResponse;
  readonly sender: Sender;
  readonly #beganAt = performance.now();
  #status = 200;
  /** Names and values in turn. */
  readonly #headers = ['x-content-type-options', 'nosniff'];

  constructor(response: ServerResponse, sender: Sender) {
    this.raw = response;
    this.sender = sender;
  }

  header(name: string, value: string): void {
    this.#headers.push(name, value);
  }

  hasHeader(name: string): boolean {
    return this.#headers.includes(name);
  }

  code(status: number): void {
    this.#status = status;
  }

  send(body: string): void {
    this.header('content-length', String(Buffer.byteLength(body)));
    this.raw.writeHead(this.#status, this.#headers).end(body);
  }

  get seconds(): number {
    return (performance.now() - this.#beganAt) / 1000;
  }

  accept({ id, warning }: Accepted): void {
    const more = warning === undefined ? '' : `,"warning":${JSON.stringify(warning)}`;
    this.header('content-type', 'application/json; charset=utf-8');
    this.send(`{"ok":true,"id":"${id}"${more}}`);
  }
}

type HandlerServices = Pick<Services, 'intake' | 'metrics'> & Partial<Pick<Services, 'tracer'>>;

export class NotifyHandler {
  readonly #services: HandlerServices;
  readonly #control: IntakeControl;
  readonly #refusalOf: RefusalOf;
  readonly #log: FastifyBaseLogger;

  constructor(
    services: HandlerServices,
    control: IntakeControl,
    { refusalOf, log }: { readonly refusalOf: RefusalOf; readonly log: FastifyBaseLogger },
  ) {
    this.#services = services;
    this.#control = control;
    this.#refusalOf = refusalOf;
    this.#log = log;
  }

  /** Answers the request, or ends its connection. `sender` may send notifications. */
  handle(request: IncomingMessage, response: ServerResponse, sender: Sender, sourceIp: string): void {
    const call = new NotifyCall(response, sender);
    const answer = () =>
      this.#answer(request, call, sourceIp).catch((error: unknown) => {
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

  async #answer(request: IncomingMessage, call: NotifyCall, sourceIp: string): Promise<void> {
    const { sender } = call;
    let accepted: Accepted;
    try {
      const admitted = this.#control.admit(call, sender);
      // Awaited only if necessary, so that a body that arrived with its head is read without buffering.
      if (admitted) await admitted;
      const body = isGet(request) ? Buffer.from(queryOf(request.url)) : await readBody(request);
      const refusal = call.seconds > lateBodySeconds && (await this.#refusalOf(sender, sourceIp));
      if (refusal) throw refusal;
      accepted = await this.#control.run(() => this.#store(request, call, body, sourceIp));
    } catch (error) {
      const known = await this.#control.explain(error, { raw: request, principal: sender }, call);
      // The sender disconnected: no answer is needed.
      if (request.destroyed && !request.complete) return;
      answerError(error, { raw: request, log: this.#log }, call, known);
      return;
    }
    call.accept(accepted);
    this.#services.metrics.of(sender.tenant).answeredAfter(call.seconds);
  }

  async #store(
    request: IncomingMessage,
    call: NotifyCall,
    body: Buffer,
    sourceIp: string,
  ): Promise<Accepted> {
    const { intake, tracer } = this.#services;
    const parsing = tracer?.start('parse');
    const { fields, warning, idempotencyKey } = this.#readAndTake(request, call, body);
    parsing?.end();
    const accepted = await intake.accept(call.sender, sourceIp, fields, retryKey(request, idempotencyKey));
    return warning === undefined
      ? accepted
      : { id: accepted.id, warning: [accepted.warning, warning].filter(Boolean).join('; ') };
  }

  /** Validates the fields, and takes a token in any case. */
  #readAndTake(
    request: IncomingMessage,
    call: NotifyCall,
    body: Buffer,
  ): Omit<ReadFields, 'fields'> & { readonly fields: CheckedFields } {
    const { rates } = this.#control;
    let sent: ReadFields;
    let fields: CheckedFields;
    try {
      sent = isGet(request) ? readQueryFields(request) : readFields(request, body);
      fields = checkFields(sent.fields);
    } catch (error) {
      rates.take(call, call.sender, undefined);
      throw error;
    }
    rates.take(call, call.sender, fields.level);
    return { ...sent, fields };
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
