/** Wiring: the only file that knows every folder. */
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { createInProcessBus } from './bus/in-process.ts';
import type { Config } from './config.ts';
import { Bookkeeping } from './core/bookkeeping.ts';
import type { Directory } from './core/directory.ts';
import { AppError } from './core/errors.ts';
import { Feeds } from './core/feed.ts';
import { Intake } from './core/intake.ts';
import { Metrics } from './core/metrics.ts';
import type { NotificationDraft } from './core/ports.ts';
import { enforceRetention } from './core/retention.ts';
import { isEmpty } from './core/target.ts';
import { Tenancy } from './core/tenancy.ts';
import { Throttle } from './core/throttle.ts';
import { startMetricsListener } from './http/metrics-listener.ts';
import { createServer, type Server } from './http/server.ts';
import type { Services } from './http/services.ts';
import type { Logger } from './log.ts';
import { createDirectory } from './storage/directory.ts';
import { createSqliteBuilder } from './storage/sqlite/builder.ts';
import { tryServerLock } from './storage/sqlite/lock.ts';
import { openSqlite, type SqliteStorage } from './storage/sqlite/open.ts';
import { version } from './version.ts';

// What the command line may use of the other folders comes through here.
export { type Config, describeConfig } from './config.ts';
export { keyView, newKey, newToken, tokenView } from './core/credentials.ts';
export { createLogger } from './log.ts';
export { backUp } from './storage/sqlite/backup.ts';
export { restore } from './storage/sqlite/restore.ts';

/** Storage with its directory, as the server and the administration commands open it. */
export interface OpenedStorage {
  readonly storage: SqliteStorage;
  readonly directory: Directory;
  close(): Promise<void>;
}

export interface RunningServer {
  /** Where it listens, as in http://127.0.0.1:8080. */
  readonly url: string;
  readonly directory: Directory;
  readonly routes: Server['routes'];
  /** Takes no more, finishes what it has, says goodbye to panels, and closes; at most `drainMs`. */
  stop(): Promise<void>;
}

const pollMs = 400;
const flushMs = 5_000;
const sweepMs = 2_000;
const retentionMs = 60_000;
const webFolder = join(import.meta.dirname, '../dist/web');

/** Opens the database, makes it when it is new, and makes sure that the tenant `default` exists. */
export async function openStorage(config: Config, logger: Logger): Promise<OpenedStorage> {
  const storage = openSqlite({
    path: config.database.path,
    queueCapacity: config.intakeQueue,
    minFreeBytes: config.minFreeBytes,
    onTrouble: (message) =>
      message === undefined
        ? logger.info('storage works again')
        : logger.error({ trouble: message }, 'storage is in trouble'),
  });
  const directory = createDirectory(createSqliteBuilder(), storage.executor);
  await makeDefaultTenant(directory);
  return { storage, directory, close: () => storage.close() };
}

async function makeDefaultTenant({ tenants }: Directory): Promise<void> {
  if (await tenants.findByName('default')) return;
  try {
    await tenants.create('default', 'Default', 'belfry', Date.now());
  } catch (error) {
    // Another process may have opened the new database at the same moment.
    if (!(await tenants.findByName('default'))) throw error;
  }
}

/**
 * Starts everything. Resolves once the server listens and is ready.
 * @throws Error when another server runs on the same database, or the port is taken.
 */
export async function startServer(config: Config, logger: Logger): Promise<RunningServer> {
  const lock = lockDatabase(config);
  const opened = await openStorage(config, logger);
  const services = await createServices(config, logger, opened);
  const server = await createServer({ services, logger });
  const url = await server.app.listen({ host: config.host, port: config.port });
  const metricsListener = await startMetricsListener(config.metrics, services);
  const stopLoops = startLoops(config, logger, services, opened);
  const stop = async () => {
    const closing = server.app.close();
    await services.feeds.drain();
    server.app.server.closeIdleConnections();
    await Promise.race([closing, sleep(config.drainMs, undefined, { ref: false })]);
    server.app.server.closeAllConnections();
    await stopLoops();
    await services.feeds.close();
    await metricsListener?.close();
    await services.bookkeeping
      .flush()
      .catch((error: unknown) => logger.warn({ err: error }, 'last uses were not written'));
    await opened.close();
    lock.release();
  };
  return { url, directory: opened.directory, routes: server.routes, stop };
}

