/** Reading as from Gotify: what its apps ask for, at /gotify. A client is a panel. https://gotify.net/api-docs */
import type { FastifyReply, FastifyRequest } from 'fastify';
import { Type } from 'typebox';
import {
  GotifyClient,
  GotifyClientName,
  GotifyHealth,
  GotifyInfo,
  GotifyUser,
  GotifyVersion,
} from '#contract/panels/gotify.ts';
import { notFound } from '#core/errors.ts';
import { actorOf } from '#core/people/access.ts';
import { gotifyStreams } from '#core/streams/gotify/encoding.ts';
import type { PanelRecord } from '#core/tenants/directory.ts';
import { iso, isoOrNull } from '#core/time/time.ts';
import type { AccountContext } from '../account/account-context.ts';
import { asAccount } from '../account/password.ts';
import type { Authenticator } from '../callers/auth.ts';
import { bearerOf, urlTokenOf } from '../callers/sender-credential.ts';
import { problems, route, WebSocketAnswer } from '../openapi/route-schemas.ts';
import type { App, Services } from '../services.ts';
import { discOf } from './gotify-image.ts';
import { messageRoutes, removeAllRoutes } from './gotify-messages.ts';
import { addPhone, boundTo, findPanel, NumberPath, ofPhones, register } from './gotify-panel.ts';
import { clientOf, connectPhone, serveSocket } from './phones.ts';
import { requireUpgrade } from './upgrades.ts';

/** Clients show it. From 3.0 on they would expect what this server does not have. */
const version = '2.9.1';

export function gotifyReadingRoutes(app: App, context: AccountContext, authenticator: Authenticator): void {
  const { services } = context;
  publicRoutes(app);
  signInRoutes(app, context);
  clientRoutes(app, services);
  messageRoutes(app, services);
  removeAllRoutes(app, services);
  app.get(
    '/gotify/stream',
    route('panel', {
      ...ofPhones,
      expensive: 'panel stream',
      summary: 'New messages for the calling phone, as of Gotify',
      description:
        'A WebSocket with a message in each frame, as `GET /gotify/message` has them. A caller without a panel is registered as a phone.',
      response: WebSocketAnswer,
    }),
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
        return asAccount(context, { request, reply, account, app: 'Gotify' }, async (admin) => {
          const { panel, token } = await addPhone(services, admin, name);
          return clientView(panel, token);
        });
      const panel = (await findPanel(services, request)) ?? (await register(services, request, name));
      return clientView(panel, tokenOf(request));
    },
  );
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

async function answerSocket(
  services: Services,
  authenticator: Authenticator,
  { request, reply, panel }: { request: FastifyRequest; reply: FastifyReply; panel: PanelRecord },
): Promise<FastifyReply> {
  const { history, tenantStreams } = services;
  // Read before the client sees that it is connected: from then on it misses nothing.
  const { head } = await history.bounds(request.principal.tenant);
  const from = { epoch: tenantStreams.epoch, position: head };
  return serveSocket(authenticator, request, reply, (sink) =>
    connectPhone(services, request, {
      ...{ panels: [panel], sink, from, kind: gotifyStreams, client: appOf(request) },
    }),
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
