import type { Socket } from 'node:net';
import swagger from '@fastify/swagger';
import Fastify, {
  type FastifyBaseLogger,
  type FastifyReply,
  type FastifyRequest,
  LogController,
} from 'fastify';
import { errorHeader, formatErrorHeader } from '#contract/error-header.ts';
import { limits } from '#contract/limits.ts';
import { AppError } from '#core/errors.ts';
import { accountRoutes } from './account/account.ts';
import { invitationAcceptRoutes } from './account/invitations.ts';
import { oidcRoutes } from './account/oidc.ts';
import { passkeyRoutes } from './account/passkeys.ts';
import { proofRoutes } from './account/proof.ts';
import { sessionRoutes } from './account/session.ts';
import { setUpRoutes } from './account/setup.ts';
import { SignInLimits } from './account/sign-in-limits.ts';
import { tenantsRoutes } from './account/tenants.ts';
import { twoFactorRoutes } from './account/two-factor.ts';
import { Authenticator } from './auth.ts';
import { limitConcurrency } from './concurrency-limits.ts';
import { answerClientError, answerConnect, answerError } from './errors.ts';
import { fieldValueRoutes } from './history/field-values.ts';
import { histogramRoutes } from './history/histogram.ts';
import { historyRoutes } from './history/history.ts';
import { notificationRoutes } from './history/notifications.ts';
import { searchRoutes } from './history/searches.ts';
import { notifyRoutes } from './intake/notify.ts';
import { IntakeGate } from './intake/overload.ts';
import { lazyCompilers } from './lazy-compilers.ts';
import { openApiDocument } from './openapi.ts';
import { docsRoutes } from './operator/docs.ts';
import { healthRoutes } from './operator/health.ts';
import { metricsRoutes } from './operator/metrics.ts';
import { overviewRoutes } from './overview/overview.ts';
import { commandRoutes } from './panels/commands.ts';
import { pairingRoutes } from './panels/pairings.ts';
import { panelRoutes } from './panels/panels.ts';
import { showingRoutes } from './panels/showing.ts';
import { streamRoutes } from './panels/stream.ts';
import { findHeadProblem } from './request-head.ts';
import { type RouteEntry, RouteTable } from './route-table.ts';
import { levelRoutes } from './routing/levels.ts';
import { routingRoutes } from './routing/routing.ts';
import { ruleRoutes } from './routing/rules.ts';
import type { App, Services } from './services.ts';
import { watchSilentConnections } from './silent-connections.ts';
import { auditRoutes } from './tenant/audit.ts';
import { invitationRoutes } from './tenant/invitations.ts';
import { keyRoutes } from './tenant/keys.ts';
import { memberRoutes } from './tenant/members.ts';
import { tenantRoutes } from './tenant/tenant.ts';
import { tokenRoutes } from './tenant/tokens.ts';
import { webRoutes } from './web.ts';

export interface ServerOptions {
  readonly services: Services;
  readonly logger: FastifyBaseLogger;
}

export interface Server {
  readonly app: App;
  /** Every route with its policy, for tests that go through all of them. */
  readonly routes: readonly RouteEntry[];
  /** Ends every connection on which no request is under way, those on which none ever was included. */
  closeIdleConnections(): void;
}

/**
 * The HTTP side of the service, not listening yet. Every answer that is no success is `{"error": "…"}`, those made below
 * the router included.
 *
 * @throws Error when a route declares no policy.
 */
