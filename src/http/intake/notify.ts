import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import type { FastifyBaseLogger, FastifyReply, FastifyRequest } from 'fastify';
import { Type } from 'typebox';
import { fieldNames, sentFields } from '#contract/history/fields.ts';
import { NotifyAccepted, NotifyBody } from '#contract/history/notification.ts';
import { limits } from '#contract/limits.ts';
import { type AppError, badRequest, forbidden } from '#core/errors.ts';
import type { RetryKey } from '#core/intake/idempotency.ts';
import type { Accepted } from '#core/intake/intake.ts';
import { type CheckedFields, checkFields, textProblem } from '#core/intake/notification.ts';
import type { Sender } from '#core/intake/own-sender.ts';
import { allows } from '#core/people/access.ts';
import type { Authenticator } from '../callers/auth.ts';
import { type Answer, answerError, tooLarge } from '../errors.ts';
import { problems, route, UrlToken } from '../openapi/route-schemas.ts';
import { findHeadProblem, requestIdOf, traceRequest } from '../requests.ts';
import type { App, Services } from '../services.ts';
import { type IntakeControl, senderOf } from './intake-control.ts';
import { queryOf, type ReadFields, readFields, readHeader, readQueryFields } from './notify-fields.ts';
import { guardIntake } from './overload.ts';

const policy = { scope: 'notify' } as const;
const headerNames = fieldNames.map((name) => sentFields[name].header);
const description = `Fields as a JSON body, as headers (${headerNames.join(', ')}), or
both; a field of the body wins over its header. The answer comes once the notification is durable.`;
const headers = {
  ...Object.fromEntries(
    fieldNames.map((name) => [
      sentFields[name].header,
      {
        type: name === 'ttl' ? 'integer' : 'string',
        description: `As the field ${name}; UTF-8, Latin-1, or RFC 2047.`,
      },
    ]),
  ),
  'Idempotency-Key': {
    type: 'string',
    description: 'The same key with the same content stores nothing again, for 24 h.',
  },
};

/**
 * POST /api/notify. Fast path: if the token is in the authenticator's cache, the handler takes Node's request directly, without
 * the framework. Otherwise the framework's hooks authenticate the request and call the same handler.
 */
export function notifyRoutes(
  app: App,
  services: Services,
  { authenticator, control }: { readonly authenticator: Authenticator; readonly control: IntakeControl },
): void {
  const refusalOf = (principal: Sender, sourceIp: string) =>
    authenticator.refusalOf(policy, { principal, sourceIp });
  const handler = new NotifyHandler(services, control, { refusalOf, log: app.log });
  guardIntake(app.server, {
    gate: control.gate,
    onRefused: () => services.metrics.overload.inc(),
    take(request, response) {
      // While the server drains, the framework must answer, because it adds `Connection: close`.
      if (services.tenantStreams.draining || findHeadProblem(request)) return false;
      const { principal, sourceIp } = authenticator.recognise(request, { policy });
      if (principal?.kind !== 'token' || !allows(policy, principal)) return false;
      handler.handle(request, response, principal, sourceIp);
      return true;
    },
  });
  app.route({
    method: 'POST',
    url: '/api/notify',
    ...route(policy, {
      summary: 'Send a notification',
      description,
      headers: { type: 'object', properties: headers },
      querystring: UrlToken,
      consumes: ['application/json', 'application/x-www-form-urlencoded', 'text/plain'],
      body: Type.Partial(NotifyBody, { title: 'NotifyBody' }),
      response: { 200: NotifyAccepted, ...problems(409) },
      rateLimit: 'own',
      urlToken: 'if allowed',
    }),
    // The schema is only documentation. The handler validates the fields of body and headers together.
    validatorCompiler: () => () => true,
    onRequest(request, reply) {
      const sender = senderOf(request);
      reply.hijack();
      handler.handle(request.raw, reply.raw, sender, request.sourceIp);
    },
    handler: () => undefined,
    errorHandler: answerSender,
  });
  app.route({
    method: 'GET',
    url: '/api/notify/send',
    ...route(policy, {
      summary: 'Send a notification with GET',
      description: `For devices that can only open a URL. The token needs the option \`allowInUrl\`. A field of the query wins over its
header. HEAD stores nothing, and what a browser fetches in advance is refused.`,
      headers: { type: 'object', properties: headers },
      querystring: Type.Object({
        ...Type.Partial(NotifyBody).properties,
        labels: Type.Optional(Type.String({ description: 'As in env=prod, site=plant 2.' })),
        idempotencyKey: Type.Optional(Type.String({ description: 'As the header Idempotency-Key.' })),
        ...UrlToken.properties,
      }),
      response: { 200: NotifyAccepted, ...problems(409) },
      rateLimit: 'own',
      urlToken: 'if allowed',
    }),
    validatorCompiler: () => () => true,
    async onRequest(request, reply) {
      const sender = senderOf(request);
      if (!sender.allowInUrl) throw notAllowedInUrl();
      refuseEarlyFetch(request.headers);
      if (request.method === 'HEAD') return;
      reply.hijack();
      handler.handle(request.raw, reply.raw, sender, request.sourceIp);
    },
    handler: control.answerHead,
    errorHandler: answerSender,
  });

  /** Errors of authenticated senders carry the rate limit headers too. */
  async function answerSender(error: Error, request: FastifyRequest, reply: FastifyReply) {
    const principal = request.principal as FastifyRequest['principal'] | undefined;
    if (!principal) return answerError(error, request, reply);
    return answerError(error, request, reply, await control.prepareErrorAnswer(error, request, reply));
  }
}

const notAllowedInUrl = () =>
  forbidden(
    'forbidden: GET takes only tokens with the option "Allow in URLs" (allowInUrl), which needs the scope notify alone; switch it on, or use POST /api/notify',
  );

/** What browsers and the previews of links say when nobody has opened the link yet. @throws AppError `forbidden`. */
function refuseEarlyFetch(headers: IncomingHttpHeaders): void {
  const purpose = ['sec-purpose', 'purpose', 'x-purpose', 'x-moz'].map((name) => headers[name]).join();
  if (/prefetch|prerender|preview/i.test(purpose))
    throw forbidden('nothing is sent for a page that is fetched in advance: open the URL itself');
}

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

/** Handles a notification of an authenticated sender: limits, body, fields, intake, answer. Works on Node's own request. */
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
      const refused = { raw: request, log: this.#log, principal: sender };
      const known = await this.#control.prepareErrorAnswer(error, refused, call);
      // The sender disconnected: no answer is needed.
      if (request.destroyed && !request.complete) return;
      answerError(error, refused, call, known);
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
