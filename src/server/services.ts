/** The services of a running server, and how they are created. */
import { createHash, randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { sql } from 'kysely';
import { createAccounts } from '#accounts/accounts.ts';
import { openKeyFile } from '#accounts/key-file.ts';
import { createInProcessBus } from '#bus/in-process.ts';
import { createCalendarReader } from '#calendars/reader.ts';
import { createAnswerSources } from '#channels/answers/sources.ts';
import { NtfyUpstream } from '#channels/ntfy-upstream.ts';
import { createChannelService } from '#channels/service.ts';
import { createAttention } from '#core/alarms/alarms.ts';
import { watchOnCall } from '#core/alarms/on-call-gaps.ts';
import { ReplyAddresses } from '#core/channels/reply-addresses.ts';
import { Intake } from '#core/intake/intake.ts';
import { MappingReader } from '#core/intake/mappings.ts';
import { WebhookSignatures } from '#core/intake/webhook-signatures.ts';
import { Limits } from '#core/limits/rate-limits.ts';
import type { Bus } from '#core/log/bus.ts';
import type { NotificationDraft } from '#core/log/log.ts';
import { isEmpty } from '#core/log/target.ts';
import { Metrics } from '#core/observability/metrics.ts';
import type { AccountStore } from '#core/people/accounts.ts';
import { ActionLinks } from '#core/people/action-links.ts';
import { InitialSetup } from '#core/people/secrets.ts';
import { UsageRecorder } from '#core/people/usage-recorder.ts';
import { Explainer } from '#core/routing/explain.ts';
import { Throttle } from '#core/routing/throttle.ts';
import { Presence } from '#core/streams/presence.ts';
import { TenantStreams } from '#core/streams/tenant-streams.ts';
import type { Directory } from '#core/tenants/directory.ts';
import { Tenancy } from '#core/tenants/tenancy.ts';
import type { Services } from '#http/services.ts';
import { createOutbound, createOutbounds } from '#outbound/outbound.ts';
import type { Config } from '#settings/config.ts';
import { assertFirstKey, assertFirstNode, assertSharedKey, replaceKey } from '#storage/database/meta.ts';
import type { Storage } from '#storage/database/storage.ts';
import { createDeliveryQueue } from '#storage/deliveries/deliveries.ts';
import { createDueTimes } from '#storage/directory/due-times.ts';
import { makePrivateFolder, realDatabasePath } from '#storage/sqlite/file/database-file.ts';
import type { Logger } from './log.ts';
import type { OtlpTracing } from './otlp-tracing.ts';
import { build, commit, version } from './version.ts';

const webFolder = fileURLToPath(new URL('../../dist/web/', import.meta.url));
const docsFolder = fileURLToPath(new URL('../../dist/docs/', import.meta.url));

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
  const key = await openKey(config, storage, logger);
  const opened = await openBus(config, key, logger, onError);
  // Only the node that has stored an entry publishes it.
  const bus: Bus = config.ntfyUpstream
    ? {
        ...{ subscribe: opened.subscribe.bind(opened), problem: opened.problem.bind(opened) },
        close: opened.close.bind(opened),
        publish(topic, entries) {
          opened.publish(topic, entries);
          ntfyUpstream?.stored(topic, entries);
        },
      }
    : opened;
  const onRuleError = (error: unknown, of: { readonly tenant: string; readonly rule: string }) =>
    logger.error({ err: error, ...of }, 'a rule could not be evaluated');
  const tenancy = new Tenancy({ directory, onRuleError, onOwnChange: () => bus.publish('directory', []) });
  await tenancy.poll();
  // This node's own change wakes it too, and finds nothing new.
  if (storage.nodes) bus.subscribe('directory', () => void tenancy.poll().catch(onError));
  const metrics = new Metrics(now());
  const usage = new UsageRecorder(directory);
  const deliveries = createDeliveryQueue(storage.db, leaseHolder(storage));
  const { replyTo, ...ofChannels } = config.channels;
  const replies = replyTo === undefined ? undefined : new ReplyAddresses(key, replyTo);
  const channels = createChannelService({
    ...{ queue: deliveries, directory, history, tenancy, key, now, onError, tracer },
    ...{ ...ofChannels, replies, baseUrl: config.baseUrl },
    onFinished: (tenant, state, count) => metrics.of(tenant).leftThroughChannel(state, count),
  });
  const onStored = (tenant: number, draft: NotificationDraft, endsDelivered: boolean) => {
    const ofTenant = metrics.of(tenant);
    ofTenant.received(draft.sentLevel);
    if (endsDelivered || (draft.route.channels && draft.throttledOn === null)) channels.wake(tenant);
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
    baseUrl: config.baseUrl,
    onSent: (tenant, frames) => metrics.of(tenant).delivered('sent', frames),
    onContact: (tenant, panel) => usage.recordContact({ tenant, ...panel, at: now() }),
    tracer,
  });
  const attention = createAttention({
    dueTimes: createDueTimes(storage.db),
    history,
    tenancy,
    bus,
    channels,
    now,
    monotonicNow: () => performance.now(),
    isShared: storage.nodes !== undefined,
    onError,
    onRefused: (tenant) => metrics.of(tenant).notExpected(),
    onFull: (tenant, reason) =>
      logger.warn({ tenant: tenancy.peek(tenant)?.record.name }, `attention: ${reason}`),
  });
  const ntfyUpstream =
    config.ntfyUpstream &&
    new NtfyUpstream({
      ...config.ntfyUpstream,
      outbound: createOutbound(config.channels.allow),
      ...{ schedule: attention.schedule, history, tenancy, now, onError },
      onProblem: (problem) =>
        problem === undefined
          ? logger.info('the upstream of ntfy wakes iPhones again')
          : logger.warn({ problem }, 'the upstream of ntfy does not wake iPhones'),
    });
  const intake = new Intake({
    history,
    bus,
    directory,
    tenancy,
    throttle: new Throttle(),
    expect: attention.expect,
    isRunning: attention.isRunning,
    now,
    onStored,
    onError,
    tracer,
    // Embedded, the database answers reads whatever keeps it from writing.
    problem: storage.nodes && (() => storage.problem()),
  });
  const presence = new Presence({ tenantStreams, bus, nodes: storage.nodes, onError });
  const { panels, credentials, onCall } = directory;
  attention.handleWith(intake, { panels, credentials, onCall, presence, usage });
  const calendars = createCalendarReader({
    schedules: onCall,
    outboundOf: createOutbounds(config.channels.allow),
    now,
    version: build,
    onRead: async ({ tenant, id, reading }, isOther) => {
      if (isOther) await tenancy.refresh(tenant);
      if (isOther || reading.failingSince !== null) await watchOnCall(attention.schedule, tenant, id);
    },
  });
  const answerSources = createAnswerSources({
    context: { history, bus, channels, deliveries, directory, now },
    ...{ directory, service: channels, allow: config.channels.allow },
    lease: storage.nodes?.lease('channel-commands'),
    onProblem: (error, of) => logger.warn({ err: error, ...of }, 'answers of a channel do not arrive'),
    onRefused: (reason, of) => logger.info({ ...of, reason }, 'a command about an alarm did nothing'),
  });
  return {
    directory,
    history,
    receipts: history,
    statistics: storage.statistics,
    channels,
    answering: channels,
    deliveries,
    bus,
    tenancy,
    tenantStreams,
    presence,
    limits: new Limits(storage.limits),
    signatures: new WebhookSignatures(key),
    actionLinks: new ActionLinks(key),
    mappings: new MappingReader(directory, tenancy),
    metrics,
    tracer,
    usage,
    ntfyUpstream,
    accounts,
    signIn: createAccounts({
      store: accounts,
      oidc: config.oidc,
      key,
      now,
      onProblem: (message, error) => logger.warn({ err: error }, `accounts: ${message}`),
    }),
    setUp: new InitialSetup(key),
    storage,
    fetchText,
    now,
    version,
    commit,
    explainer: new Explainer(now),
    intake,
    schedule: attention.schedule,
    calendars,
    answerSources,
    replies,
    settings: {
      rateToken: config.rate.token,
      rateTenant: config.rate.tenant,
      bounds: config.bounds,
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

/** Opens the bus that the settings choose, and loads only its transport. `key`: the same on all nodes of one database. */
async function openBus(
  { bus, database }: Config,
  key: string,
  logger: Logger,
  onError: (error: unknown) => void,
): Promise<Bus> {
  if (bus === 'in-process' || database.kind === 'sqlite') return createInProcessBus(onError);
  const connect =
    bus === 'auto'
      ? (await import('#bus/postgres.ts')).postgresTransport(database.url)
      : (await import('#bus/nats.ts')).natsTransport(bus.urls, natsPrefix(key));
  const { NodeBus } = await import('#bus/node-bus.ts');
  const onProblem = (problem: string | undefined) =>
    problem === undefined
      ? logger.info('the bus works again')
      : logger.warn(
          { problem },
          'the bus is interrupted: panels get what other nodes take up to two seconds later',
        );
  const nodeBus = new NodeBus({ connect, onProblem, onError });
  await nodeBus.ready;
  return nodeBus;
}

/** The key keeps installations apart that use the same NATS. */
const natsPrefix = (key: string) =>
  `belfry.${createHash('sha256').update(`belfry bus ${key}`).digest('hex').slice(0, 16)}`;

/** For fetching certificates and short answers from addresses that senders name. */
const fetched = { timeoutMs: 5_000, maxBytes: 64 * 1024 };

async function fetchText(url: string): Promise<string> {
  const { status, body } = await createOutbound([]).request({ url }, fetched);
  if (status < 200 || status > 299) throw new Error(`${new URL(url).host} answered ${status}`);
  return body;
}

/** Where several nodes share a database, its clock decides how long leases hold. */
function leaseHolder({ nodes }: Storage): Parameters<typeof createDeliveryQueue>[1] {
  if (!nodes) return { name: 'server' };
  return { name: randomUUID(), clock: sql<number>`(extract(epoch from clock_timestamp()) * 1000)::bigint` };
}

/** Beside the SQLite file, or where its setting points. */
export const keyFileOf = ({ database, keyFile }: Pick<Config, 'database' | 'keyFile'>): string =>
  keyFile ?? (database.kind === 'sqlite' ? `${realDatabasePath(database.path)}.key` : './data/belfry.key');

/** Nodes of one database must have the same key, and an existing database never gets a new one by itself. */
async function openKey(config: Config, { db }: Storage, logger: Logger): Promise<string> {
  const path = resolve(keyFileOf(config));
  if (config.database.kind === 'postgres') {
    if (!existsSync(path)) await assertFirstNode(db);
    const key = openKeyFile(path, makePrivateFolder);
    await assertSharedKey(db, key);
    return key;
  }
  if (!existsSync(path)) await assertFirstKey(db, path);
  const key = openKeyFile(path);
  if (await replaceKey(db, key))
    logger.warn(
      `${path} is another key file than before: everybody is signed out, and second factors, devices and secrets of channels that the earlier key encrypted cannot be read. Put the earlier file back if you have it`,
    );
  return key;
}
