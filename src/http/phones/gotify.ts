/** Reading as from Gotify: what its apps ask for, at /gotify. A client is a panel. https://gotify.net/api-docs */
import { hash } from 'node:crypto';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { Type } from 'typebox';
import {
  GotifyApplication,
  GotifyClient,
  GotifyClientName,
  GotifyHealth,
  GotifyInfo,
  GotifyMessages,
  GotifyUser,
  GotifyVersion,
} from '#contract/panels/gotify.ts';
import { compareLevels } from '#contract/routing/level-styles.ts';
import { actOnAlarms } from '#core/alarms/standing.ts';
import { badRequest, notFound } from '#core/errors.ts';
import type { Notification, Return } from '#core/log/log.ts';
import type { TenantId } from '#core/log/route.ts';
import { reaches } from '#core/log/target.ts';
import { actorOf, type Principal } from '#core/people/access.ts';
import { newToken } from '#core/people/credentials.ts';
import { isTakenCareOf } from '#core/streams/encoding.ts';
import { applicationId, gotifyStreams, priorityOf } from '#core/streams/gotify/encoding.ts';
import { positionOfGotifyId } from '#core/streams/gotify/ids.ts';
import { readMessages } from '#core/streams/gotify/list.ts';
import type { PanelRecord } from '#core/tenants/directory.ts';
import { findByTopic } from '#core/tenants/topics.ts';
import { iso, isoOrNull } from '#core/time/time.ts';
import type { AccountContext } from '../account/account-context.ts';
import { asAccount } from '../account/password.ts';
import type { Authenticator } from '../callers/auth.ts';
import type { PersonPrincipal } from '../callers/people.ts';
import { bearerOf, urlTokenOf } from '../callers/sender-credential.ts';
import { problems, route, wholeNumber } from '../openapi/route-schemas.ts';
import type { App, Services } from '../services.ts';
import { discOf } from './gotify-image.ts';
import { clientOf, connectPhone, registerPhone, serveSocket } from './phones.ts';
import { requireUpgrade } from './upgrades.ts';

/** Clients show it. From 3.0 on they would expect what this server does not have. */
const version = '2.9.1';

/** A token alone, for an app keeps what it reads with, and no key or password should stay on a phone. */
const ofPhones = { senderCredential: true, urlToken: 'of every token', rateLimit: 'by panel' } as const;

/** A whole number, which comes as text. */
const wholeText = (description?: string) =>
  Type.String({ ...(description && { description }), describedAs: { type: 'integer', minimum: 0 } });
const NumberPath = Type.Object({ id: wholeText() });

export function gotifyReadingRoutes(app: App, context: AccountContext, authenticator: Authenticator): void {
  const { services } = context;
  publicRoutes(app);
  signInRoutes(app, context);
  clientRoutes(app, services);
  messageRoutes(app, services);
  app.get(
    '/gotify/stream',
    { ...route('panel', { ...ofPhones, expensive: 'panel stream', response: {} }), schema: { hide: true } },
    async (request, reply) => {
      requireUpgrade(request);
      const panel = (await findPanel(services, request)) ?? (await register(services, request));
      return answerSocket(services, authenticator, { request, reply, panel });
    },
  );
}

function publicRoutes(app: App): void {
  const open = { rateLimit: 'none' } as const;
  app.get(
    '/gotify/version',
    route('public', { ...open, summary: 'The version, as of Gotify', response: { 200: GotifyVersion } }),
    async () => ({ version, commit: '', buildDate: '' }),
  );
  app.get(
    '/gotify/gotifyinfo',
    route('public', { ...open, summary: 'How to sign in, as of Gotify', response: { 200: GotifyInfo } }),
    async () => ({ version, register: false as const, oidc: false as const }),
  );
  app.get(
    '/gotify/health',
    route('public', {
      ...open,
      summary: 'Whether the server answers, as of Gotify',
      response: { 200: GotifyHealth },
    }),
    async () => ({ health: 'green' as const, database: 'green' as const }),
  );
  app.get(
    '/gotify/image/:file',
    route('public', {
      ...open,
      summary: 'The image of an application, as of Gotify: the colour of its level',
      params: Type.Object({ file: Type.String({ description: 'As in 58a6ff.png.' }) }),
      response: {
        200: { description: 'image/png', content: { 'image/png': { schema: Type.String() } } },
        ...problems(404),
      },
    }),
    async ({ params }, reply) => {
      const [, color] = /^([0-9a-f]{6})\.png$/.exec(params.file) ?? [];
      if (color === undefined) throw notFound('image');
      reply.type('image/png').header('cache-control', 'public, max-age=31536000, immutable');
      return reply.send(discOf(color) as unknown as string);
    },
  );
}

