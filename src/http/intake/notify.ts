import type { IncomingHttpHeaders } from 'node:http';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { Type } from 'typebox';
import { fieldNames, sentFields } from '#contract/history/fields.ts';
import { NotifyAccepted, NotifyBody } from '#contract/history/notification.ts';
import { AppError } from '#core/errors.ts';
import type { Sender } from '#core/intake/own-sender.ts';
import { allows } from '#core/people/access.ts';
import type { Authenticator } from '../callers/auth.ts';
import { answerError } from '../errors.ts';
import { problems, route, UrlToken } from '../openapi/route-schemas.ts';
import { findHeadProblem } from '../request-head.ts';
import type { App, Services } from '../services.ts';
import { type IntakeControl, senderOf } from './intake-control.ts';
import { NotifyHandler } from './notify-handler.ts';
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
    errorHandler: answerSender,
  });
  app.route({
    method: 'GET',
    url: '/api/notify/send',
    ...route(
      policy,
      {
        summary: 'Send a notification with GET',
        description: `For devices that can only open a URL. The token needs the option \`allowInUrl\`. A field of the query wins over its
header. HEAD stores nothing, and what a browser fetches in advance is refused.`,
        headers: { type: 'object', properties: headers },
        querystring: Type.Object({
          ...Type.Partial(NotifyBody).properties,
          idempotencyKey: Type.Optional(Type.String({ description: 'As the header Idempotency-Key.' })),
          ...UrlToken.properties,
        }),
        response: { 200: NotifyAccepted, ...problems(409) },
      },
      { rateLimit: 'own', urlToken: 'if allowed' },
    ),
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
    return answerError(error, request, reply, await control.explain(error, request, reply));
  }
}

const notAllowedInUrl = () =>
  new AppError(
    'forbidden',
    'forbidden: GET takes only tokens with the option "Allow in URLs" (allowInUrl), which needs the scope notify alone; switch it on, or use POST /api/notify',
  );

/** What browsers and the previews of links say when nobody has opened the link yet. @throws AppError `forbidden`. */
function refuseEarlyFetch(headers: IncomingHttpHeaders): void {
  const purpose = ['sec-purpose', 'purpose', 'x-purpose', 'x-moz'].map((name) => headers[name]).join();
  if (/prefetch|prerender|preview/i.test(purpose))
    throw new AppError(
      'forbidden',
      'nothing is sent for a page that is fetched in advance: open the URL itself',
    );
}
