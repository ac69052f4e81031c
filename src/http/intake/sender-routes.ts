/** The routes of senders: their paths, their descriptions and the formats that they take. */
import type { FastifyRequest, FastifySchema } from 'fastify';
import { Type } from 'typebox';
import { sentFields } from '#contract/history/fields.ts';
import {
  GotifyAccepted,
  GotifyMessage,
  IntegrationAccepted,
  type Mapping,
  MappingName,
  NtfyAccepted,
  NtfyMessage,
  OpsgenieAccepted,
  PagerDutyAccepted,
  PagerDutyV1Accepted,
  SenderPayload,
} from '#contract/integrations/integration.ts';
import { limits } from '#contract/limits.ts';
import { AppError, requireFound } from '#core/errors.ts';
import { isSecretId } from '#core/people/secrets.ts';
import type { Format } from '#integrations/format.ts';
import {
  type FormatEntry,
  findWebhook,
  gotify,
  ntfy,
  ntfyJson,
  opsgenie,
  opsgenieAcknowledge,
  pagerdutyV1,
  webhookNames,
} from '#integrations/formats.ts';
import { nothingThere } from '../errors.ts';
import { problems, UrlToken } from '../openapi/route-schemas.ts';
import type { Services } from '../services.ts';

/** Webhooks contain much more than the texts to show. */
const webhookBytes = 1024 * 1024;
/** A storm has a thousand alerts and more in one payload. */
const batchBytes = 4 * webhookBytes;

const ofAddress = Type.Object({
  level: Type.Optional(
    Type.String({
      description:
        "Levels by the sender's own words, and one for all others, as in `critical:alarm,warning:warn,info`.",
    }),
  ),
  ttl: Type.Optional({
    ...sentFields.ttl.schema,
    description:
      'How long panels show what is sent, in milliseconds, except for the end of an alert; 0 stays until cleared. Otherwise an alert stays until its end, and anything else for the time of its level.',
  }),
});
const querystring = Type.Object({ ...ofAddress.properties, ...UrlToken.properties });

export interface SenderRoute {
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  readonly url: string;
  readonly bodyBytes: number;
  readonly schema: FastifySchema & { readonly summary: string };
  /** Not given: the token may be in the URL if it has the option for that. */
  readonly urlToken?: 'of every token';
  /** The body may be a file: only its start is kept. */
  readonly takesFiles?: true;
  /** The path contains the token's id, and the body is signed. */
  readonly isSigned?: true;
  /** @throws AppError `not-found`. */
  readonly entryOf: (params: Readonly<Record<string, string>>, request: FastifyRequest) => FormatEntry;
}

const integrations = '/api/integrations';
/** The address of each format of {@link webhookRoute}. */
export const webhookPaths: readonly string[] = webhookNames.map((name) => `${integrations}/${name}`);

const webhookRoute: SenderRoute = {
  method: 'POST',
  url: `${integrations}/:name`,
  bodyBytes: batchBytes,
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
  entryOf: ({ name = '' }) => webhookOf(name),
};

function webhookOf(name: string): FormatEntry {
  const entry = findWebhook(name);
  if (entry) return entry;
  throw new AppError(
    'not-found',
    `there is no such integration: it is one of ${[...webhookNames, 'opsgenie/v2/alerts', 'custom/NAME'].join(', ')}`,
  );
}

const signedRoute: SenderRoute = {
  ...webhookRoute,
  url: `${integrations}/:name/:tokenId`,
  // Read before the sender is known.
  bodyBytes: webhookBytes,
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
    querystring: ofAddress,
    response: { ...(webhookRoute.schema.response as object), ...problems(401, 403) },
  },
  entryOf({ name = '', tokenId = '' }) {
    const entry = webhookOf(name);
    // A path that some software appends is no token of somebody.
    if (!isSecretId(tokenId)) throw nothingThere(`${integrations}/${name}`);
    return entry;
  },
};

/** Clients of PagerDuty append the paths of its Events API. */
const pagerdutyRoutes: readonly SenderRoute[] = [
  {
    method: 'POST',
    url: `${integrations}/pagerduty/v2/enqueue`,
    bodyBytes: batchBytes,
    schema: {
      summary: 'Send an event as to PagerDuty',
      description: 'As at /api/integrations/pagerduty.',
      querystring,
      body: SenderPayload,
      response: { 202: PagerDutyAccepted },
    },
    entryOf: () => webhookOf('pagerduty'),
  },
  {
    method: 'POST',
    url: `${integrations}/pagerduty/generic/2010-04-15/create_event.json`,
    bodyBytes: batchBytes,
    schema: {
      summary: "Send an event of version 1 of PagerDuty's Events API",
      description: 'It has no severity: a trigger is an `error`.',
      querystring,
      body: SenderPayload,
      response: { 200: PagerDutyV1Accepted },
    },
    entryOf: () => pagerdutyV1,
  },
];

