/** Wiring: the only file that imports from every part of the server. */
import { AppError, conflict } from '#core/errors.ts';
import { settlesWithin } from '#core/limits/concurrency.ts';
import type { AccountStore } from '#core/people/accounts.ts';
import type { Directory } from '#core/tenants/directory.ts';
import { defaultTenant } from '#core/tenants/tenants.ts';
import type { ClockMemory } from '#core/time/trusted-clock.ts';
import { startMetricsListener } from '#http/monitoring.ts';
import { createServer, type Server } from '#http/server.ts';
import type { Services } from '#http/services.ts';
import type { Config } from '#settings/config.ts';
import { assertComplete, createClockMemory } from '#storage/database/meta.ts';
import type { Storage } from '#storage/database/storage.ts';
import { createDirectory } from '#storage/directory/directory.ts';
import { createAccountStore } from '#storage/people/accounts.ts';
import { isAway } from '#storage/postgres/errors.ts';
import { tryServerLock } from '#storage/sqlite/file/database-file.ts';
import { openSqlite, type SqliteOptions } from '#storage/sqlite/open.ts';
import { giveBackIdleMemory } from '#storage/sqlite/threads/process.ts';
import { startLoops, watchClock } from './background.ts';
import type { LocalApi } from './local-api.ts';
import type { Logger } from './log.ts';
import type { migrateDatabase as migrate } from './migrate-database.ts';
import { createServices } from './services.ts';
import { commit, version } from './version.ts';

// The command line imports what it needs of other folders from here.
export { hashNewPassword, newPerson } from '#accounts/passwords.ts';
export { changedChannelFields, newChannelFields } from '#core/channels/channel-setup.ts';
export { keyView, newKey, newToken, tokenView } from '#core/people/credentials.ts';
export { randomSecret } from '#core/people/secrets.ts';
export { refusedName, ruleWarnings } from '#core/routing/rules.ts';
export { offerNearest } from '#core/search/search-nearest.ts';
export { parseQuery } from '#core/search/search-parser.ts';
export { type Config, describeConfig } from '#settings/config.ts';
export { databaseUrl as readDatabaseUrl } from '#settings/values.ts';
export { backUp } from '#storage/sqlite/file/backup.ts';
export { restore } from '#storage/sqlite/file/restore.ts';
export { lowerPriority } from '#storage/sqlite/threads/process.ts';
export { createLogger } from './log.ts';

/** As {@link migrate}; a server does not load it. */
export async function migrateDatabase(...args: Parameters<typeof migrate>): ReturnType<typeof migrate> {
  const { migrateDatabase: run } = await import('./migrate-database.ts');
  return run(...args);
}

/** As {@link createLocalApi}, on the database that the settings name; a server does not load it. */
export async function openLocalApi(
  config: Config,
  logger: Logger,
  as: { readonly tenant: string; readonly actor: string; readonly makes: boolean },
): Promise<LocalApi | undefined> {
  const { assertKeyFile, createLocalApi } = await import('./local-api.ts');
  // Before the database is opened, which makes its tables.
  assertKeyFile(config);
  return createLocalApi(config, logger, await openStorage(config, logger, 'command', as), as);
}

/** Storage with its directory, as the server and the administration commands open it. */
export interface OpenedStorage {
  readonly storage: Storage;
  readonly directory: Directory;
  readonly accounts: AccountStore;
  readonly clockMemory: ClockMemory;
  /** As {@link Storage.close}. */
  close(withinMs?: number): Promise<boolean>;
}

export interface RunningServer {
  /** The URL of the server, as in http://127.0.0.1:8080. */
  readonly url: string;
  readonly directory: Directory;
  readonly accounts: AccountStore;
  /** The fragment of the link that creates the first account; undefined when there is an account. */
  readonly setUpSecret: string | undefined;
  readonly routes: Server['routes'];
  /** Listeners of other protocols, by name. */
  readonly ports: Readonly<Record<string, number>>;
  /** Resolves with the reason when nothing can be stored any more, so that the server must be restarted. */
  readonly failed: Promise<Error>;
  /** As {@link shutDown}. */
  stop(): Promise<boolean>;
}

/** The system's maximum. If thousands of panels reconnect at once, a full queue would cost them seconds. */
const backlog = 65_535;
const lockWaitMs = 500;
const listenersCloseMs = 2_000;

/**
 * Opens or creates the database, and creates the tenant `default` if it is missing. With `makes: false`, an empty database of PostgreSQL
 * stays empty.
 * @throws AppError `not-found` for such a database.
 */
