import type { IncomingHttpHeaders } from 'node:http';
import type { FastifyReply, FastifyRequest, FastifySchema } from 'fastify';
import { Type } from 'typebox';
import {
  GotifyAccepted,
  GotifyMessage,
  IntegrationAccepted,
  NtfyAccepted,
  NtfyMessage,
  OpsgenieAccepted,
  PagerDutyAccepted,
  SenderPayload,
} from '#contract/integration.ts';
import { limits } from '#contract/limits.ts';
import { MappingName } from '#contract/mapping.ts';
import { AppError } from '#core/errors.ts';
import type { Answer } from '#integrations/format.ts';
import {
  type FormatEntry,
  findWebhook,
  gotify,
  ntfy,
  ntfyJson,
  opsgenie,
  webhookNames,
} from '#integrations/formats.ts';
import type { Authenticator } from '../auth.ts';
import { answerError, toAppError } from '../errors.ts';
import { problems, route } from '../route-schemas.ts';
import type { App, Services } from '../services.ts';
import { findCustomFormat } from './custom-format.ts';
import { type IntakeControl, IntegrationHandler } from './integration-handler.ts';
import { SignedSenders } from './signed-sender.ts';

const policy = { scope: 'notify' } as const;
/** Webhooks contain much more than the texts to show. */
const webhookBytes = 1024 * 1024;

const querystring = Type.Object({
  level: Type.Optional(
    Type.String({
      description:
        "Levels by the sender's own words, and one for all others, as in `critical:alarm,warning:warn,info`.",
    }),
  ),
});

interface SenderRoute {
  readonly method: 'POST' | 'PUT';
  readonly url: string;
  readonly bodyBytes: number;
  readonly schema: FastifySchema & { readonly summary: string };
  /** The token's id stands in the path, and the body is signed. */
  readonly isSigned?: true;
  /** @throws AppError `not-found`. */
  readonly entryOf: (params: Readonly<Record<string, string>>, request: FastifyRequest) => FormatEntry;
}

const webhookRoute: SenderRoute = {
  method: 'POST',
  url: '/api/integrations/:name',
  bodyBytes: webhookBytes,
  schema: {
    summary: 'Send a payload in the format of other software',
    description: `One notification for each alert of the payload, with a level of its own and a \`key\` by which a resolve replaces its
alert. The token is a bearer token, the password of basic authentication, or the sender's own header. What is sent again is not stored
twice. Formats: ${webhookNames.join(', ')}.`,
    params: Type.Object({ name: Type.Enum([...webhookNames]) }),
    querystring,
    body: SenderPayload,
    response: { 200: IntegrationAccepted, 202: PagerDutyAccepted },
  },
  entryOf({ name = '' }) {
    const entry = findWebhook(name);
    if (!entry)
      throw new AppError(
        'not-found',
        `there is no such integration: it is one of ${webhookNames.join(', ')}`,
      );
    return entry;
  },
};

const signedRoute: SenderRoute = {
  ...webhookRoute,
  url: '/api/integrations/:name/:tokenId',
  isSigned: true,
  schema: {
    ...webhookRoute.schema,
    tags: ['sending'],
    summary: 'Send a signed payload in the format of other software',
    description: `As without the token's id. The body is signed with the token's signing secret (GET /api/tokens/{id}/signing-secret) as
GitHub signs, in X-Hub-Signature-256, or as Standard Webhooks say, in webhook-id, webhook-timestamp and webhook-signature.`,
    params: Type.Object({
      name: Type.Enum([...webhookNames]),
      tokenId: Type.String({ description: 'The public part of the token.' }),
    }),
    response: { ...(webhookRoute.schema.response as object), ...problems(401, 403) },
  },
};

const customRoute = (services: Services): SenderRoute => ({
  method: 'POST',
  url: '/api/integrations/custom/:mapping',
  bodyBytes: webhookBytes,
  schema: {
    summary: 'Send a payload that a mapping of the tenant reads',
    description:
      'The mapping is made with PUT /api/mappings/{name}. Its last payload is kept in memory for those who edit it.',
    params: Type.Object({ mapping: MappingName }),
    querystring,
    body: SenderPayload,
    response: { 200: IntegrationAccepted },
  },
  entryOf: ({ mapping = '' }, request) => ({
    name: `custom:${mapping}`,
    load: () => findCustomFormat(services, request),
  }),
});

const gotifyRoute: SenderRoute = {
  method: 'POST',
  url: '/gotify/message',
  bodyBytes: limits.bodyBytes,
  schema: {
    summary: 'Send a message as to Gotify',
    description: 'Also as a form. The token may stand in X-Gotify-Key; it is not taken from the URL.',
    querystring,
    body: GotifyMessage,
    response: { 200: GotifyAccepted },
  },
  entryOf: () => gotify,
};

