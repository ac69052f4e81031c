import type { FastifyRequest } from 'fastify';
import { Type } from 'typebox';
import { NotifyAccepted, NotifyBody } from '#contract/history/notification.ts';
import { type FieldName, fieldNames } from '#core/intake/notification.ts';
import type { Sender } from '#core/intake/own-sender.ts';
import type { Authenticator } from '../callers/auth.ts';
import { answerError, toAppError } from '../errors.ts';
import { problems, route, UrlToken } from '../openapi/route-schemas.ts';
import { findHeadProblem } from '../request-head.ts';
import type { App, Services } from '../services.ts';
import { NotifyHandler, reasonOf, senderOf } from './notify-handler.ts';
import type { NotifyLimits } from './notify-limits.ts';
import { guardIntake, type IntakeGate } from './overload.ts';

const policy = { scope: 'notify' } as const;
const description = `Fields as a JSON body, as headers (X-Title, X-Message, X-Level, X-TTL, X-IP, X-Host, X-Key, X-URL, X-Expect-Every, X-Expect-Level), or
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
  expectEvery: 'X-Expect-Every',
  expectLevel: 'X-Expect-Level',
};
const headers = {
  ...Object.fromEntries(
    fieldNames.map((name) => [
      headerNames[name],
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
  {
    authenticator,
    rates,
    gate,
  }: { readonly authenticator: Authenticator; readonly rates: NotifyLimits; readonly gate: IntakeGate },
): void {
  const refusalOf = (principal: Sender, sourceIp: string) =>
    authenticator.refusalOf(policy, { principal, sourceIp });
  const handler = new NotifyHandler(services, { rates, gate, refusalOf, log: app.log });
  guardIntake(app.server, {
    gate,
    onRefused: () => services.metrics.overload.inc(),
    take(request, response) {
      // While the server drains, the framework must answer, because it adds `Connection: close`.
      if (services.tenantStreams.draining || findHeadProblem(request)) return false;
      const known = authenticator.recogniseSender(request, policy);
      if (known) handler.handle(request, response, known.sender, known.sourceIp);
      return known !== undefined;
    },
  });
  app.route({
    method: 'POST',
    url: '/api/notify',
    ...route(
      policy,
      {
        summary: 'Send a notification',
        description,
        headers: { type: 'object', properties: headers },
        querystring: UrlToken,
        consumes: ['application/json', 'application/x-www-form-urlencoded', 'text/plain'],
        body: Type.Partial(NotifyBody, { title: 'NotifyBody' }),
        response: { 200: NotifyAccepted, ...problems(409) },
      },
      { rateLimit: 'own', urlToken: 'if allowed' },
    ),
    // The schema is only documentation. The handler validates the fields of body and headers together.
    validatorCompiler: () => () => true,
    onRequest(request, reply) {
      const sender = senderOf(request);
      reply.hijack();
      handler.handle(request.raw, reply.raw, sender, request.sourceIp);
    },
    handler: () => undefined,
    /** Errors of authenticated senders carry the rate limit headers too. */
    async errorHandler(error, request, reply) {
      const principal = request.principal as FastifyRequest['principal'] | undefined;
      if (!principal) return answerError(error, request, reply);
      services.metrics.of(principal.tenant).rejected(reasonOf(toAppError(error)));
      await rates.writeHeaders(reply, principal);
      return answerError(error, request, reply);
    },
  });
}