export async function openStorage(
  config: Config,
  logger: Logger,
  role: NonNullable<SqliteOptions['role']>,
  { makes = true }: { readonly makes?: boolean } = {},
): Promise<OpenedStorage> {
  const { database, intakeQueue: queueCapacity, minFreeBytes } = config;
  const onProblem = (message: string | undefined) =>
    message === undefined
      ? logger.info('storage works again')
      : logger.error({ problem: message }, 'storage is in trouble');
  let storage: Storage;
  if (database.kind === 'sqlite') {
    storage = openSqlite({ path: database.path, role, queueCapacity, minFreeBytes, onProblem });
  } else {
    const { openPostgres } = await import('#storage/postgres/open.ts');
    const onWarning = (message: string) => logger.warn(message);
    let isOpen = false;
    // What goes wrong before is thrown.
    const onLaterProblem = (message: string | undefined) => isOpen && onProblem(message);
    storage = await openPostgres({
      url: database.url,
      makes,
      queueCapacity,
      onWarning,
      onProblem: onLaterProblem,
    });
    isOpen = true;
  }
  const directory = createDirectory(storage.db);
  const clockMemory = createClockMemory(storage.db);
  try {
    await assertComplete(storage.db);
  } catch (error) {
    await storage.close();
    throw error;
  }
  await makeDefaultTenant(directory);
  await directory.panels.nameTopics();
  const accounts = createAccountStore(storage.db);
  return { storage, directory, accounts, clockMemory, close: (withinMs) => storage.close(withinMs) };
}

async function makeDefaultTenant({ tenants }: Directory): Promise<void> {
  if (await tenants.findByName(defaultTenant)) return;
  try {
    await tenants.create(defaultTenant, 'Default', 'belfry', Date.now());
  } catch (error) {
    // Another process may have opened the new database at the same moment.
    if (!(await tenants.findByName(defaultTenant))) throw error;
  }
}

const retryMs = 1_000;

/** The server was stopped while it waited for its database. */
export class StoppedEarly extends Error {
  override readonly name = 'StoppedEarly';
}

/**
 * Waits while PostgreSQL is away, so that nodes and their database may start in any order.
 * @throws StoppedEarly when `stop` ends the wait.
 */
async function openWhenReachable(
  config: Config,
  logger: Logger,
  stop: Promise<void>,
): Promise<OpenedStorage> {
  let reported: string | undefined;
  for (;;) {
    try {
      return await openStorage(config, logger, 'server');
    } catch (error) {
      if (config.database.kind !== 'postgres' || !isAway(error)) throw error;
      const { host, pathname } = new URL(config.database.url);
      const { message: reason } = (error instanceof AppError && error.cause ? error.cause : error) as Error;
      if (reason !== reported) logger.warn({ reason }, `waiting for PostgreSQL at ${host}${pathname}`);
      reported = reason;
      if (await settlesWithin(stop, retryMs)) throw new StoppedEarly('stopped before it was ready');
    }
  }
}

const never = new Promise<void>(() => undefined);

/**
 * Starts everything. Resolves once the server listens and is ready. While PostgreSQL cannot be reached, it waits, until `stop`.
 * @throws StoppedEarly when `stop` ended that wait.
 * @throws Error when another server runs on the same database, or the port is taken.
 */
export async function startServer(
  config: Config,
  logger: Logger,
  stop: Promise<void> = never,
): Promise<RunningServer> {
  const lock = lockDatabase(config);
  let opened: OpenedStorage | undefined;
  try {
    opened = await openWhenReachable(config, logger, stop);
    return await serve(config, logger, opened, lock);
  } catch (error) {
    await opened?.close();
    lock.release();
    throw error;
  }
}

async function serve(
  config: Config,
  logger: Logger,
  opened: OpenedStorage,
  lock: { release(): void },
): Promise<RunningServer> {
  const tracing = await openTracing(config, logger);
  const services = await createServices(config, logger, opened, tracing);
  const setUpSecret = await prepareFirstAccount(config, services);
  const server = await createServer({ services, logger, logsRequests: config.log.requests });
  const clock = await watchClock(opened.clockMemory, logger, services.now);
  // Registers this node before the first request.
  await services.presence.report();
  const { url, metricsListener, listeners } = await listen(config, {
    services,
    server,
    logger,
    nodes: opened.storage.nodes,
  });
  const stopGivingBack = giveBackIdleMemory();
  services.schedule.start();
  const stopLoops = startLoops(config, logger, services, { ...opened, clock });
  const stop = async () => {
    stopGivingBack();
    await settlesWithin(Promise.all(listeners.map((listener) => listener.close())), listenersCloseMs);
    const ended = await shutDown({
      logger,
      services,
      server,
      drainMs: config.drainMs,
      stopLoops: async () => {
        await Promise.all([stopLoops(), services.schedule.stop()]);
        await services.presence.leave();
      },
      closeMetrics: async () => void (await Promise.all([metricsListener?.close(), tracing?.close()])),
      closeStorage: async (withinMs) => {
        const [ended] = await Promise.all([
          opened.close(withinMs),
          settlesWithin(services.bus.close(), withinMs),
        ]);
        return ended;
      },
    });
    lock.release();
    return ended;
  };
  const { directory, accounts } = opened;
  const { failed } = opened.storage;
  const ports = Object.fromEntries(
    listeners.flatMap(({ name, port }) => (port === undefined ? [] : [[name, port]])),
  );
  return { url, directory, accounts, setUpSecret, routes: server.routes, ports, failed, stop };
}

