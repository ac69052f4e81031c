import type { Server as HttpServer, IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
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
import { SignInLimits } from './account/account-context.ts';
import { oidcRoutes } from './account/oidc.ts';
import { passkeyRoutes } from './account/passkeys.ts';
import { proofRoutes, sessionRoutes } from './account/session.ts';
import { invitationAcceptRoutes, setUpRoutes } from './account/sign-up.ts';
import { twoFactorRoutes } from './account/two-factor.ts';
import { Authenticator } from './callers/auth.ts';
import { limitConcurrency } from './callers/concurrency-limits.ts';
import { takeUrlTokens } from './callers/sender-credential.ts';
import { answerRoutes } from './channels/answers.ts';
import { channelRoutes } from './channels/channels.ts';
import { pushRoutes } from './channels/push.ts';
import { docsRoutes, openApiRoutes } from './docs.ts';
import { answerClientError, answerConnect, answerError, nothingThere } from './errors.ts';
import { alarmActionRoutes } from './history/alarm-actions.ts';
import { alarmRoutes } from './history/alarms.ts';
import { expectationRoutes } from './history/expectations.ts';
import { fieldValueRoutes, histogramRoutes, historyRoutes } from './history/history.ts';
import { notificationRoutes } from './history/notifications.ts';
import { overviewRoutes } from './history/overview.ts';
import { searchRoutes } from './history/searches.ts';
import { IntakeControl } from './intake/intake-control.ts';
import { integrationRoutes } from './intake/integrations.ts';
import { ListenerIntake } from './intake/listener-intake.ts';
import { notifyRoutes } from './intake/notify.ts';
import { PayloadTurns } from './intake/overload.ts';
import { webhookPaths } from './intake/sender-routes.ts';
import { parseJsonBodies } from './json-body.ts';
import { healthRoutes, metricsRoutes } from './monitoring.ts';
import { lazyCompilers } from './openapi/lazy-compilers.ts';
import { pairingRoutes } from './panels/pairings.ts';
import { panelRoutes } from './panels/panels.ts';
import { streamRoutes } from './panels/stream.ts';
import { gotifyReadingRoutes } from './phones/gotify.ts';
import { ntfyRoutes } from './phones/ntfy.ts';
import { takeUpgrades, upgrades } from './phones/upgrades.ts';
import { findHeadProblem, logRequests, nameRequests, tidyUrls, traceRequests } from './requests.ts';
import { type RouteEntry, RouteTable } from './route-table.ts';
import { levelRoutes } from './routing/levels.ts';
import { onCallRoutes } from './routing/on-call.ts';
import { routingRoutes, ruleRoutes } from './routing/rules.ts';
import type { App, Services } from './services.ts';
import { keyRoutes, tokenRoutes } from './tenant/credentials.ts';
import { mappingRoutes } from './tenant/mappings.ts';
import { invitationRoutes, memberRoutes } from './tenant/members.ts';
import { auditRoutes, tenantRoutes, tenantsRoutes } from './tenant/tenant.ts';
import { webRoutes } from './web.ts';

interface ServerOptions {
  readonly services: Services;
  readonly logger: FastifyBaseLogger;
  /** Whether each request has a log line. */
  readonly logsRequests?: boolean;
}

export interface Server {
  readonly app: App;
  /** Every route with its policy, for tests that go through all of them. */
  readonly routes: readonly RouteEntry[];
  /** For listeners of other protocols. */
  readonly intake: ListenerIntake;
  /** Ends every connection without a running request, including those that never had one. */
  closeIdleConnections(): void;
}

/**
 * Creates the HTTP server, which does not listen yet. Every error is `{"error": "…"}`, including those made below
 * the router.
 *
 * @throws Error when a route declares no policy.
 */
export async function createServer({ services, logger, logsRequests }: ServerOptions): Promise<Server> {
  const app = createApp(logger);
  const closeSilent = watchSilentConnections(app.server);
  const routes = new RouteTable(app);
  const authenticator = new Authenticator(services);
  app.decorateRequest('principal');
  app.decorateRequest('person');
  app.decorateRequest('account');
  app.decorateRequest('sourceIp', '');
  const notFoundError = (request: FastifyRequest, reply: FastifyReply): AppError => {
    const path = request.url.split('?')[0] ?? '';
    const allow = routes.methodsFor(path);
    // A route can also answer 404 itself, as the one for files does.
    if (allow.length === 0 || allow.includes(request.method))
      return nothingThere(routes.nearestTo(path, webhookPaths));
    reply.header('allow', allow.join(', '));
    return new AppError('method-not-allowed', `this path takes ${allow.join(', ')}`);
  };
  if (services.tracer) traceRequests(app, services.tracer);
  app.addHook('onRequest', (request, reply, done) => {
    // On the reply it costs senders less; on the raw response the headers also apply to streams, which bypass the reply.
    if (isPosted(request.raw)) reply.header(...noSniffing);
    else for (const [name, value] of ofApi) reply.raw.setHeader(name, value);
    // A wrong path or method is refused here, before the body is read; the not-found handler runs after it.
    done(findHeadProblem(request.raw) ?? (request.is404 ? notFoundError(request, reply) : undefined));
  });
  app.addHook('onRequest', authenticator.check);
  app.addHook('preValidation', authenticator.checkAgain);
  limitConcurrency(app, services.metrics);
  parseJsonBodies(app);
  app.setErrorHandler(answerError);
  app.setNotFoundHandler((request, reply) => answerError(notFoundError(request, reply), request, reply));
  const account = { services, people: authenticator.people, limits: new SignInLimits(services), logger };
  healthRoutes(app, services);
  const control = new IntakeControl(services);
  const turns = new PayloadTurns();
  notifyRoutes(app, services, { authenticator, control });
  integrationRoutes(app, services, { authenticator, control, turns });
  notificationRoutes(app, services);
  alarmRoutes(app, services, authenticator);
  streamRoutes(app, services, authenticator);
  ntfyRoutes(app, services, authenticator);
  gotifyReadingRoutes(app, account, authenticator);
  historyRoutes(app, services, authenticator);
  for (const routesOf of [
    alarmActionRoutes,
    panelRoutes,
    pairingRoutes,
    channelRoutes,
    pushRoutes,
    answerRoutes,
    ruleRoutes,
    routingRoutes,
    onCallRoutes,
    levelRoutes,
    tokenRoutes,
    keyRoutes,
    searchRoutes,
    expectationRoutes,
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
  mappingRoutes(app, services, turns);
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
  openApiRoutes(app, services, () => routes.described);
  docsRoutes(app, services);
  webRoutes(app, services);
  await app.ready();
  if (logsRequests) logRequests(app.server, logger);
  tidyUrls(app.server);
  takeUrlTokens(app.server);
  nameRequests(app.server);
  takeUpgrades(app.server);
  const closeIdleConnections = () => {
    app.server.closeIdleConnections();
    closeSilent();
  };
  const intake = new ListenerIntake(services, authenticator, control);
  return { app, routes: routes.seal(), intake, closeIdleConnections };
}

function createApp(logger: FastifyBaseLogger): App {
  const app = Fastify({
    // The caller logs the addresses, so the framework's own notices are left out.
    loggerInstance: logger.child({}, { level: logger.level === 'info' ? 'warn' : logger.level }),
    logController: new LogController({ disableRequestLogging: true }),
    // A child logger for each request costs time and is never used.
    childLoggerFactory: (parent) => parent,
    trustProxy: false,
    bodyLimit: 1024 * 1024,
    // Topics of ntfy, with commas between.
    routerOptions: { maxParamLength: 2_048 },
    exposeHeadRoutes: true,
    return503OnClosing: false,
    forceCloseConnections: false,
    // These two are options of Fastify: under `http` its defaults would override them, and a body could take forever.
    requestTimeout: 15_000,
    // Above the usual 60 s of proxies, so that the proxy ends an idle connection first.
    keepAliveTimeout: 75_000,
    http: {
      maxHeaderSize: limits.headerBytes,
      headersTimeout: 10_000,
      connectionsCheckingInterval: 2_000,
      // Checked by findHeadProblem, so that its answer is JSON too.
      requireHostHeader: false,
      joinDuplicateHeaders: false,
      shouldUpgradeCallback: upgrades,
    },
    clientErrorHandler: answerClientError,
    frameworkErrors: (error, request, reply) => void answerError(error, request, reply as FastifyReply),
    schemaController: { compilersFactory: lazyCompilers },
  }) as unknown as App;
  // Node silently drops headers beyond about a thousand, even Authorization: keep all, and let findHeadProblem refuse many.
  app.server.maxHeadersCount = 0;
  // A client that closes its side for writing (`nc -N`) still gets its answer. Streams end then: see openSse.
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
/** Answers of the API are not cached, framed, embedded or run as a page, unless a route sets other headers. */
const ofApi = [
  noSniffing,
  ['cache-control', 'no-store'],
  ['content-security-policy', "default-src 'none'; frame-ancestors 'none'"],
  ['cross-origin-resource-policy', 'same-origin'],
  ['referrer-policy', 'no-referrer'],
] as const;

/** Most senders are not browsers, and there are many of them, so they get fewer headers. Caches are no concern of a POST. */
const isPosted = ({ method, url = '' }: IncomingMessage) =>
  method === 'POST' && url.startsWith('/api/notify');

/**
 * Watches connections without any data, which browsers open in advance. Node counts them as
 * busy, so a stop would wait for them until its time limit.
 *
 * @returns a function that ends them; connections with a request stay.
 */
function watchSilentConnections(server: HttpServer): () => void {
  const connections = new Set<Socket>();
  server.on('connection', (socket: Socket) => {
    connections.add(socket);
    socket.once('close', () => connections.delete(socket));
  });
  server.on('request', ({ socket }) => connections.delete(socket));
  return () => {
    for (const socket of connections) if (socket.bytesRead === 0) socket.destroy();
  };
}
