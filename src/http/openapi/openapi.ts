import helmet from '@fastify/helmet';
import swagger, { type FastifyDynamicSwaggerOptions } from '@fastify/swagger';
import swaggerUi from '@fastify/swagger-ui';
import Fastify, {
  type FastifyBaseLogger,
  type FastifyReply,
  type FastifySchema,
  LogController,
  type RouteOptions,
} from 'fastify';
import { ErrorBody, errorSchemaAt, errors } from '#contract/errors.ts';
import { isForPeople, type Policy, roleOf, scopeOf } from '#core/people/access.ts';
import { answerError, nothingThere } from '../errors.ts';
import { pagePolicy } from '../web.ts';
import { lazyCompilers } from './lazy-compilers.ts';
import { problems } from './route-schemas.ts';

const apiDocsPath = '/docs/api';

/** The parts of /openapi.json that are not a route's. Each route brings the schemas that validate it. */
function openApiDocument(version: string): FastifyDynamicSwaggerOptions {
  return {
    transform: ({ schema, url, route }) => ({ schema: described(schema, route), url }),
    transformObject: (document) =>
      'openapiObject' in document
        ? (withComponents(document.openapiObject as OpenApiDocument) as typeof document.openapiObject)
        : document.swaggerObject,
    openapi: {
      openapi: '3.1.0',
      info: {
        title: 'Belfry',
        version,
        description:
          'Takes notifications over HTTP, records every one, routes it, and shows it on panels the moment it arrives.',
        license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
      },
      servers: [{ url: '/' }],
      tags: [
        { name: 'sending', description: 'For monitoring systems, scripts and applications.' },
        { name: 'panels', description: 'For screens.' },
        { name: 'dashboard', description: 'For people and automation keys: history, rules, levels, tokens.' },
        { name: 'account', description: 'For people: signing in, their own account, invitations.' },
        { name: 'operating', description: 'Metrics and health.' },
      ],
      components: {
        securitySchemes: {
          token: {
            type: 'http',
            scheme: 'bearer',
            description: 'An API token, bfy_…, with the scope the call needs.',
          },
          key: {
            type: 'http',
            scheme: 'bearer',
            description: 'An automation key, bfk_…, with the role the call needs.',
          },
          session: {
            type: 'apiKey',
            in: 'cookie',
            name: 'belfry.session_token',
            description:
              'A person who is signed in; __Host-belfry.session_token over https. Changes need an Origin of this server, and whoever belongs to several tenants names one in the header Belfry-Tenant.',
          },
        },
      },
    },
  };
}

/** Tables scroll in themselves; colours have the contrast of WCAG 2.2 AA; the only server is this one, so the list of servers is hidden. */
const style = `
.swagger-ui .servers-title, .swagger-ui .servers { display: none; }
.swagger-ui .opblock .opblock-summary-method { color: #111; text-shadow: none; }
.swagger-ui .opblock .parameter__in, .swagger-ui .json-schema-2020-12-expand-deep-button { color: #3b4151; }
.swagger-ui .info .title small, .swagger-ui .info .title small.version-stamp { background: #3b4151; }
.swagger-ui .info .link, .swagger-ui .info .url, .swagger-ui .info a { color: #14508f; }
.swagger-ui .highlight-code span, .swagger-ui pre span { color: inherit !important; }
.swagger-ui__skip-link { display: none; }
.skip:not(:focus) { position: absolute; clip-path: inset(50%); }
.swagger-ui .btn.authorize { color: #14613c; border-color: #14613c; }
.swagger-ui .btn.authorize svg { fill: #14613c; }
.belfry { padding: 12px 20px; background: #1b1b1b; font: 16px sans-serif; }
.belfry a { color: #fff; }
.swagger-ui .opblock-body { overflow-x: auto; }
`;

/** Swagger UI has parts outside of landmarks, and headings that leave out a level. */
const script = `
new MutationObserver(() => {
  const about = document.querySelector('.information-container');
  about?.setAttribute('role', 'region');
  about?.setAttribute('aria-label', 'About this API');
  const access = document.querySelector('.schemes-server-container')?.parentElement;
  access?.setAttribute('role', 'region');
  access?.setAttribute('aria-label', 'Access');
  for (const heading of document.querySelectorAll('h3.opblock-tag, .models > h4')) heading.setAttribute('aria-level', '2');
  for (const heading of document.querySelectorAll('.opblock h4')) heading.setAttribute('aria-level', '3');
}).observe(document, { childList: true, subtree: true });
`;

/** The page of Swagger UI has neither a viewport for phones nor a link to the documentation. */
const completed = (page: string): string =>
  page
    .replace('<head>', '<head>\n<meta name="viewport" content="width=device-width, initial-scale=1">')
    .replace(
      '<body>',
      '<body>\n<a class="skip" href="#operations">Skip to the operations</a>\n<nav class="belfry"><a href="/docs/">← Belfry documentation</a></nav>',
    );