export async function createServer({ services, logger }: ServerOptions): Promise<Server> {
  const app = createApp(logger);
  const closeSilent = watchSilentConnections(app.server);
  const routes = new RouteTable(app);
  const authenticator = new Authenticator(services);
  app.decorateRequest('principal');
  app.decorateRequest('person');
  app.decorateRequest('sourceIp', '');
  const nowhere = (request: FastifyRequest, reply: FastifyReply): AppError => {
    const allow = routes.methodsFor(request.url.split('?')[0] ?? '');
    // A route can also say itself that there is nothing, as the one for files does.
    if (allow.length === 0 || allow.includes(request.method))
      return new AppError('not-found', 'there is nothing at this path');
    reply.header('allow', allow.join(', '));
    return new AppError('method-not-allowed', `this path takes ${allow.join(', ')}`);
  };
  app.addHook('onRequest', (request, reply, done) => {
    // Set on the reply they cost senders less; on the raw response they also hold for streams, which pass the reply by.
    if (isNotify(request.raw.url ?? '')) reply.header(...noSniffing);
    else for (const [name, value] of ofApi) reply.raw.setHeader(name, value);
    // A wrong path or method is told before the body is looked at, which the handler below comes after.
    done(findHeadProblem(request.raw) ?? (request.is404 ? nowhere(request, reply) : undefined));
  });
  app.addHook('onRequest', authenticator.check);
  limitConcurrency(app, services.metrics);
  app.setErrorHandler(answerError);
  app.setNotFoundHandler((request, reply) => answerError(nowhere(request, reply), request, reply));
  await app.register(swagger, openApiDocument(services.version));
  const account = { services, people: authenticator.people, limits: new SignInLimits(services), logger };
  healthRoutes(app, services);
  notifyRoutes(app, services, { authenticator, gate: new IntakeGate(() => performance.now()) });
  notificationRoutes(app, services);
  streamRoutes(app, services, authenticator);
  historyRoutes(app, services, authenticator);
  for (const routesOf of [
    panelRoutes,
    pairingRoutes,
    commandRoutes,
    showingRoutes,
    ruleRoutes,
    routingRoutes,
    levelRoutes,
    tokenRoutes,
    keyRoutes,
    searchRoutes,
    histogramRoutes,
    fieldValueRoutes,
    overviewRoutes,
    tenantRoutes,
    memberRoutes,
    invitationRoutes,
    auditRoutes,
  ]) {
    routesOf(app, services);
  }
  for (const routesOf of [
    sessionRoutes,
    twoFactorRoutes,
    passkeyRoutes,
    proofRoutes,
    oidcRoutes,
    setUpRoutes,
    accountRoutes,
    invitationAcceptRoutes,
    tenantsRoutes,
  ])
    routesOf(app, account);
  metricsRoutes(app, services);
  docsRoutes(app);
  webRoutes(app, services);
  await app.ready();
  const closeIdleConnections = () => {
    app.server.closeIdleConnections();
    closeSilent();
  };
  return { app, routes: routes.seal(), closeIdleConnections };
}

function createApp(logger: FastifyBaseLogger): App {
  const app = Fastify({
    // The framework's own notices (an address it listens on) are told once, by whoever started the server.
    loggerInstance: logger.child({}, { level: logger.level === 'info' ? 'warn' : logger.level }),
    logController: new LogController({ disableRequestLogging: true }),
    // A logger of its own for each request would be made for every notification and used for none.
    childLoggerFactory: (parent) => parent,
    trustProxy: false,
    bodyLimit: 1024 * 1024,
    exposeHeadRoutes: true,
    return503OnClosing: false,
    forceCloseConnections: false,
    // These two are Fastify's own: under `http` its defaults would overrule them, and a body could take for ever.
    requestTimeout: 15_000,
    // Above the usual 60 s of proxies, so that they and not we end an idle connection.
    keepAliveTimeout: 75_000,
    http: {
      maxHeaderSize: limits.headerBytes,
      headersTimeout: 10_000,
      connectionsCheckingInterval: 2_000,
      // Checked by findHeadProblem, so that its answer is JSON too.
      requireHostHeader: false,
      joinDuplicateHeaders: false,
    },
    clientErrorHandler: answerClientError,
    frameworkErrors: (error, request, reply) => void answerError(error, request, reply),
    schemaController: { compilersFactory: lazyCompilers },
    // Types are as the schema says; only text that comes in a URL is read as the number it stands for.
    ajv: {
      customOptions: {
        coerceTypes: false,
        removeAdditional: false,
        useDefaults: false,
        allErrors: false,
        allowUnionTypes: true,
      },
    },
  }) as unknown as App;
  // Beyond about a thousand headers Node silently drops the rest, Authorization included: keep all, and refuse many.
  app.server.maxHeadersCount = 0;
  // Who says that no more comes (`nc -N`, a shutdown for writing) still waits for the answer. Streams end there: see openSse.
  (app.server as { httpAllowHalfOpen?: boolean }).httpAllowHalfOpen = true;
  app.server.on('checkExpectation', (_request, response) => {
    response.writeHead(417, {
      'content-type': 'application/json; charset=utf-8',
      [errorHeader]: formatErrorHeader('expectation-failed'),
      connection: 'close',
    });
    response.end('{"error":"only Expect: 100-continue is understood"}');
  });
  app.server.on('connect', (_request, socket) => answerConnect(socket as Socket));
  return app;
}

const noSniffing = ['x-content-type-options', 'nosniff'] as const;
/** Nobody keeps, frames, embeds or runs what the API answers, whatever it is taken for; a route may say otherwise. */
const ofApi = [
  noSniffing,
  ['cache-control', 'no-store'],
  ['content-security-policy', "default-src 'none'; frame-ancestors 'none'"],
  ['cross-origin-resource-policy', 'same-origin'],
  ['referrer-policy', 'no-referrer'],
] as const;

/** Senders are no browsers, and there are many of them. */
const isNotify = (url: string) => url.startsWith('/api/notify');