/** Loads the tracing code only if a collector is configured. */
async function openTracing({ tracing }: Config, logger: Logger) {
  if (!tracing) return undefined;
  const { openOtlpTracing } = await import('./otlp-tracing.ts');
  return openOtlpTracing({ ...tracing, version, commit, onProblem: (message) => logger.warn(message) });
}

/** Opens the listeners: all of them, or none. */
async function listen(
  config: Config,
  {
    services,
    server,
    logger,
    nodes,
  }: { services: Services; server: Server; logger: Logger; nodes: Storage['nodes'] },
) {
  const { app, intake } = server;
  try {
    const url = await app.listen({ host: config.host, port: config.port, backlog });
    const metricsListener = await startMetricsListener(config.metrics, services);
    if (!config.listeners) return { url, metricsListener, listeners: [] };
    const leaseOf = nodes && ((name: string) => nodes.lease(name));
    const { openListeners } = await import('#listeners/listeners.ts');
    return {
      url,
      metricsListener,
      listeners: await openListeners(config.listeners, { intake, log: logger, leaseOf }),
    };
  } catch (error) {
    await app.close();
    services.tenantStreams.close();
    throw error;
  }
}

/** If there is no account yet, creates the owner that the environment names, or opens the set-up. */
async function prepareFirstAccount({ admin }: Config, services: Services): Promise<string | undefined> {
  const { accounts, signIn, directory, setUp, now } = services;
  if (!(await accounts.isEmpty())) return undefined;
  if (!admin) return setUp.open();
  const name = admin.email.split('@')[0] ?? admin.email;
  const person = await signIn.newPerson({ ...admin, name, emailVerified: true });
  const tenant = await directory.tenants.findByName(defaultTenant);
  if (tenant) await accounts.createFirst({ person, tenant: { id: tenant.id }, by: 'belfry', at: now() });
  return undefined;
}

/** Only one server may use a SQLite file. PostgreSQL allows any number. */
function lockDatabase({ database }: Config): { release(): void } {
  if (database.kind !== 'sqlite') return { release() {} };
  // A command that makes a new database holds the lock for a moment.
  const lock = tryServerLock(database.path, lockWaitMs);
  if (!lock)
    throw conflict(
      `another Belfry server runs on ${database.path}: stop it first, or set BELFRY_DATABASE_URL to another file`,
    );
  return lock;
}

/** Shuts a server down in order and in bounded time, even if something hangs. */

/** Time reserved for background work and storage, when clients use up the time to drain. */
const closingMs = 1_500;
/** The limit of the whole shutdown, unless clients may take longer: container runtimes kill after ten seconds. */
const leastTotalMs = 9_500;

export interface ShutdownSteps {
  readonly logger: Logger;
  readonly services: Pick<Services, 'tenantStreams' | 'usage'>;
  readonly server: Server;
  /** How long clients have to finish their requests. */
  readonly drainMs: number;
  /** Ends the background work; resolves once none of it runs. */
  stopLoops(): Promise<void>;
  closeMetrics(): Promise<void>;
  closeStorage(withinMs: number): Promise<boolean>;
}

/**
 * Takes no more requests, finishes those under way, says goodbye to panels, and closes the storage. A step that takes too long is
 * abandoned and logged. Returns false when a storage thread hangs: then only a kill ends the process.
 */
async function shutDown(steps: ShutdownSteps): Promise<boolean> {
  const { logger, services, server, drainMs, stopLoops, closeMetrics, closeStorage } = steps;
  const end = performance.now() + Math.max(leastTotalMs, drainMs + closingMs);
  const leftMs = () => end - performance.now();
  const step = async (what: string, work: Promise<unknown>, withinMs: number) => {
    if (!(await settlesWithin(work, withinMs)))
      logger.warn(`stopping: ${what} took too long and was given up`);
  };
  const closing = server.app.close();
  services.tenantStreams.drain();
  server.closeIdleConnections();
  await settlesWithin(closing, drainMs);
  server.app.server.closeAllConnections();
  services.tenantStreams.close();
  // A hanging disk delays these and the storage. Closing the storage needs most of the remaining time.
  await step('background work', Promise.all([stopLoops(), closeMetrics()]), leftMs() / 4);
  const written = services.usage
    .flush()
    .catch((error: unknown) => logger.warn({ err: error }, 'last uses were not written'));
  await step('writing last uses', written, leftMs() / 4);
  return closeStorage(Math.max(0, leftMs()));
}
