import type { FastifyReply } from 'fastify';
import { Type } from 'typebox';
import { uuidv7 } from 'uuidv7';
import { PairingApprove, PairingCreated, PairingState, Panel } from '#contract/panel.ts';
import { actorOf, mayUsePanel } from '#core/access.ts';
import { AppError, badRequest, notFound } from '#core/errors.ts';
import { approvePairing, collectPairing, openPairing, pairingMs } from '#core/pairing.ts';
import { RateLimiter } from '#core/rate-limit.ts';
import { iso } from '#core/stream/frames.ts';
import type { Rate } from '#core/tenants.ts';
import { rateHeaders } from '../rate-headers.ts';
import { problems } from '../responses.ts';
import type { App, Services } from '../services.ts';
import { networkOf } from '../source-address.ts';
import { panelView } from './panels.ts';
import { createWrongCodeLimits } from './wrong-codes.ts';

/** A wall of 20 screens behind one address may be switched on at once, and ask anew as their codes expire. */
const openRate: Rate = { perSecond: 1 / 15, burst: 20 };
/** The same wall asks every two seconds whether it was approved. */
const collectRate: Rate = { perSecond: 20, burst: 100 };
/** Whoever asks, no more than twice this many codes can wait: this many at once, and again while those live. */
const openTotal: Rate = { perSecond: 1_000 / (pairingMs / 1000), burst: 1_000 };

const approverPolicy = { role: 'admin' } as const;

/** How a screen without a keyboard gets its token: it shows a code, someone approves it here. */
export function pairingRoutes(app: App, services: Services): void {
  screenRoutes(app, services);
  unpairRoute(app, services);
  const { directory, tenancy, now } = services;
  const limits = createWrongCodeLimits(now);

  app.post(
    '/api/pairings/:code/approve',
    {
      config: { policy: approverPolicy },
      schema: {
        tags: ['dashboard'],
        security: [{ key: [] }],
        summary: 'Let the screen in that shows this code',
        description:
          'By panelId for a panel that exists, or by name, which makes the panel when there is none. Wrong codes are limited by caller and tenant.',
        params: Type.Object({ code: Type.String({ maxLength: 20 }) }),
        body: PairingApprove,
        response: { 200: Panel, ...problems(400, 401, 403, 404, 409, 429, 503) },
      },
    },
    async ({ principal, params, body }, reply) => {
      const { tenant } = principal;
      const panel = chosenPanel(body);
      if (typeof panel === 'string' && !(await tenancy.get(tenant)).panels.has(panel))
        throw notFound('panel');
      const wasRight = limits.take(principal, reply);
      const approval = { tenant, by: actorOf(principal), panel };
      const id = await approvePairing(directory, params.code, approval, now());
      wasRight();
      await tenancy.refresh(tenant);
      return panelView(services, principal, id);
    },
  );
}

/** A screen gives up its token, so that nobody who finds it later can use it. */
function unpairRoute(app: App, { directory, tenancy, now }: Services): void {
  app.post(
    '/api/panels/:id/unpair',
    {
      config: { policy: { scope: 'panel' } },
      schema: {
        tags: ['panels'],
        security: [{ token: [] }],
        summary: 'Revoke the token that the calling screen got by pairing',
        description: 'The panel stays, and so do other screens that show it.',
        params: Type.Object({ id: Type.String() }),
        response: { 204: Type.Null({ description: 'Revoked.' }), ...problems(401, 403, 404, 503) },
      },
    },
    async ({ principal, params }, reply) => {
      const { tenant, id } = principal;
      const { panels } = await tenancy.get(tenant);
      if (!panels.has(params.id) || !mayUsePanel(principal, params.id)) throw notFound('panel');
      if (principal.kind !== 'token' || principal.panelId === null)
        throw new AppError('forbidden', 'this token was not made by pairing: an admin revokes it');
      await directory.credentials.revoke(tenant, 'token', id, actorOf(principal), now());
      await tenancy.refresh(tenant);
      return reply.code(204).send(null);
    },
  );
}

function screenRoutes(app: App, services: Services): void {
  const { directory, now } = services;
  const opening = new RateLimiter<string>();
  const collecting = new RateLimiter<string>();
  const total = new RateLimiter<string>();

  const take = (limiter: RateLimiter<string>, rate: Rate, source: string, reply: FastifyReply): void => {
    const state = limiter.take(networkOf(source), rate, now());
    rateHeaders(reply, [{ name: 'pairing', rate, state }]);
    if (state.allowed) return;
    throw new AppError('rate-limited', 'rate limit exceeded', { retryAfterSeconds: state.resetSeconds });
  };

  app.post(
    '/api/pairings',
    {
      config: { policy: 'public' },
      bodyLimit: 1024,
      schema: {
        tags: ['panels'],
        summary: 'Ask to be let in: a code to show, and a secret to ask with',
        response: { 201: PairingCreated, ...problems(429, 503) },
      },
    },
    async ({ sourceIp }, reply) => {
      take(opening, openRate, sourceIp, reply);
      const { allowed, resetSeconds } = total.take('', openTotal, now());
      if (!allowed) {
        throw new AppError('unavailable', 'too many screens are waiting: try again later', {
          retryAfterSeconds: resetSeconds,
        });
      }
      const { code, secret, expiresAt } = await openPairing(directory, now());
      reply.code(201).header('cache-control', 'no-store');
      return { code, secret, expiresAt: iso(expiresAt) };
    },
  );

  app.get(
    '/api/pairings/:secret',
    {
      config: { policy: 'public' },
      schema: {
        tags: ['panels'],
        summary: 'Whether the screen was let in; the first to ask after that gets the token, once',
        params: Type.Object({ secret: Type.String({ maxLength: 64 }) }),
        response: { 200: PairingState, ...problems(404, 410, 429, 503) },
      },
    },
    async ({ method, sourceIp, params }, reply) => {
      take(collecting, collectRate, sourceIp, reply);
      reply.header('cache-control', 'no-store');
      const looks = method === 'HEAD';
      const found = await collectPairing(directory, params.secret, now(), { looks });
      const expiresAt = iso(found.expiresAt);
      if (found.state !== 'approved') return { state: found.state, expiresAt };
      const { id, name } = found.panel;
      return {
        state: found.state,
        expiresAt,
        token: found.token,
        panel: { id, name, events: `/api/panels/${id}/events` },
      };
    },
  );
}

function chosenPanel({ panelId, name, tags, location }: PairingApprove) {
  if (panelId !== undefined && name === undefined) return panelId;
  if (name !== undefined && panelId === undefined)
    return { id: uuidv7(), name, tags: tags ?? [], location: location ?? null };
  throw badRequest('name the panel by panelId or by name, by one of them');
}
