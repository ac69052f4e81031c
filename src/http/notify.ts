import type { FastifyReply, FastifyRequest } from 'fastify';
import { limits } from '../contract/limits.ts';
import { NotifyAccepted, NotifyBody } from '../contract/notification.ts';
import type { Principal } from '../core/access.ts';
import type { Rate } from '../core/directory.ts';
import { AppError, badRequest } from '../core/errors.ts';
import type { Sender } from '../core/intake.ts';
import type { RejectionReason } from '../core/metrics.ts';
import { type CheckedFields, checkFields } from '../core/notification.ts';
import { RateLimiter, type RateState } from '../core/rate-limit.ts';
import type { TenantSnapshot } from '../core/tenancy.ts';
import { answerError } from './errors.ts';
import { readFields, readHeader } from './notify-fields.ts';
import { type NamedState, rateHeaders } from './rate-headers.ts';
import { problems } from './responses.ts';
import type { App, Services } from './services.ts';

/** The buckets of one kind of traffic: what is critical has its own, of the same size, so that noise cannot lock it out. */
class NotifyLimits {
  readonly #token = new RateLimiter<string>();
  readonly #tenant = new RateLimiter<number>();

  run(how: 'take' | 'look', sender: Principal, rates: Rates, now: number): NamedState[] {
    const states: NamedState[] = [];
    const add = (name: string, rate: Rate | 'off', state: (rate: Rate) => RateState) => {
      if (rate !== 'off') states.push({ name, rate, state: state(rate) });
    };
    add('token', rates.token, (rate) => this.#token[how](sender.id, rate, now));
    // A notification that the token's own bucket refuses takes nothing from the tenant's.
    const stopped = states[0]?.state.allowed === false;
    add('tenant', rates.tenant, (rate) => this.#tenant[stopped ? 'look' : how](sender.tenant, rate, now));
    return states;
  }
}

interface Rates {
  readonly token: Rate | 'off';
  readonly tenant: Rate | 'off';
}

const allowed = (states: readonly NamedState[]) => states.every(({ state }) => state.allowed);

export function notifyRoutes(app: App, services: Services): void {
  const { intake, metrics, now } = services;
  const usual = new NotifyLimits();
  const critical = new NotifyLimits();

  const ratesOf = (caller: Principal, snapshot: TenantSnapshot): Rates => ({
    token: caller.kind === 'key' ? 'off' : (caller.rate ?? services.settings.rateToken),
    tenant: snapshot.record.rate ?? services.settings.rateTenant,
  });

  const exceeded = (reply: FastifyReply, sender: Sender, states: readonly NamedState[]): AppError => {
    rateHeaders(reply, states);
    const refusing = states.find(({ state }) => !state.allowed);
    metrics.of(sender.tenant).rateLimited(refusing?.name === 'tenant' ? 'tenant' : 'token');
    return new AppError('rate-limited', 'rate limit exceeded', {
      retryAfterSeconds: refusing?.state.resetSeconds ?? 1,
    });
  };

  /** Before the body is read: with both kinds of bucket empty, nothing in it could make a difference. */
  const refuseEarly = async (request: FastifyRequest, reply: FastifyReply): Promise<void> => {
    takeAnyType(request);
    const sender = senderOf(request);
    const rates = ratesOf(
      sender,
      services.tenancy.peek(sender.tenant) ?? (await services.tenancy.get(sender.tenant)),
    );
    const states = usual.run('look', sender, rates, now());
    rateHeaders(reply, states);
    if (!allowed(states) && !allowed(critical.run('look', sender, rates, now())))
      throw exceeded(reply, sender, states);
  };

  /** With the usual bucket empty, a body that cannot be critical is refused without being parsed. */
  const refuseUnread = (request: FastifyRequest, reply: FastifyReply, sender: Sender): void => {
    const snapshot = services.tenancy.peek(sender.tenant);
    if (!snapshot) return;
    const states = usual.run('look', sender, ratesOf(sender, snapshot), now());
    if (!allowed(states) && !mayBeCritical(request)) throw exceeded(reply, sender, states);
  };

  /** Takes from the bucket the level belongs to. What is not valid is paid from the usual one. */
  const take = (reply: FastifyReply, sender: Sender, level: string | undefined): void => {
    const snapshot = services.tenancy.peek(sender.tenant);
    if (!snapshot) return;
    const states = (level === 'critical' ? critical : usual).run(
      'take',
      sender,
      ratesOf(sender, snapshot),
      now(),
    );
    if (!allowed(states)) throw exceeded(reply, sender, states);
    rateHeaders(reply, states);
  };

  /** Whoever is refused is told how the limits stand too, and a body too large is paid for like any other. */
  const refuse = async (
    error: Error & { code?: string },
    request: FastifyRequest,
    reply: FastifyReply,
  ): Promise<FastifyReply> => {
    const { principal } = request;
    if (error.code === 'FST_ERR_CTP_BODY_TOO_LARGE') {
      try {
        take(reply, senderOf(request), undefined);
      } catch (limit) {
        return answerError(limit, request, reply);
      }
    } else if (principal && !reply.raw.hasHeader('RateLimit')) {
      const snapshot = await services.tenancy.get(principal.tenant).catch(() => undefined);
      if (snapshot) rateHeaders(reply, usual.run('look', principal, ratesOf(principal, snapshot), now()));
    }
    return answerError(error, request, reply);
  };

  const handle = async (request: FastifyRequest, reply: FastifyReply): Promise<string> => {
    const sender = senderOf(request);
    refuseUnread(request, reply, sender);
    const fields = readAndTake(request, reply, sender, take);
    const id = await intake.accept(sender, request.sourceIp, fields, retryKey(request));
    reply.header('content-type', 'application/json; charset=utf-8');
    return `{"ok":true,"id":"${id}"}`;
  };

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
      config: { policy: { scope: 'notify' } },
      schema: {
        summary: 'Send a notification',
        description: `Fields as a JSON body, as headers (X-Title, X-Message, X-Level, X-TTL, X-IP, X-Host, X-Key, X-URL), or both;
a field of the body wins over its header. The answer comes once the notification is durable.`,
        tags: ['sending'],
        security: [{ token: [] }],
        headers: {
          type: 'object',
          properties: {
            'idempotency-key': {
              type: 'string',
              description: 'The same key with the same content stores nothing again, for 24 h.',
            },
          },
        },
        consumes: ['application/json', 'application/x-www-form-urlencoded', 'text/plain'],
        body: NotifyBody,
        response: { 200: NotifyAccepted, ...problems(400, 401, 403, 409, 413, 415, 429, 503) },
      },
      validatorCompiler: () => () => true,
      onRequest: refuseEarly,
      errorHandler: refuse,
      onResponse: (request, reply, done) => {
        count(services, request, reply);
        done();
      },
      handler: handle,
    });
  });
}

function readAndTake(
  request: FastifyRequest,
  reply: FastifyReply,
  sender: Sender,
  take: (reply: FastifyReply, sender: Sender, level: string | undefined) => void,
): CheckedFields {
  let fields: CheckedFields;
  try {
    fields = checkFields(
      readFields(request.raw, request.body instanceof Buffer ? request.body : Buffer.alloc(0)),
    );
  } catch (error) {
    take(reply, sender, undefined);
    throw error;
  }
  take(reply, sender, fields.level);
  return fields;
}

/** Fastify refuses a type it cannot read even when there is no body for it to be the type of; here that is up to the body. */
function takeAnyType({ raw }: FastifyRequest): void {
  const type = raw.headers['content-type'];
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
