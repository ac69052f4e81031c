import type { FastifyReply, FastifyRequest } from 'fastify';
import { Type } from 'typebox';
import { limits } from '#contract/limits.ts';
import { NotifyAccepted, NotifyBody } from '#contract/notification.ts';
import type { RejectionReason } from '#contract/overview.ts';
import { AppError, badRequest } from '#core/errors.ts';
import type { Sender } from '#core/intake.ts';
import { type CheckedFields, checkFields, type FieldName, fieldNames } from '#core/notification.ts';
import { answerError } from '../errors.ts';
import { problems } from '../responses.ts';
import type { App, Services } from '../services.ts';
import { readFields, readHeader } from './notify-fields.ts';
import { NotifyLimits } from './notify-limits.ts';

const description = `Fields as a JSON body, as headers (X-Title, X-Message, X-Level, X-TTL, X-IP, X-Host, X-Key, X-URL), or
both; a field of the body wins over its header. The answer comes once the notification is durable.`;
const headerNames: Readonly<Record<FieldName, string>> = {
  title: 'X-Title',
  message: 'X-Message',
  level: 'X-Level',
  ttl: 'X-TTL',
  ip: 'X-IP',
  host: 'X-Host',
  key: 'X-Key',
  url: 'X-URL',
};
const headers = {
  ...Object.fromEntries(
    fieldNames.map((name) => [
      headerNames[name],
      {
        type: name === 'ttl' ? 'integer' : 'string',
        description: `As the field ${name}; UTF-8, or RFC 2047.`,
      },
    ]),
  ),
  'Idempotency-Key': {
    type: 'string',
    description: 'The same key with the same content stores nothing again, for 24 h.',
  },
};

/** POST /api/notify: who calls, how often, what was sent; then the intake. */
export function notifyRoutes(app: App, services: Services): void {
  const handlers = createHandlers(services);
  void app.register(async (scope) => {
    scope.removeAllContentTypeParsers();
    scope.addContentTypeParser(
      '*',
      { parseAs: 'buffer', bodyLimit: limits.bodyBytes },
      (_request, body, done) => done(null, body),
    );
    scope.route({
      method: 'POST',
      url: '/api/notify',
      bodyLimit: limits.bodyBytes,
      config: { policy: { scope: 'notify' }, rateLimit: 'own' },
      schema: {
        summary: 'Send a notification',
        description,
        tags: ['sending'],
        security: [{ token: [] }],
        headers: { type: 'object', properties: headers },
        consumes: ['application/json', 'application/x-www-form-urlencoded', 'text/plain'],
        body: Type.Partial(NotifyBody, { title: 'NotifyBody' }),
        response: { 200: NotifyAccepted, ...problems(400, 401, 403, 409, 413, 415, 429, 503) },
      },
      // The schema describes; the handler reads the bytes itself, as headers can stand in for fields.
      validatorCompiler: () => () => true,
      ...handlers,
    });
  });
}

function createHandlers(services: Services) {
  const rates = new NotifyLimits(services);
  return {
    onRequest(request: FastifyRequest, reply: FastifyReply, done: (error?: Error) => void): void {
      takeAnyType(request);
      const sender = senderOf(request);
      const loading = rates.load(sender);
      if (!loading) return done(refusal(() => rates.refuseAnyLevel(reply, sender)));
      loading.then(() => done(refusal(() => rates.refuseAnyLevel(reply, sender))), done);
    },

    async handler(request: FastifyRequest, reply: FastifyReply): Promise<string> {
      const sender = senderOf(request);
      rates.refuseUsual(reply, sender, () => mayBeCritical(request));
      const fields = readAndTake(request, (level) => rates.take(reply, sender, level));
      const id = await services.intake.accept(sender, request.sourceIp, fields, retryKey(request));
      reply.header('content-type', 'application/json; charset=utf-8');
      return `{"ok":true,"id":"${id}"}`;
    },

    /** Whoever is refused is told how the limits stand too, and a body too large is paid for like any other. */
    async errorHandler(
      error: Error & { code?: string },
      request: FastifyRequest,
      reply: FastifyReply,
    ): Promise<FastifyReply> {
      const { principal } = request;
      try {
        if (error.code === 'FST_ERR_CTP_BODY_TOO_LARGE') rates.take(reply, principal, undefined);
        else if (principal && !reply.hasHeader('ratelimit')) await rates.tell(reply, principal);
      } catch (limit) {
        return answerError(limit, request, reply);
      }
      return answerError(error, request, reply);
    },

    onResponse(request: FastifyRequest, reply: FastifyReply, done: () => void): void {
      count(services, request, reply);
      done();
    },
  };
}

const noBody = Buffer.alloc(0);

/** What a check throws, for a hook that hands it on. */
function refusal(check: () => void): Error | undefined {
  try {
    check();
    return undefined;
  } catch (error) {
    return error as Error;
  }
}

/** The fields, checked; whatever comes of that is paid for. */
function readAndTake(request: FastifyRequest, take: (level: string | undefined) => void): CheckedFields {
  let fields: CheckedFields;
  try {
    fields = checkFields(readFields(request.raw, request.body instanceof Buffer ? request.body : noBody));
  } catch (error) {
    take(undefined);
    throw error;
  }
  take(fields.level);
  return fields;
}

/** Fastify refuses a type it cannot read even when there is no body for it to be the type of; here that is up to the body. */
function takeAnyType({ raw }: FastifyRequest): void {
  const type = raw.headers['content-type'];
  if (type === 'application/json') return;
  if (type !== undefined && !/^[\w!#$%&'*+.^`|~-]+\/[\w!#$%&'*+.^`|~-]+\s*(;|$)/.test(type))
    raw.headers['content-type'] = 'application/octet-stream';
}

/** Whether it could be critical, before it is parsed: by the word itself, or by escapes that may spell it. */
function mayBeCritical({ headers, body }: FastifyRequest): boolean {
  if (/critical|=\?/i.test(String(headers['x-level'] ?? ''))) return true;
  return body instanceof Buffer && /critical|\\u00|%[4-7]/i.test(body.toString('latin1'));
}

function senderOf({ principal }: FastifyRequest): Sender {
  if (principal.kind !== 'token') throw new AppError('forbidden', 'forbidden');
  return principal;
}

function retryKey({ raw }: FastifyRequest): string | null {
  if (raw.headers['idempotency-key'] === undefined) return null;
  const text = readHeader(raw.rawHeaders, 'Idempotency-Key')?.trim() ?? '';
  if (text === '' || [...text].length > limits.idempotencyKeyChars) {
    throw badRequest(`the header Idempotency-Key must have 1 to ${limits.idempotencyKeyChars} characters`);
  }
  return text;
}

const reasonOfStatus: Readonly<Record<number, RejectionReason>> = {
  400: 'invalid',
  403: 'forbidden',
  409: 'conflict',
  413: 'too-large',
  415: 'unsupported-type',
  429: 'rate-limited',
  503: 'unavailable',
};

/** Counts the answer for its tenant; a caller that is not known has none. */
function count(
  { metrics }: Services,
  request: FastifyRequest,
  { statusCode, elapsedTime }: FastifyReply,
): void {
  const tenant = (request.principal as Sender | undefined)?.tenant;
  if (tenant === undefined) return;
  const ofTenant = metrics.of(tenant);
  if (statusCode === 200) ofTenant.answeredAfter(elapsedTime / 1000);
  else ofTenant.rejected(reasonOfStatus[statusCode] ?? 'internal');
}
