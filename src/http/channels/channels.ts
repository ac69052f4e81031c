import { Type } from 'typebox';
import { uuidv7 } from 'uuidv7';
import {
  ChannelCreate,
  ChannelCreated,
  ChannelDeliveries,
  type ChannelDelivery,
  ChannelList,
  ChannelPatch,
  ChannelSecretsAnswer,
  ChannelSecretsQuestion,
  ChannelTest,
} from '#contract/channels/channel.ts';
import type { ChannelKind } from '#contract/channels/channel-fields.ts';
import {
  changedChannelFields,
  differingSecrets,
  newChannelFields,
  publicSettings,
} from '#core/channels/channel-setup.ts';
import {
  type ChannelChange,
  type ChannelRecord,
  channelView,
  deliveryView,
} from '#core/channels/channels.ts';
import { AppError, badField, notFound, requireFound } from '#core/errors.ts';
import type { TenantId } from '#core/log/route.ts';
import { actorOf, mayReadReceivers } from '#core/people/access.ts';
import type { Rate } from '#core/tenants/tenants.ts';
import { takeFrom } from '../callers/rate-limits.ts';
import { IdPath, limitUpTo, NoContent, problems, readLimit, route } from '../openapi/route-schemas.ts';
import type { App, Services } from '../services.ts';

const mostDeliveries = 200;
/** Comparisons with the secrets of one channel, by all callers together. */
const comparisonRate: Rate = { perSecond: 1 / 6, burst: 10 };
const notRunning = { failures: 0, failingSince: null, retryAt: 0, lastDeliveredAt: null, lastError: null };

/** The channels of a tenant. */
export function channelRoutes(app: App, services: Services): void {
  const { directory, deliveries, tenancy, now } = services;
  const { channels } = directory;
  changeRoutes(app, services);
  compareRoute(app, services);

  app.get(
    '/api/channels',
    route('viewer', {
      summary: 'All channels, by name, without secrets',
      description:
        'Below the role admin, of a URL its origin alone is answered, no topic, and null as `lastError` and `answersError`.',
      response: { 200: ChannelList },
    }),
    async ({ principal }) => {
      const { tenant } = principal;
      const records = await channels.list(tenant);
      const stateOf = await states(services, tenant);
      const views = records.map((record) => channelView(record, stateOf(record)));
      if (mayReadReceivers(principal)) return { channels: views };
      const shown = views.map(({ kind, settings, state, ...others }) => ({
        ...{ ...others, kind, settings: publicSettings(kind, settings) },
        state: { ...state, lastError: null, answersError: null },
      }));
      return { channels: shown };
    },
  );

  app.post(
    '/api/channels/:id/test',
    route('admin', {
      summary: 'Send a test through a channel, at once and past its queue',
      params: IdPath,
      response: { 200: ChannelTest },
      expensive: 'channel test',
    }),
    async ({ principal, params }) =>
      services.channels.test(await find(services, principal.tenant, params.id), actorOf(principal)),
  );

  app.get(
    '/api/channels/:id/deliveries',
    route('viewer', {
      summary: 'What was delivered through a channel, and what waits, the newest first',
      description: 'Below the role admin, null as `answer`.',
      params: IdPath,
      querystring: Type.Object({ limit: limitUpTo(mostDeliveries) }),
      response: { 200: ChannelDeliveries },
    }),
    async ({ principal, params, query }) => {
      const { tenant } = principal;
      const { id, name } = await find(services, tenant, params.id);
      const rows = await deliveries.list(tenant, id, readLimit(query.limit, mostDeliveries));
      const views: ChannelDelivery[] = [];
      // Read one after the other, because pages poll this and other readers need the same connections.
      for (const row of rows) {
        const notification = await services.history.find(tenant, row.notification);
        const shown = mayReadReceivers(principal) ? row : { ...row, answer: null };
        views.push(deliveryView(shown, name, notification?.title ?? null));
      }
      return { deliveries: views };
    },
  );

  /** The change applies to the next notification. */
  app.delete(
    '/api/channels/:id',
    route('admin', {
      summary: 'Delete a channel; what waits for it is not delivered',
      params: IdPath,
      response: { 204: NoContent },
    }),
    async ({ principal, params }) => {
      const { tenant } = principal;
      requireFound(await channels.remove(tenant, params.id, actorOf(principal), now()), 'channel');
      await tenancy.refresh(tenant);
    },
  );
}

function compareRoute(app: App, services: Services): void {
  const { limits, now } = services;
  const name = 'secret comparison';
  const comparisons = { name, rate: comparisonRate, limiter: limits.exact(name) };
  app.post(
    '/api/channels/:id/compare-secrets',
    route('admin', {
      summary: 'Which of these secrets differ from those of a channel',
      description:
        'Changes nothing: for programs that hold a channel to a file. Secrets that were encrypted with another key file count as different. So that nobody can guess a secret, each channel allows 10 comparisons at once and 10 a minute; then the answer is 429.',
      params: IdPath,
      body: ChannelSecretsQuestion,
      response: { 200: ChannelSecretsAnswer },
    }),
    async ({ principal, params, body }) => {
      const record = await find(services, principal.tenant, params.id);
      await takeFrom(comparisons, record.id, now());
      return { differing: differingSecrets(openIfNeeded(services, record, body), body.secrets) };
    },
  );
}

