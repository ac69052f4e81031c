import helmet from '@fastify/helmet';
import swagger, { type FastifyDynamicSwaggerOptions } from '@fastify/swagger';
import swaggerUi from '@fastify/swagger-ui';
import Fastify, {
  type FastifyBaseLogger,
  type FastifySchema,
  LogController,
  type RouteOptions,
} from 'fastify';
import { isForPeople, type Policy, roleOf, scopeOf } from '#core/access.ts';
import { answerError, nothingThere } from './errors.ts';
import { lazyCompilers } from './lazy-compilers.ts';
import { type OpenApiDocument, withComponents } from './openapi-components.ts';
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

type Route = Pick<RouteOptions, 'method' | 'url' | 'config'>;

/** A route's schema, completed by what follows from its method, path and policy. */
function described(schema: FastifySchema, route: Route): FastifySchema {
  const policy = route.config?.policy ?? 'public';
  return {
    tags: tagsFor(policy),
    ...schema,
    operationId: operationId(String(route.method), route.url),
    security: credentialsFor(policy),
    response: {
      ...problems(...statusesOf(schema, route, policy)),
      ...(schema.response as object | undefined),
      default: { description: 'Any other error: of the connection, the head of the request, or the server.' },
    },
  };
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

/** What a key may call, a person with the role may call too. */
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
    // Whoever shows a wrong credential too often is limited on every route that asks for one.
    ...(policy === 'public' && config?.rateLimit === 'none' ? [] : [429]),
    503,
  ];
}

/**
 * The API's description, by an app of its own that never listens: it knows the server's routes and answers none of them,
 * only the pages below /docs/api. Its URL is the whole path, as the browser asked for it.
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
    frameworkErrors: (error, request, reply) => void answerError(error, request, reply),
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
  await app.register(swaggerUi, {
    routePrefix: apiDocsPath,
    staticCSP: true,
    uiConfig: { url: '/openapi.json' },
    // Without the logo of Fastify.
    theme: { css: [{ filename: 'belfry.css', content: '.swagger-ui .topbar .link { display: none; }' }] },
  });
  await app.ready();
  return app;
}