const customRoute = (services: Services): SenderRoute => ({
  method: 'POST',
  url: `${integrations}/custom/:mapping`,
  bodyBytes: batchBytes,
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
  urlToken: 'of every token',
  schema: {
    summary: 'Send a message as to Gotify',
    description: 'Also as a form. The token may stand in X-Gotify-Key, or in the URL as `?token=`.',
    querystring: Type.Object({
      ...querystring.properties,
      token: Type.Optional(Type.String({ description: 'The token, if no header has one.' })),
    }),
    body: GotifyMessage,
    response: { 200: GotifyAccepted },
  },
  entryOf: () => gotify,
};

const opsgenieAlerts = `${integrations}/opsgenie/v2/alerts`;
const opsgenieRoutes = (
  [
    ['POST', '', 'Create an alert as in Opsgenie'],
    ['POST', '/:alias/close', 'Close an alert as in Opsgenie'],
    ['POST', '/:alias/acknowledge', 'Acknowledge an alert as in Opsgenie'],
    ['DELETE', '/:alias', 'Delete an alert as in Opsgenie: it is closed'],
    ['PUT', '/:alias/:changed', 'Change an alert as in Opsgenie: answered and not kept'],
  ] as const
).map(
  ([method, path, summary]): SenderRoute => ({
    method,
    url: opsgenieAlerts + path,
    bodyBytes: webhookBytes,
    schema: {
      summary,
      description:
        'The token may stand in `Authorization: GenieKey …`. A close replaces its alert on panels.',
      ...(path !== '' && {
        params: Type.Object({
          alias: Type.String(),
          ...(path.endsWith(':changed') && { changed: Type.String({ description: 'As in `message`.' }) }),
        }),
      }),
      querystring,
      ...(method !== 'DELETE' && { body: SenderPayload }),
      response: { 202: OpsgenieAccepted },
    },
    entryOf: () => (path.endsWith('/acknowledge') ? opsgenieAcknowledge : opsgenie),
  }),
);

const ntfyTopic: Pick<SenderRoute, 'bodyBytes' | 'entryOf'> & {
  readonly schema: Omit<SenderRoute['schema'], 'summary'>;
} = {
  bodyBytes: limits.bodyBytes,
  schema: {
    description: `The body is the message; Title, Priority, Tags and Click are headers or parameters, by all the names that ntfy has
for them. The topic becomes the host. A file is not kept, and the message says so.`,
    params: Type.Object({ topic: NtfyMessage.properties.topic }),
    querystring,
    response: { 200: NtfyAccepted },
  },
  entryOf: () => ntfy,
};

const ntfyRoutes: readonly SenderRoute[] = [
  ...(['POST', 'PUT'] as const).flatMap((method): SenderRoute[] => [
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
      ...ntfyTopic,
      method,
      url: '/ntfy/:topic',
      takesFiles: true,
      schema: {
        ...ntfyTopic.schema,
        summary: 'Publish to a topic, as to ntfy',
        consumes: ['text/plain'],
        body: Type.String(),
      },
    },
  ]),
  ...['publish', 'send', 'trigger'].map(
    (word): SenderRoute => ({
      ...ntfyTopic,
      method: 'GET',
      url: `/ntfy/:topic/${word}`,
      schema: {
        ...ntfyTopic.schema,
        summary: 'Publish to a topic with GET, as to ntfy',
        description: `For devices that can only get a URL. The parameters are those of a POST, and \`message\`; the token may stand in
\`Authorization\`. Browsers are refused, because any page can make them get a URL. HEAD stores nothing.`,
        querystring: Type.Object({
          ...querystring.properties,
          ...Type.Pick(NtfyMessage, ['message', 'title', 'click']).properties,
          priority: Type.Optional(Type.String()),
          tags: Type.Optional(Type.String()),
        }),
      },
    }),
  ),
];

export const senderRoutes = (services: Services): readonly SenderRoute[] => [
  webhookRoute,
  customRoute(services),
  signedRoute,
  ...pagerdutyRoutes,
  gotifyRoute,
  ...opsgenieRoutes,
  ...ntfyRoutes,
];

/** By the mapping as it was read; a changed one is another object. */
const compiled = new WeakMap<Mapping, Format>();

async function formatOf(mapping: Mapping): Promise<Format> {
  let format = compiled.get(mapping);
  if (!format) {
    const { customFormat } = await import('#integrations/formats/custom.ts');
    format = customFormat(mapping);
    compiled.set(mapping, format);
  }
  return format;
}

/** The format of a tenant's own mapping. It keeps the last payload, for those who edit it. @throws AppError `not-found`. */
async function findCustomFormat(
  { mappings, now }: Services,
  { principal, params, body }: FastifyRequest,
): Promise<Format> {
  const { tenant } = principal;
  const { mapping: name = '' } = params as { mapping?: string };
  const mapping = requireFound(await mappings.find(tenant, name), 'mapping');
  const format = await formatOf(mapping);
  const bytes = (body as Buffer | undefined) ?? Buffer.alloc(0);
  const capture = (problem: string | null) => {
    if (bytes.length <= limits.captureBytes)
      mappings.capture(tenant, name, { at: now(), payload: bytes.toString('utf8'), problem });
  };
  capture('the payload was not read: it is not valid, or was beyond the rate limit');
  return {
    ...format,
    read(payload) {
      try {
        const items = format.read(payload);
        capture(null);
        return items;
      } catch (error) {
        capture(error instanceof AppError ? error.message : 'internal error');
        throw error;
      }
    },
  };
}
