/** The services of a running server, and how they are created. */
import { randomUUID } from 'node:crypto';
import { mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { sql } from 'kysely';
import { createAccounts } from './accounts/accounts.ts';
import { openKeyFile } from './accounts/key-file.ts';
import { createChannelService } from './channels/service.ts';
import type { Config } from './config.ts';
import type { AccountStore } from './core/accounts.ts';
import { createAttention } from './core/attention/attention.ts';
import type { Directory } from './core/directory.ts';
import { Intake } from './core/intake.ts';
import { Limits } from './core/limits.ts';
import { MappingReader } from './core/mappings.ts';
import { Metrics } from './core/metrics.ts';
import type { NotificationDraft } from './core/ports.ts';
import { Presence } from './core/presence.ts';
import { Explainer } from './core/routing/explain.ts';
import { Throttle } from './core/routing/throttle.ts';
import { InitialSetup } from './core/secrets.ts';
import { TenantStreams } from './core/stream/tenant-streams.ts';
import { isEmpty } from './core/target.ts';
import { Tenancy } from './core/tenancy.ts';
import { UsageRecorder } from './core/usage-recorder.ts';
import { WebhookSignatures } from './core/webhook-signatures.ts';
import type { Services } from './http/services.ts';
import type { Logger } from './log.ts';
import { openBus } from './open-bus.ts';
import type { OtlpTracing } from './otlp-tracing.ts';
import { createOutbound } from './outbound/outbound.ts';
import { createDeliveryQueue } from './storage/deliveries.ts';
import { createDueTimes } from './storage/due-times.ts';
import { assertSharedKey } from './storage/shared-key.ts';
import { realDatabasePath } from './storage/sqlite/file/database-file.ts';
import type { Storage } from './storage/storage.ts';
import { version } from './version.ts';

const webFolder = fileURLToPath(new URL('../dist/web/', import.meta.url));
const docsFolder = fileURLToPath(new URL('../dist/docs/', import.meta.url));

export interface Opened {
  readonly storage: Storage;
  readonly directory: Directory;
  readonly accounts: AccountStore;
}

/** Creates the services that routes use, on an opened storage. */
export async function createServices(
  config: Config,
  logger: Logger,
  { storage, directory, accounts }: Opened,
  tracing?: Pick<OtlpTracing, 'tracer' | 'traceCalls'>,
): Promise<Services> {
  const now = Date.now;
  const tracer = tracing?.tracer;
  const history = tracing ? tracing.traceCalls(storage.history, ['append', 'search']) : storage.history;
  const onError = (error: unknown) => logger.error({ err: error }, 'a background task failed; it goes on');
  const key = await openKey(config, storage);
  const bus = await openBus(config, key, logger, onError);
  const tenancy = new Tenancy({ directory, onError, onOwnChange: () => bus.publish('directory', []) });
  await tenancy.poll();
  // This node's own change wakes it too, and finds nothing new.
  if (storage.nodes) bus.subscribe('directory', () => void tenancy.poll().catch(onError));
  const metrics = new Metrics(now());
  const usage = new UsageRecorder(directory);
  const deliveries = createDeliveryQueue(storage.builder, storage.executor, leaseHolder(storage));
  const channels = createChannelService({
    ...{ queue: deliveries, directory, history, key, now, onError, tracer },
    ...{ ...config.channels, baseUrl: config.baseUrl },
    onFinished: (tenant, state, count) => metrics.of(tenant).leftThroughChannel(state, count),
  });
  const onStored = (tenant: number, draft: NotificationDraft) => {
    const ofTenant = metrics.of(tenant);
    ofTenant.received(draft.sentLevel);
    if (draft.route.channels && draft.throttledOn === null) channels.wake(tenant);
    if (draft.route.muted) ofTenant.muted();
    else if (isEmpty(draft.route.target)) ofTenant.unrouted();
    usage.recordHits(
      tenant,
      draft.route.rules.map(({ id }) => id),
      draft.receivedAt,
    );
  };
  const tenantStreams = new TenantStreams({
    history,
    bus,
    tenancy,
    now,
    monotonicNow: () => performance.now(),
    onError,
    epoch: tenancy.epoch,
    heartbeatMs: config.heartbeatMs,
    onSent: (tenant, frames) => metrics.of(tenant).delivered('sent', frames),
    onContact: (tenant, panel) => usage.recordContact({ tenant, ...panel, at: now() }),
    tracer,
  });
  const attention = createAttention({
    dueTimes: createDueTimes(storage.builder, storage.executor),
    history,
    tenancy,
    bus,
    now,
    monotonicNow: () => performance.now(),
    isShared: storage.nodes !== undefined,
    onError,
    onRefused: (tenant, kind) => metrics.of(tenant).notAwaited(kind),
    onFull: (tenant, reason) =>
      logger.warn({ tenant: tenancy.peek(tenant)?.record.name }, `attention: ${reason}`),
  });
  const intake = new Intake({
    history,
    bus,
    directory,
    tenancy,
    throttle: new Throttle(),
    attention: attention.forIntake,
    now,
    onStored,
    onError,
    tracer,
  });
  const presence = new Presence({ tenantStreams, bus, nodes: storage.nodes, onError });
  const { panels, credentials } = directory;
  attention.handleWith(intake, { panels, credentials, presence, usage });
  return {
    directory,
    history,
    receipts: history,
    statistics: storage.statistics,
    channels,
    deliveries,
    bus,
    tenancy,
    tenantStreams,
    presence,
    limits: new Limits(storage.limits),
    signatures: new WebhookSignatures(key),
    mappings: new MappingReader(directory, tenancy),
    metrics,
    tracer,
    usage,
    accounts,
    signIn: createAccounts({
      store: accounts,
      oidc: config.oidc,
      key,
      now,
      onProblem: (message, error) => logger.warn({ err: error }, `accounts: ${message}`),
    }),
    setUp: new InitialSetup(),
    storage,
    fetchText,
    now,
    version,
    explainer: new Explainer(now),
    intake,
    schedule: attention.schedule,
    settings: {
      rateToken: config.rate.token,
      rateTenant: config.rate.tenant,
      rateAuth: config.rate.auth,
      rateApi: config.rate.api,
      baseUrl: config.baseUrl,
      trustedProxies: config.trustedProxies,
      metricsToken: config.metrics.token,
      webFolder,
      docsFolder,
    },
  };
}

/** For fetching certificates and short answers from addresses that senders name. */
const fetched = { timeoutMs: 5_000, maxBytes: 64 * 1024 };

async function fetchText(url: string): Promise<string> {
  const { status, body } = await createOutbound([]).request({ url }, fetched);
  if (status < 200 || status > 299) throw new Error(`${new URL(url).host} answered ${status}`);
  return body;
}

/** Where several nodes share a database, its clock decides how long leases hold. */
function leaseHolder({ nodes }: Storage): Parameters<typeof createDeliveryQueue>[2] {
  if (!nodes) return { name: 'server' };
  return { name: randomUUID(), clock: sql<number>`(extract(epoch from clock_timestamp()) * 1000)::bigint` };
}

/** The key file is beside the SQLite file, or where its setting points. Nodes of one database must have the same key. */
async function openKey({ database, keyFile }: Config, { builder, executor }: Storage): Promise<string> {
  if (database.kind === 'sqlite') return openKeyFile(keyFile ?? `${realDatabasePath(database.path)}.key`);
  const path = keyFile ?? './data/belfry.key';
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  const key = openKeyFile(path);
  await assertSharedKey(builder, executor, key);
  return key;
}