type Route = Pick<RouteOptions, 'method' | 'url' | 'config'>;

/** A route's schema, completed by what follows from its method, path and policy. */
function described(schema: FastifySchema, route: Route): FastifySchema {
  const policy = route.config?.policy ?? 'public';
  return {
    tags: tagsFor(policy),
    ...schema,
    ...(schema.params !== undefined && { params: asDescribed(schema.params as Query) }),
    ...(schema.querystring !== undefined && { querystring: asDescribed(schema.querystring as Query) }),
    operationId: operationId(String(route.method), route.url),
    security: credentialsFor(policy),
    response: {
      ...problems(...statusesOf(schema, route, policy)),
      ...(schema.response as object | undefined),
      default: { description: 'Any other error: of the connection, the head of the request, or the server.' },
    },
  };
}

interface Query {
  readonly properties?: Readonly<Record<string, { readonly describedAs?: object }>>;
}

/** Parameters that are texts to the validator, because an address has nothing else, but have another type for clients. */
function asDescribed({ properties = {}, ...others }: Query): Query {
  const described = Object.entries(properties).map(([name, { describedAs, ...schema }]) => [
    name,
    { ...schema, ...describedAs },
  ]);
  return { ...others, properties: Object.fromEntries(described) };
}

/** `GET /api/panels/:id/events` is getPanelsByIdEvents. */
function operationId(method: string, url: string): string {
  const words = url
    .replace(/^\/api\//, '')
    .replaceAll('/:', '-by-')
    .split(/[^A-Za-z]+/);
  const name = words.map((word) => word.charAt(0).toUpperCase() + word.slice(1)).join('');
  return method.toLowerCase() + name;
}

const tagOfScope = { notify: 'sending', panel: 'panels', metrics: 'operating' } as const;

/** A route that anybody may call names its tag itself. */
function tagsFor(policy: Policy): string[] {
  if (policy === 'public') return [];
  if (isForPeople(policy)) return ['account'];
  const scope = scopeOf(policy);
  return [...(scope ? [tagOfScope[scope]] : []), ...(roleOf(policy) ? ['dashboard'] : [])];
}

/** A person with the role may call every route that a key may call. */
function credentialsFor(policy: Policy): Record<string, []>[] {
  if (isForPeople(policy)) return [{ session: [] }];
  const token = scopeOf(policy) === undefined ? [] : [{ token: [] as [] }];
  return roleOf(policy) === undefined ? token : [...token, { key: [] }, { session: [] }];
}

/** Statuses of errors. 400 also comes from the header that names a tenant; a body is read even where none is expected. */
function statusesOf(
  { params, querystring }: FastifySchema,
  { method, url, config }: Route,
  policy: Policy,
): number[] {
  const hasBody = method !== 'GET';
  const isRead = hasBody || params !== undefined || querystring !== undefined;
  return [
    ...(isRead || roleOf(policy) !== undefined ? [400] : []),
    ...(policy === 'public' ? [] : [401, 403]),
    ...(url.includes(':') ? [404] : []),
    ...(hasBody ? [413, 415] : []),
    // A caller with too many wrong credentials is limited on every route that requires one.
    ...(policy === 'public' && config?.rateLimit === 'none' ? [] : [429]),
    503,
  ];
}

/**
 * The content security policy of Swagger UI: as that of the pages, without Trusted Types. Its own one upgrades requests to
 * https, so that the page would be empty where Belfry is reached over http.
 */
const referencePolicy = pagePolicy
  .replace("img-src 'self'", "img-src 'self' data:")
  .replace(/; require-trusted-types-for .*$/, '');

/**
 * Creates the API's description with a separate app that never listens. It has the descriptions of the server's routes, but
 * answers only the pages below /docs/api. It needs the whole path of the browser's request as URL.
 */
export async function createApiReference(
  version: string,
  routes: readonly RouteOptions[],
  loggerInstance: FastifyBaseLogger,
) {
  const app = Fastify({
    loggerInstance,
    logController: new LogController({ disableRequestLogging: true }),
    schemaController: { compilersFactory: lazyCompilers },
    frameworkErrors: (error, request, reply) => void answerError(error, request, reply as FastifyReply),
  });
  app.setErrorHandler(answerError);
  app.setNotFoundHandler((request, reply) => answerError(nothingThere(), request, reply));
  await app.register(swagger, openApiDocument(version));
  for (const { method, url, schema, config } of routes)
    app.route({
      method,
      url,
      ...(schema && { schema }),
      ...(config && { config }),
      handler: () => undefined,
    });
  await app.register(helmet, { contentSecurityPolicy: false, hsts: false });
  app.addHook('onSend', async (request, reply, payload) => {
    if (typeof payload !== 'string') return payload;
    // The plugin has no option for the address, which the page shows.
    if (request.url.endsWith('/swagger-initializer.js'))
      return payload.replace("resolveUrl('./json')", "'/openapi.json'");
    return String(reply.getHeader('content-type')).startsWith('text/html') ? completed(payload) : payload;
  });
  await app.register(swaggerUi, {
    routePrefix: apiDocsPath,
    staticCSP: referencePolicy,
    // Permanent links would be links inside buttons; the top bar only asks for another description.
    uiConfig: { deepLinking: false, layout: 'BaseLayout' },
    theme: {
      title: 'API · Belfry',
      css: [{ filename: 'belfry.css', content: style }],
      js: [{ filename: 'belfry.js', content: script }],
    },
  });
  await app.ready();
  return app;
}

/** Names the parts of an OpenAPI document, so that generated clients have named types. */

type Json = Record<string, unknown>;

interface OpenApiDocument {
  readonly paths: Record<string, Record<string, Operation>>;
  readonly components?: Json & { readonly schemas?: Json };
}

interface Operation {
  readonly operationId: string;
  readonly requestBody?: { required?: boolean; content: Json };
  responses: Record<string, Json & { content?: Json }>;
}

const codes = Object.entries(errors)
  .map(([code, { status, meaning }]) => `- \`${code}\` (${status}): ${meaning}`)
  .join('\n');

/** What all error answers share. */
const errorHeaderComponent = {
  description: `Which error it is, for programs, and where in the request the problem is: an item with parameters (RFC 9651),
as in \`query.unknown-key; at=12; length=4; nearest="host"\` or \`bad-request; pointer="/when/ip/0"\`. \`pointer\` is a JSON Pointer
into the body, \`parameter\` a name in the query or the path, \`at\` and \`length\` characters of a search from 1 on, \`nearest\` names
that exist. Text is percent-encoded. An answer without this header is not Belfry's: a proxy wrote it. Codes:\n\n${codes}`,
  schema: { type: 'string' },
} as const;

const errorResponse = (description: unknown, schema: unknown) => ({
  description,
  headers: { 'Belfry-Error': { $ref: '#/components/headers/BelfryError' } },
  content: { 'application/json': { schema } },
});

/** The document with each titled schema and each body as a component. */
function withComponents(document: OpenApiDocument): OpenApiDocument {
  const schemas: Json = { ...document.components?.schemas };
  named(schemas, ErrorBody);
  const operations = Object.entries(document.paths).flatMap(([path, ofPath]) =>
    Object.values(ofPath).map((operation) => ({ path, operation })),
  );
  for (const { path, operation } of operations) {
    const name = operation.operationId.replace(/^./, (first) => first.toUpperCase());
    const { requestBody } = operation;
    if (requestBody) nameBodies(schemas, requestBody.content, `${name}Request`);
    // With plain text the other fields, or all of them, are headers.
    if (requestBody && 'text/plain' in requestBody.content) {
      requestBody.required = false;
      requestBody.content['text/plain'] = { schema: { type: 'string', description: 'The message.' } };
    }
    for (const [status, response] of Object.entries(operation.responses)) {
      if (status === 'default' || Number(status) >= 400)
        operation.responses[status] = errorResponse(
          response.description,
          named(schemas, errorSchemaAt(path)),
        );
      // Generators for Go need the name …Response for themselves.
      else if (response.content) nameBodies(schemas, response.content, `${name}Result`);
    }
  }
  const headers = { BelfryError: errorHeaderComponent };
  return { ...document, components: { ...document.components, schemas, headers } };
}

function nameBodies(schemas: Json, content: Json, name: string): void {
  for (const media of Object.values(content) as { schema?: Json }[]) {
    if (!media.schema) continue;
    const schema = named(schemas, media.schema) as Json;
    const isPlain = '$ref' in schema || schema.type === 'string' || Object.keys(schema).length === 0;
    media.schema = isPlain ? schema : add(schemas, name, schema);
  }
}

/** Keywords whose value is no schema. */
const valueKeys = new Set(['example', 'examples', 'default', 'const', 'enum', 'required']);

/** The schema with all titled schemas in it, including itself, as references. */
function named(schemas: Json, schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map((each) => named(schemas, each));
  if (typeof schema !== 'object' || schema === null) return schema;
  const { title, ...rest } = Object.fromEntries(
    Object.entries(schema).map(([key, value]) => [key, valueKeys.has(key) ? value : named(schemas, value)]),
  );
  if (typeof title !== 'string') return title === undefined ? rest : { title, ...rest };
  return add(schemas, title, rest);
}

/** @throws Error when two schemas that differ have one name. */
function add(schemas: Json, name: string, schema: unknown): Json {
  const before = schemas[name];
  if (before !== undefined && JSON.stringify(before) !== JSON.stringify(schema))
    throw new Error(`two schemas of the HTTP API are named ${name}`);
  schemas[name] = schema;
  return { $ref: `#/components/schemas/${name}` };
}
