import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { NtfyAccount, NtfyHealth, ntfyCounts } from '#contract/integrations/integration.ts';
import { AppError, forbidden, unauthorized } from '#core/errors.ts';
import type { Sender } from '#core/intake/own-sender.ts';
import { isSigned } from '#core/intake/webhook-signatures.ts';
import type { Answer } from '#integrations/format.ts';
import type { Authenticator } from '../callers/auth.ts';
import { answerError, endAfterBody } from '../errors.ts';
import { route } from '../openapi/route-schemas.ts';
import type { App, Services } from '../services.ts';
import { isCutShort, readStart } from './body.ts';
import { type IntakeControl, senderOf } from './intake-control.ts';
import { IntegrationHandler } from './integration-handler.ts';
import type { PayloadTurns } from './overload.ts';
import { type SenderRoute, senderRoutes } from './sender-routes.ts';

const policy = { scope: 'notify' } as const;

interface IntegrationParts {
  readonly control: IntakeControl;
  readonly turns: PayloadTurns;
  readonly authenticator: Authenticator;
}

interface Parts {
  readonly control: IntakeControl;
  readonly handler: IntegrationHandler;
  readonly signed: SignedSenders;
}

/** Payloads as other software sends them: at /api/integrations/NAME, /ntfy and /gotify. */
export function integrationRoutes(
  app: App,
  services: Services,
  { control, turns, authenticator }: IntegrationParts,
): void {
  const parts: Parts = {
    control,
    handler: new IntegrationHandler(services, control, turns),
    signed: new SignedSenders(services, authenticator),
  };
  void app.register(async (scope) => {
    // The formats read the body themselves, whatever its type is called.
    scope.removeAllContentTypeParsers();
    scope.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, body, done) => done(null, body));
    scope.addHook('onSend', async ({ raw }, reply) => {
      // Some senders send their password only after a 401 with this header. A browser would ask its user, and keep it.
      if (reply.statusCode === 401 && !isFromBrowser(raw.headers))
        reply.header('www-authenticate', 'Bearer, Basic realm="Belfry"');
      if (!isCutShort(raw)) return;
      reply.header('connection', 'close');
      endAfterBody(raw, reply.raw);
    });
    const routes = senderRoutes(services);
    for (const each of routes.filter(({ takesFiles }) => !takesFiles)) addRoute(scope, parts, each);
    answerHandshake(scope);
    ntfyAccountRoutes(scope);
    void scope.register(async (files) => {
      files.removeAllContentTypeParsers();
      files.addContentTypeParser('*', (_request: FastifyRequest, payload: IncomingMessage) =>
        readStart(payload),
      );
      for (const each of routes.filter(({ takesFiles }) => takesFiles)) addRoute(files, parts, each);
    });
  });
}

/**
 * Senders of CloudEvents ask first whether they may send, without a credential. The answer grants nothing: what they then send needs a
 * token. https://github.com/cloudevents/spec/blob/v1.0.2/cloudevents/http-webhook.md#4-abuse-protection
 */
function answerHandshake(scope: App): void {
  scope.route({
    method: 'OPTIONS',
    url: '/api/integrations/cloudevents',
    config: { policy: 'public' },
    schema: { hide: true },
    handler: async ({ headers }, reply) => {
      const origin = headers['webhook-request-origin'];
      if (typeof origin === 'string' && /^[!-~]{1,255}$/.test(origin))
        reply.header('webhook-allowed-origin', origin).header('webhook-allowed-rate', '*');
      return reply.header('allow', 'POST, OPTIONS').send();
    },
  });
}

function addRoute(scope: App, { control, handler, signed }: Parts, own: SenderRoute): void {
  const entryOf = (request: FastifyRequest) => own.entryOf(request.params as Record<string, string>, request);
  scope.route({
    method: own.method,
    url: own.url,
    bodyLimit: own.bodyBytes,
    ...route(own.isSigned ? 'public' : policy, {
      ...own.schema,
      rateLimit: 'own',
      ...(!own.isSigned && { senderCredential: true, urlToken: own.urlToken ?? 'if allowed' }),
    }),
    // The schemas describe; each format checks its own payload.
    validatorCompiler: () => () => true,
    onRequest: async (request, reply) => {
      entryOf(request);
      if (own.method === 'GET') refuseBrowser(request);
      replaceInvalidType(request.raw.headers);
      if (own.isSigned) await signed.find(request, reply);
      else await control.admit(reply, senderOf(request));
    },
    handler: async (request, reply) => {
      if (own.isSigned) {
        await signed.verify(request, reply);
        await control.admit(reply, senderOf(request));
      }
      if (request.method === 'HEAD') return control.answerHead(request, reply);
      const { load, name } = entryOf(request);
      const format = { ...(await load()), name };
      return send(reply, await handler.handle(request, reply, format, own.takesFiles ? 0 : own.bodyBytes));
    },
    async errorHandler(error, request, reply) {
      const principal = request.principal as FastifyRequest['principal'] | undefined;
      if (principal?.kind !== 'token') return answerError(error, request, reply);
      const known = await control.prepareErrorAnswer(error, request, reply, handler.hasCounted(request));
      if (known.code !== 'rate-limited' || !entryOf(request).retriesOnly5xx)
        return answerError(error, request, reply, known);
      const { message, retryAfterSeconds = 1 } = known;
      return answerError(new AppError('unavailable', message, { retryAfterSeconds }), request, reply);
    },
  });
}

