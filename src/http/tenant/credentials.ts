import {
  KeyCreate,
  KeyCreated,
  KeyList,
  SigningSecret,
  Token,
  TokenCreate,
  TokenCreated,
  TokenList,
  TokenPatch,
} from '#contract/people/token.ts';
import { notFound, requireFound } from '#core/errors.ts';
import { actorOf } from '#core/people/access.ts';
import {
  assertMayGrantRole,
  keyView,
  newKey,
  newToken,
  tokenChange,
  tokenView,
  withinCreator,
} from '#core/people/credentials.ts';
import { IdPath, NoContent, problems, route } from '../openapi/route-schemas.ts';
import type { App, Services } from '../services.ts';

/** API tokens, the credentials of senders, screens and scrapers. */
export function tokenRoutes(app: App, { directory, tenancy, signatures, now }: Services): void {
  const { credentials } = directory;

  app.get(
    '/api/tokens',
    route('admin', {
      summary: 'All tokens, without their secrets; revoked ones included',
      response: { 200: TokenList },
      expensive: 'list',
    }),
    async ({ principal }) => ({ tokens: (await credentials.list(principal.tenant, 'token')).map(tokenView) }),
  );

  app.post(
    '/api/tokens',
    route('admin', {
      summary: 'Create a token',
      description:
        'The answer contains the token, which is never shown again. Without scopes it has all three.',
      body: TokenCreate,
      response: { 201: TokenCreated, ...problems(404, 409) },
    }),
    async ({ principal, body }) => {
      const { tenant } = principal;
      if (body.panelId !== undefined) requireFound(await tenancy.findPanel(tenant, body.panelId), 'panel');
      const { record, text } = newToken(tenant, body, actorOf(principal), now());
      await credentials.add(record, principal);
      return { ...tokenView(record), token: text };
    },
  );

  app.get(
    '/api/tokens/:id/signing-secret',
    route('admin', {
      summary: 'The secret with which a sender signs for this token',
      description: `For senders that sign instead of sending a token, as GitHub does: they send to
/api/integrations/{name}/{id} and sign with this secret. It ends with its token, and changes with the server's key file.`,
      params: IdPath,
      response: { 200: SigningSecret },
    }),
    async ({ principal, params }) => {
      const record = await tenancy.findCredential(params.id);
      if (record?.tenant !== principal.tenant || record.kind !== 'token' || record.revokedAt !== null)
        throw notFound('token');
      return { signingSecret: signatures.secretOf(record.id) };
    },
  );

  app.patch(
    '/api/tokens/:id',
    route('admin', {
      summary: 'Change a token; fields that are not named keep their value',
      params: IdPath,
      body: TokenPatch,
      response: { 200: Token, ...problems(409) },
    }),
    async ({ principal, params, body }) => {
      const { tenant } = principal;
      const change = tokenChange(body, now());
      const record = await credentials.update(tenant, 'token', params.id, change, actorOf(principal), now());
      if (!record) throw notFound('token');
      await tenancy.refresh(tenant);
      return tokenView(record);
    },
  );

  app.delete(
    '/api/tokens/:id',
    route('admin', {
      summary: 'Revoke a token; its record stays',
      params: IdPath,
      response: { 204: NoContent },
    }),
    async ({ principal, params }) => {
      const { tenant } = principal;
      requireFound(await credentials.revoke(tenant, 'token', params.id, actorOf(principal), now()), 'token');
      await tenancy.refresh(tenant);
    },
  );
}

/** Automation keys, with which scripts call what the dashboard calls. */
export function keyRoutes(app: App, { directory, tenancy, now }: Services): void {
  const { credentials } = directory;

  app.get(
    '/api/keys',
    route('admin', {
      summary: 'All automation keys, without their secrets; revoked ones included',
      response: { 200: KeyList },
      expensive: 'list',
    }),
    async ({ principal }) => ({ keys: (await credentials.list(principal.tenant, 'key')).map(keyView) }),
  );

  app.post(
    '/api/keys',
    route('admin', {
      summary: 'Create an automation key',
      description:
        'The answer contains the key, which is never shown again. Its role is at most the caller’s own, and it ends when its creator may no longer give that role. A key creates no key that lasts longer or is valid from more addresses than itself; its own values are the defaults.',
      body: KeyCreate,
      response: { 201: KeyCreated, ...problems(409) },
    }),
    async ({ principal, body }) => {
      assertMayGrantRole(principal, body.role);
      const creator = principal.kind === 'key' ? await credentials.find(principal.id) : undefined;
      const wanted = withinCreator(body, creator);
      const { record, text } = newKey(principal.tenant, wanted, actorOf(principal), now());
      await credentials.add(record, principal);
      return { ...keyView(record), key: text };
    },
  );

  app.delete(
    '/api/keys/:id',
    route('admin', {
      summary: 'Revoke an automation key; its record stays',
      description:
        'Keys that it created are revoked too, and pending invitations by keys with these names are withdrawn.',
      params: IdPath,
      response: { 204: NoContent },
    }),
    async ({ principal, params }) => {
      const { tenant } = principal;
      const key = await credentials.find(params.id);
      if (!key || key.tenant !== tenant || key.kind !== 'key') throw notFound('key');
      assertMayGrantRole(principal, key.role);
      await credentials.revoke(tenant, 'key', key.id, actorOf(principal), now());
      await tenancy.refresh(tenant);
    },
  );
}