const opsgenieRoutes = [
  { url: '/api/integrations/opsgenie/v2/alerts', summary: 'Create an alert as in Opsgenie' },
  { url: '/api/integrations/opsgenie/v2/alerts/:alias/close', summary: 'Close an alert as in Opsgenie' },
].map(
  ({ url, summary }): SenderRoute => ({
    method: 'POST',
    url,
    bodyBytes: webhookBytes,
    schema: {
      summary,
      description:
        'The token may stand in `Authorization: GenieKey …`. A close replaces its alert on panels.',
      ...(url.includes(':alias') && { params: Type.Object({ alias: Type.String() }) }),
      querystring,
      body: SenderPayload,
      response: { 202: OpsgenieAccepted },
    },
    entryOf: () => opsgenie,
  }),
);

const ntfyRoutes = (['POST', 'PUT'] as const).flatMap((method): SenderRoute[] => [
  {
    method,
    url: '/ntfy',
    bodyBytes: limits.bodyBytes,
    schema: {
      summary: 'Publish as JSON, as to ntfy',
      querystring,
      body: NtfyMessage,
      response: { 200: NtfyAccepted },
    },
    entryOf: () => ntfyJson,
  },
  {
    method,
    url: '/ntfy/:topic',
    bodyBytes: limits.bodyBytes,
    schema: {
      summary: 'Publish to a topic, as to ntfy',
      description: `The body is the message; Title, Priority, Tags and Click are headers or parameters, by all the names that ntfy has
for them. The topic becomes the host.`,
      consumes: ['text/plain'],
      params: Type.Object({ topic: NtfyMessage.properties.topic }),
      querystring,
      body: Type.String(),
      response: { 200: NtfyAccepted },
    },
    // ntfy takes JSON at its root, with the slash or without it.
    entryOf: ({ topic }) => (topic === '' ? ntfyJson : ntfy),
  },
]);

/** Payloads as other software sends them: at /api/integrations/NAME, /ntfy and /gotify. */
export function integrationRoutes(
  app: App,
  services: Services,
  control: IntakeControl & { readonly authenticator: Authenticator },
): void {
  const handler = new IntegrationHandler(services, control);
  const signed = new SignedSenders(services, control.authenticator);
  void app.register(async (scope) => {
    // The formats read the body themselves, whatever its type is called.
    scope.removeAllContentTypeParsers();
    scope.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, body, done) => done(null, body));
    scope.addHook('onSend', async (_request, reply) => {
      // Some senders send their password only after a 401 with this header.
      if (reply.statusCode === 401) reply.header('www-authenticate', 'Bearer, Basic realm="Belfry"');
    });
    for (const each of [
      webhookRoute,
      customRoute(services),
      signedRoute,
      gotifyRoute,
      ...opsgenieRoutes,
      ...ntfyRoutes,
    ])
      addRoute(scope, { handler, signed }, each);
  });
}

function addRoute(
  scope: App,
  { handler, signed }: { readonly handler: IntegrationHandler; readonly signed: SignedSenders },
  own: SenderRoute,
): void {
  const entryOf = (request: FastifyRequest) => own.entryOf(request.params as Record<string, string>, request);
  scope.route({
    method: own.method,
    url: own.url,
    bodyLimit: own.bodyBytes,
    ...(own.isSigned
      ? route('public', own.schema as FastifySchema, { rateLimit: 'own' })
      : route(policy, own.schema as FastifySchema, { rateLimit: 'own', senderCredential: true })),
    // The schemas describe; each format checks its own payload.
    validatorCompiler: () => () => true,
    onRequest: async (request, reply) => {
      entryOf(request);
      replaceInvalidType(request.raw.headers);
      if (own.isSigned) await signed.find(request, reply);
      else await handler.admit(request, reply);
    },
    handler: async (request, reply) => {
      if (own.isSigned) {
        signed.verify(request, reply);
        await handler.admit(request, reply);
      }
      const { load, name } = entryOf(request);
      return send(reply, await handler.handle(request, reply, { ...(await load()), name }));
    },
    async errorHandler(error, request, reply) {
      const principal = request.principal as FastifyRequest['principal'] | undefined;
      if (principal?.kind !== 'token') return answerError(error, request, reply);
      const found = toAppError(error, own.bodyBytes);
      const known = await handler.explain(found, request, reply);
      if (known.code !== 'rate-limited' || !entryOf(request).retriesOnly5xx)
        return answerError(known === found ? error : known, request, reply);
      const { message, retryAfterSeconds = 1 } = known;
      return answerError(new AppError('unavailable', message, { retryAfterSeconds }), request, reply);
    },
  });
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