function signInRoutes(app: App, context: AccountContext): void {
  const { services } = context;
  const signIn = { ...ofPhones, accountCredential: true } as const;
  app.get(
    '/gotify/current/user',
    route('panel', {
      ...signIn,
      summary: 'The caller, as of Gotify: its token, or the person',
      description: 'Takes basic authentication as `POST /gotify/client` does.',
      response: { 200: GotifyUser, ...problems(400) },
    }),
    async (request, reply) => {
      const { account, principal } = request;
      const { name } = account
        ? await asAccount(context, { request, reply, account, app: 'Gotify' }, async (admin) => admin)
        : principal;
      return { id: 1, name, admin: false as const };
    },
  );
  app.post(
    '/gotify/client',
    route('panel', {
      ...signIn,
      summary: 'Sign a phone in, as of Gotify',
      description: `The token is the password of any user. The phone becomes a panel of this name, unless the token has one already: the one that it is bound to, or that
of an earlier call. The answer has the same token. Or the user is the email address of an admin, with the name of the tenant before it if there are several
(\`acme/ann@example.org\`), and the password that of the account: the answer then has a new token, for the panel of this name alone.`,
      body: GotifyClientName,
      response: { 200: GotifyClient, ...problems(409) },
    }),
    async (request, reply) => {
      const { account } = request;
      const name = request.body.name.trim();
      if (account)
        return asAccount(context, { request, reply, account, app: 'Gotify' }, (admin) =>
          addPhone(services, admin, name),
        );
      const panel = (await findPanel(services, request)) ?? (await register(services, request, name));
      return clientView(panel, tokenOf(request));
    },
  );
}

/** A panel and a new token for it alone. A person who gives the same name again gets the same panel. */
async function addPhone(services: Services, admin: PersonPrincipal, name: string) {
  const { directory, tenancy, now } = services;
  const { tenant, id: person } = admin;
  const topic = `gotify-${hash('sha256', `${person} ${name}`, 'hex').slice(0, 32)}`;
  const find = async () => findByTopic((await tenancy.get(tenant)).panels, topic);
  const panel =
    (await find()) ??
    (await tenancy.poll().then(find)) ??
    (await registerPhone(services, admin, { name, topic }, () => tenancy.poll().then(find)));
  const wanted = { name: panel.name, scopes: ['panel' as const], panelId: panel.id };
  const { record, text } = newToken(tenant, wanted, actorOf(admin), now());
  await directory.credentials.add(record, admin);
  return clientView(panel, text);
}

function clientRoutes(app: App, services: Services): void {
  const { directory, tenancy, now } = services;
  app.get(
    '/gotify/client',
    route('panel', {
      ...ofPhones,
      summary: 'The client of the caller, as of Gotify',
      response: { 200: Type.Array(GotifyClient) },
    }),
    async (request) => {
      const panel = await findPanel(services, request);
      return panel ? [clientView(panel, tokenOf(request))] : [];
    },
  );
  app.delete(
    '/gotify/client/:id',
    route('panel', {
      ...ofPhones,
      summary: 'Sign the calling phone out, as of Gotify',
      description: 'The panel stays. A token that is bound to the panel is revoked.',
      params: NumberPath,
      response: { 200: Type.Null({ description: 'Done.' }) },
    }),
    async (request, reply) => {
      const { principal, params } = request;
      if (params.id !== String(clientId) || !(await findPanel(services, request))) throw notFound('client');
      const { tenant, id } = principal;
      if (boundTo(principal) !== null) {
        await directory.credentials.revoke(tenant, 'token', id, actorOf(principal), now());
        await tenancy.refresh(tenant);
      }
      return reply.send(null);
    },
  );
}