/** Any page can make a browser get a URL. @throws AppError `forbidden`. */
function refuseBrowser({ headers }: FastifyRequest): void {
  if (isFromBrowser(headers))
    throw forbidden('a browser must not publish with GET: use POST, or another program');
}

/** Without https, browsers send no `Sec-Fetch-Site`. A page cannot hide their `Accept-Language`; devices do not send it. */
function isFromBrowser(headers: IncomingHttpHeaders): boolean {
  const { 'sec-fetch-site': site, origin, 'accept-language': language, 'user-agent': agent } = headers;
  return (
    site !== undefined || origin !== undefined || (language !== undefined && /^Mozilla\//.test(agent ?? ''))
  );
}

/** The framework would refuse an unreadable content type, but formats inspect the body itself. */
function replaceInvalidType(headers: IncomingHttpHeaders): void {
  const type = headers['content-type'];
  if (type !== undefined && !/^[\w!#$%&'*+.^`|~-]+\/[\w!#$%&'*+.^`|~-]+\s*(?:;|$)/.test(type.trim()))
    headers['content-type'] = 'application/octet-stream';
}

/** A text goes out as it is, anything else as JSON. */
function send(reply: FastifyReply, { status, body }: Answer): FastifyReply {
  const isText = typeof body === 'string';
  const type = isText ? 'text/plain; charset=utf-8' : 'application/json; charset=utf-8';
  return reply
    .code(status)
    .type(type)
    .send(isText ? body : JSON.stringify(body));
}

/** Senders that sign payloads: the path contains the token's id, and the token's signing secret signs the body. */
class SignedSenders {
  readonly #services: Services;
  readonly #authenticator: Authenticator;
  /** The claimed sender of a request, until its signature is verified. */
  readonly #claimed = new WeakMap<FastifyRequest, Sender>();

  constructor(services: Services, authenticator: Authenticator) {
    this.#services = services;
    this.#authenticator = authenticator;
  }

  /** Before the body is read. @throws AppError `unauthorized` when no signature could be right. */
  async find(request: FastifyRequest, reply: FastifyReply): Promise<void> {
    // A missing signature is no failed attempt, like a missing token.
    if (!isSigned(request.headers)) throw unauthorized();
    const { tokenId = '' } = request.params as { tokenId?: string };
    const sender = await this.#authenticator.findSender(tokenId, request.sourceIp);
    if (!sender) throw this.#authenticator.refuse(request.sourceIp, reply);
    this.#claimed.set(request, sender);
  }

  /** Makes the sender the principal of the request. @throws AppError `unauthorized` or `forbidden`. */
  async verify(request: FastifyRequest, reply: FastifyReply): Promise<void> {
    const { signatures, usage, now } = this.#services;
    const sender = this.#claimed.get(request);
    const body = (request.body as Buffer | undefined) ?? Buffer.alloc(0);
    if (!sender) throw this.#authenticator.refuse(request.sourceIp, reply);
    if (!signatures.matches(sender.id, request.headers, body, now()))
      throw this.#authenticator.refuseSigner(sender.id, request.sourceIp, reply);
    this.#authenticator.proveSigner(sender.id, request.sourceIp);
    // The body may have come long after the sender was found.
    const { sourceIp } = request;
    const refusal = await this.#authenticator.refusalOf({ scope: 'notify' }, { principal: sender, sourceIp });
    if (refusal) throw refusal;
    usage.recordUse({ tenant: sender.tenant, id: sender.id, at: now(), from: sourceIp });
    request.principal = sender;
  }
}

const noStats = Object.fromEntries(ntfyCounts.map((name) => [name, 0])) as Record<
  (typeof ntfyCounts)[number],
  0
>;

/** What clients of ntfy ask before they publish or subscribe: whether the server is there, and whether it knows them. */
function ntfyAccountRoutes(app: App): void {
  app.get(
    '/ntfy/v1/health',
    route('public', {
      tags: ['sending'],
      summary: 'Whether the server answers, as of ntfy',
      response: { 200: NtfyHealth },
      rateLimit: 'none',
    }),
    async () => ({ healthy: true as const }),
  );
  app.get(
    '/ntfy/v1/account',
    route(
      { scope: 'notify', orScope: 'panel' },
      {
        summary: 'The account of the caller, as of ntfy: its token',
        response: { 200: NtfyAccount },
        senderCredential: true,
        urlToken: 'if allowed',
      },
    ),
    async ({ principal }) => ({ username: principal.name, role: 'user' as const, stats: noStats }),
  );
}