function changeRoutes(app: App, services: Services): void {
  const { directory, tenancy, now } = services;
  const { channels } = directory;

  app.post(
    '/api/channels',
    route('admin', {
      summary: 'Create a channel',
      description:
        'The answer holds the signing key of a webhook if none was given; it is never shown again.',
      body: ChannelCreate,
      response: { 201: ChannelCreated, ...problems(409) },
    }),
    async ({ principal, body }) => {
      const { tenant } = principal;
      const { settings, secrets } = newChannelFields(body);
      requireOperatorsMail(services, body.kind, settings);
      const id = uuidv7();
      const at = now();
      const record = {
        ...{ tenant, id, kind: body.kind, settings },
        name: body.name.trim(),
        enabled: body.enabled ?? true,
        secrets: Object.keys(secrets),
        sealed: services.channels.seal(tenant, id, secrets),
        ...{ createdAt: at, updatedAt: at },
      };
      await channels.create(record, actorOf(principal));
      await tenancy.refresh(tenant);
      return {
        ...channelView({ ...record, health: notRunning }, { pending: 0, now: at }),
        ...newSigningKey(secrets, body),
      };
    },
  );

  app.patch(
    '/api/channels/:id',
    route('admin', {
      summary: 'Change a channel',
      description:
        'Fields that are not named keep their value; `settings` is replaced as a whole, of `secrets` those that are named. With another address, secrets must be entered again. What waits is attempted at once. The answer holds the signing key of a webhook if its key was removed and a new one made.',
      params: IdPath,
      body: ChannelPatch,
      response: { 200: ChannelCreated, ...problems(409) },
    }),
    async ({ principal, params, body }) => {
      const { tenant } = principal;
      let newKey: { readonly signingKey?: string } = {};
      const plan = (known: ChannelRecord) => {
        const planned = planChange(services, known, body);
        newKey = planned.newKey;
        return planned.change;
      };
      const record = await channels.update(tenant, params.id, plan, actorOf(principal), now());
      if (!record) throw notFound('channel');
      await tenancy.refresh(tenant);
      services.channels.wake(tenant);
      const stateOf = await states(services, tenant);
      return { ...channelView(record, stateOf(record)), ...newKey };
    },
  );
}

/** What is known of the channels of a tenant beside their records. */
async function states({ deliveries, directory, now }: Services, tenant: TenantId) {
  const [pending, problems] = await Promise.all([
    deliveries.pending(tenant),
    directory.answerProblems.list(tenant),
  ]);
  return ({ id, enabled }: ChannelRecord) => ({
    ...{ pending: pending.get(id) ?? 0, now: now() },
    answers: enabled ? problems.get(id) : undefined,
  });
}

/** What only the operator can set up. */
function requireOperatorsMail(
  { channels, replies: replyAddresses }: Services,
  kind: ChannelKind,
  { server, replies }: Readonly<Record<string, string>>,
): void {
  if (kind !== 'email') return;
  if (server === undefined && !channels.hasMailServer)
    throw badField('settings.server', 'is required: the operator has set no mail server');
  if (replies === 'on' && !replyAddresses)
    throw badField(
      'settings.replies',
      'must be off: this server takes no replies, because the operator has not set BELFRY_SMTP_REPLY_TO',
    );
}

/** The signing key if the server created it just now. */
function newSigningKey(
  { signingKey }: Readonly<Record<string, string>> = {},
  { secrets }: Pick<ChannelPatch, 'secrets'>,
  before: Readonly<Record<string, string>> = {},
): { readonly signingKey?: string } {
  const isNew = signingKey !== undefined && !secrets?.signingKey && signingKey !== before.signingKey;
  return isNew ? { signingKey } : {};
}

function planChange(services: Services, known: ChannelRecord, body: ChannelPatch) {
  const opened = openIfNeeded(services, known, body);
  const { settings, secrets } = changedChannelFields(known.kind, body, {
    settings: known.settings,
    names: known.secrets,
    secrets: opened,
  });
  if (settings) requireOperatorsMail(services, known.kind, settings);
  const change: ChannelChange = {
    ...(body.name !== undefined && { name: body.name.trim() }),
    ...(body.enabled !== undefined && { enabled: body.enabled }),
    // With the secrets as they are: whether settings may change depends on them.
    ...(settings && { settings, sealed: known.sealed }),
    ...(secrets && {
      secrets: Object.keys(secrets),
      sealed: services.channels.seal(known.tenant, known.id, secrets),
    }),
  };
  return { change, newKey: newSigningKey(secrets, body, opened) };
}

async function find({ directory }: Services, tenant: TenantId, id: string): Promise<ChannelRecord> {
  return requireFound(await directory.channels.find(tenant, id), 'channel');
}

/** Secrets that were encrypted with a lost key can be replaced. */
function openIfNeeded({ channels }: Services, record: ChannelRecord, { secrets }: ChannelPatch) {
  if (!secrets) return {};
  try {
    return channels.open(record);
  } catch (error) {
    if (error instanceof AppError && error.code === 'conflict') return {};
    throw error;
  }
}