function messageRoutes(app: App, services: Services): void {
  const { tenancy, history } = services;
  const paging = Type.Object({
    limit: wholeNumber(200, usualLimit, `1 to 200; ${usualLimit} when not given.`),
    since: Type.Optional(wholeText('Messages with smaller ids; 0: the newest.')),
  });
  const expensive = 'phone messages' as const;
  const response = { 200: GotifyMessages, ...problems(400) };
  const about = { ...ofPhones, expensive, querystring: paging, response };
  app.get(
    '/gotify/application',
    route('panel', {
      ...ofPhones,
      summary: 'The applications, as of Gotify: one for each level',
      response: { 200: Type.Array(GotifyApplication) },
    }),
    async ({ principal }) => {
      const { levels, record } = await tenancy.get(principal.tenant);
      return [...levels.values()].sort(compareLevels).map(({ name, color, rank }, i) => ({
        ...{ id: applicationId(name), name, description: '', internal: false },
        image: `image/${color.slice(1)}.png`,
        ...{
          defaultPriority: priorityOf(rank),
          lastUsed: null,
          createdAt: iso(record.createdAt),
          sortKey: `a${String(i).padStart(4, '0')}`,
        },
      }));
    },
  );
  app.get(
    '/gotify/message',
    route('panel', {
      ...about,
      summary: 'The messages for the calling phone, as of Gotify',
      description:
        'Newest first. Without alarms that have ended, were replaced, are acknowledged or off the panels.',
    }),
    (request) => answerMessages(services, request, '/gotify/message'),
  );
  app.get(
    '/gotify/application/:id/message',
    route('panel', {
      ...about,
      summary: 'The messages of one level, as of Gotify',
      params: NumberPath,
    }),
    (request) => {
      const application = wholeIn('id', request.params.id, 0, Number.MAX_SAFE_INTEGER);
      return answerMessages(services, request, `/gotify/application/${application}/message`, application);
    },
  );
  app.delete(
    '/gotify/message/:id',
    route('panel', {
      ...ofPhones,
      summary: 'Take a message off the list of the calling phone, as of Gotify',
      description:
        'It counts as a receipt `cleared` of its panel. For others nothing changes, unless the setting `deleteClears` of the panel is true: then an alarm that stands is cleared in the name of the phone.',
      params: NumberPath,
      response: { 200: Type.Null({ description: 'Done.' }) },
    }),
    async (request, reply) => {
      const { tenant } = request.principal;
      const given = wholeIn('id', request.params.id, 0, Number.MAX_SAFE_INTEGER);
      const position = positionOfGotifyId(services.tenantStreams.epoch, given);
      const panel = await findPanel(services, request);
      const [entry] = position > 0 ? (await history.readAfter(tenant, position - 1, 1)).entries : [];
      const isMessage = entry?.kind === 'notification' || entry?.kind === 'return';
      if (!panel || !isMessage || !reaches(entry.route.target, panel)) throw notFound('message');
      await takeOff(services, tenant, panel, entry);
      return reply.send(null);
    },
  );
}

/** Takes the message that an entry is off the list of a phone, and clears its alarm for everybody if the panel may. */
async function takeOff(
  services: Services,
  tenant: TenantId,
  panel: PanelRecord,
  message: Notification | Return,
): Promise<void> {
  const { history, receipts, metrics, now } = services;
  const { id } = message;
  const sentAt = message.kind === 'return' ? message.at : message.receivedAt;
  const row = (await receipts.of(tenant, [id])).get(id)?.find(({ panelId }) => panelId === panel.id);
  // It is off already: a later message about this alarm, which has come since, stays.
  if (row?.clearedAt != null && row.clearedAt >= sentAt) return;
  // Another node, whose clock is ahead, may have stored the message.
  const at = Math.max(now(), sentAt);
  const record = panel.display.deleteClears ? await history.find(tenant, id) : undefined;
  if (record && !isTakenCareOf(record)) {
    const action = { kind: 'clear', at, by: `${panel.kind} ${panel.name}`, note: null } as const;
    await actOnAlarms(services, tenant, [id], action, panel);
  }
  const { length } = await receipts.record(tenant, panel, [{ id, state: 'cleared', at }], 'last counts');
  metrics.of(tenant).delivered('cleared', length);
}