function lockDatabase({ database }: Config): { release(): void } {
  const lock = tryServerLock(database.path);
  if (!lock)
    throw new AppError(
      'conflict',
      `another Belfry server runs on ${database.path}: stop it first, or set BELFRY_DATABASE_URL to another file`,
    );
  return lock;
}

async function createServices(
  config: Config,
  logger: Logger,
  { storage, directory }: OpenedStorage,
): Promise<Services> {
  const now = Date.now;
  const { history } = storage;
  const bus = createInProcessBus();
  const onError = (error: unknown) => logger.error({ err: error }, 'a background task failed; it goes on');
  const tenancy = new Tenancy({ directory, onError });
  await tenancy.poll();
  const metrics = new Metrics();
  const bookkeeping = new Bookkeeping(directory);
  const onStored = (tenant: number, draft: NotificationDraft) => {
    const ofTenant = metrics.of(tenant);
    ofTenant.received(draft.sentLevel);
    if (draft.route.muted) ofTenant.muted();
    else if (isEmpty(draft.route.target)) ofTenant.unrouted();
    bookkeeping.hit(
      tenant,
      draft.route.rules.map(({ id }) => id),
      draft.receivedAt,
    );
  };
  const feeds = new Feeds({
    history,
    bus,
    tenancy,
    now,
    onError,
    epoch: await directory.epoch(),
    heartbeatMs: config.heartbeatMs,
    onSent: (tenant, frames) => metrics.of(tenant).delivered('sent', frames),
    onSeen: (tenant, id, cursor) => bookkeeping.seen({ tenant, id, cursor, at: now() }),
  });
  return {
    directory,
    history,
    receipts: history,
    bus,
    tenancy,
    feeds,
    metrics,
    bookkeeping,
    storage,
    now,
    version,
    intake: new Intake({ history, bus, directory, tenancy, throttle: new Throttle(), now, onStored }),
    settings: {
      rateToken: config.rate.token,
      rateTenant: config.rate.tenant,
      rateAuth: config.rate.auth,
      trustedProxies: config.trustedProxies,
      metricsToken: config.metrics.token,
      webFolder,
    },
  };
}

/** What runs beside requests. Each loop waits for its own last run, and none ends the process. */
function startLoops(
  config: Config,
  logger: Logger,
  services: Services,
  { storage, directory }: OpenedStorage,
): () => Promise<void> {
  const { tenancy, bookkeeping, history, bus, now } = services;
  let stopped = false;
  const loop = async (name: string, everyMs: number, work: () => Promise<unknown>): Promise<void> => {
    while (!stopped) {
      await sleep(everyMs, undefined, { ref: false });
      if (stopped) return;
      await work().catch((error: unknown) =>
        logger.warn({ err: error, loop: name }, 'a background task failed; it goes on'),
      );
    }
  };
  const sweep = async () => {
    while ((await storage.sweep(now())) > 0 && !stopped) await sleep(5);
    await directory.pairings.sweep(now());
  };
  const retention = {
    directory,
    history,
    bus,
    days: config.retention.days,
    count: config.retention.count,
    now,
  };
  void loop('poll', pollMs, () => tenancy.poll());
  void loop('flush', flushMs, () => bookkeeping.flush());
  void loop('sweep', sweepMs, sweep);
  void loop('retention', retentionMs, () => enforceRetention(retention, () => stopped));
  return async () => {
    stopped = true;
  };
}