const usualLimit = 100;

async function answerMessages(
  services: Services,
  request: FastifyRequest,
  path: string,
  application?: number,
) {
  const { history, receipts, tenancy, tenantStreams, settings, now } = services;
  const { limit: size, since: from } = request.query as { limit?: string; since?: string };
  const limit = wholeIn('limit', size ?? String(usualLimit), 1, 200);
  const since = wholeIn('since', from ?? '0', 0, Number.MAX_SAFE_INTEGER);
  const { tenant } = request.principal;
  const panel = await findPanel(services, request);
  await tenancy.get(tenant);
  const context = {
    ...{ tenant, epoch: tenantStreams.epoch, history, receipts, now },
    snapshot: () => tenancy.peek(tenant),
  };
  const wanted = {
    limit,
    since,
    baseUrl: settings.baseUrl,
    ...(application !== undefined && { application }),
  };
  const page = panel ? await readMessages(context, { ...wanted, panel }) : { messages: [], since: 0 };
  const next = page.since > 0 && { next: `${path}?limit=${limit}&since=${page.since}` };
  return {
    paging: { size: page.messages.length, limit, since: page.since, ...next },
    messages: [...page.messages],
  };
}

/** @throws AppError `bad-request` naming the field. */
function wholeIn(name: string, text: string, least: number, most: number): number {
  const number = /^\d{1,16}$/.test(text) ? Number(text) : Number.NaN;
  if (number >= least && number <= most) return number;
  throw badRequest(`${name} must be a whole number from ${least} to ${most}`);
}

async function answerSocket(
  services: Services,
  authenticator: Authenticator,
  { request, reply, panel }: { request: FastifyRequest; reply: FastifyReply; panel: PanelRecord },
): Promise<FastifyReply> {
  const { history, tenantStreams, settings } = services;
  // Read before the client sees that it is connected: from then on it misses nothing.
  const { head } = await history.bounds(request.principal.tenant);
  const from = { epoch: tenantStreams.epoch, position: head };
  const kind = gotifyStreams(settings.baseUrl);
  return serveSocket(authenticator, request, reply, (sink) =>
    connectPhone(services, request, { panels: [panel], sink, from, kind, client: appOf(request) }),
  );
}

/** The Android app sends only the name of its library. */
function appOf(request: FastifyRequest): string | null {
  const client = clientOf(request);
  return client === null || client.startsWith('okhttp/') ? 'gotify' : client;
}

const clientId = 1;

const clientView = ({ name, createdAt, lastSeenAt }: PanelRecord, token: string) => ({
  ...{ id: clientId, name, token },
  ...{ createdAt: iso(createdAt), lastUsed: isoOrNull(lastSeenAt) },
});

/** The token with which the caller signed in. */
const tokenOf = ({ headers, raw }: FastifyRequest): string =>
  bearerOf(headers)
    ?.replace(/^Bearer +/i, '')
    .trim() ??
  urlTokenOf(raw) ??
  '';

const boundTo = (principal: Principal) => (principal.kind === 'token' ? principal.panelId : null);

/** The topic of the panel of a token that is bound to none. */
const topicOf = ({ id }: Principal) => `gotify-${id}`;

/** The panel of the calling token: it has one, as an app of Gotify names none. */
async function findPanel(
  { tenancy }: Services,
  { principal }: FastifyRequest,
): Promise<PanelRecord | undefined> {
  const bound = boundTo(principal);
  const find = async () => {
    const { panels } = await tenancy.get(principal.tenant);
    return bound === null ? findByTopic(panels, topicOf(principal)) : panels.get(bound);
  };
  return (await find()) ?? (await tenancy.poll().then(find));
}

/** A client that reads without signing in has the name of its token. */
async function register(
  services: Services,
  request: FastifyRequest,
  name = request.principal.name,
): Promise<PanelRecord> {
  const { principal } = request;
  if (boundTo(principal) !== null) throw notFound('panel');
  return registerPhone(services, principal, { name, topic: topicOf(principal) }, () =>
    findPanel(services, request),
  );
}
