import type { FastifyReply } from 'fastify';
import { Type } from 'typebox';
import { uuidv7 } from 'uuidv7';
import { PairingApprove, PairingCreated, PairingState, Panel } from '#contract/panels/panel.ts';
import { AppError, badRequest, forbidden, notFound, rateLimited, requireFound } from '#core/errors.ts';
import type { Limits } from '#core/limits/rate-limits.ts';
import { actorOf, mayUsePanel, type Principal } from '#core/people/access.ts';
import { approvePairing, collectPairing, openPairing, pairingMs } from '#core/people/pairing.ts';
import type { Rate } from '#core/tenants/tenants.ts';
import { iso } from '#core/time/time.ts';
import { networkOf } from '../callers/forwarded.ts';
import { type NamedState, rateHeaders, takeFrom } from '../callers/rate-limits.ts';
import { IdPath, NoContent, problems, route } from '../openapi/route-schemas.ts';
import type { App, Services } from '../services.ts';
import { panelView } from './panels.ts';

/** Allows twenty screens behind one address to start at the same time, and to get new codes when theirs expire. */
const openRate: Rate = { perSecond: 1 / 15, burst: 20 };
/** Allows the same twenty screens to poll every two seconds for the approval. */
const collectRate: Rate = { perSecond: 20, burst: 100 };
/** For all callers together. At most twice the burst is pending: the burst, and the refill until the first codes expire. */
const openTotal: Rate = { perSecond: 1_000 / (pairingMs / 1000), burst: 1_000 };

/** Pairing: a screen shows a code, someone approves it, and the screen gets its token. */
export function pairingRoutes(app: App, services: Services): void {
  screenRoutes(app, services);
  unpairRoute(app, services);
  const { directory, tenancy, now } = services;
  const takeAttempt = limitWrongCodes(services.limits, now);

  app.post(
    '/api/pairings/:code/approve',
    route('admin', {
      summary: 'Approve the screen that shows this code',
      description:
        'By `panelId` for an existing panel, or by `name`, which creates the panel if there is none. Wrong codes are limited by caller and tenant.',
      params: Type.Object({ code: Type.String({ maxLength: 20 }) }),
      body: PairingApprove,
      response: { 200: Panel, ...problems(409) },
    }),
    async ({ principal, params, body }, reply) => {
      const { tenant } = principal;
      const panel = chosenPanel(body);
      if (typeof panel === 'string') requireFound(await tenancy.findPanel(tenant, panel), 'panel');
      const giveBack = await takeAttempt(principal, reply);
      const id = await approvePairing(directory, params.code, { by: principal, panel }, now());
      await giveBack();
      await tenancy.refresh(tenant);
      return panelView(services, principal, id);
    },
  );
}

/** A screen revokes its own token, so that nobody can use it later. */
function unpairRoute(app: App, { directory, tenancy, now }: Services): void {
  app.post(
    '/api/panels/:id/unpair',
    route('panel', {
      summary: 'Revoke the token that the calling screen got by pairing',
      description: 'The panel stays, and so do other screens that show it.',
      params: IdPath,
      response: { 204: NoContent },
    }),
    async ({ principal, params }) => {
      const { tenant, id } = principal;
      const panel = await tenancy.findPanel(tenant, params.id);
      if (!panel || !mayUsePanel(principal, panel.id)) throw notFound('panel');
      if (principal.kind !== 'token' || principal.panelId === null)
        throw forbidden('this token was not made by pairing: an admin revokes it');
      await directory.credentials.revoke(tenant, 'token', id, actorOf(principal), now());
      await tenancy.refresh(tenant);
    },
  );
}

function screenRoutes(app: App, services: Services): void {
  const { directory, limits, now } = services;
  const opening = { name: 'pairing', rate: openRate, limiter: limits.exact('pairing open') };
  const totalLimiter = limits.exact('pairing total');
  // An approximate limit is enough: polling helps nobody to guess a code, and screens poll too often for a query each.
  const collecting = { name: 'pairing', rate: collectRate, limiter: limits.approximate('pairing collect') };

  app.post(
    '/api/pairings',
    route('public', {
      tags: ['panels'],
      summary: 'Start pairing: a code to show, and a secret to poll with',
      response: { 201: PairingCreated },
      bodyLimit: 1024,
    }),
    async ({ sourceIp }, reply) => {
      await takeFrom(opening, networkOf(sourceIp), now(), reply);
      const { allowed, resetSeconds } = await totalLimiter.take('', openTotal, now());
      if (!allowed) {
        throw new AppError('unavailable', 'too many screens are waiting: try again later', {
          retryAfterSeconds: resetSeconds,
        });
      }
      const { code, secret, expiresAt } = await openPairing(directory, now());
      return { code, secret, expiresAt: iso(expiresAt) };
    },
  );

  app.get(
    '/api/pairings/:secret',
    route('public', {
      tags: ['panels'],
      summary: 'State of a pairing; the first request after the approval gets the token, once',
      params: Type.Object({ secret: Type.String({ maxLength: 64 }) }),
      response: { 200: PairingState, ...problems(409, 410) },
    }),
    async ({ method, sourceIp, params }, reply) => {
      await takeFrom(collecting, networkOf(sourceIp), now(), reply);
      const found = await collectPairing(directory, params.secret, now(), { looks: method === 'HEAD' });
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

/**
 * Limits of wrong pairing codes, by caller, by tenant, and in total. At most a thousand codes are pending, so guessing one
 * takes 300,000 attempts on average: weeks, for all callers together. People who mistype a code stay far below the limits. Once
 * others have used up the total, a tenant has a reserve of its own, so that it goes on approving screens.
 */
const rates = {
  caller: { perSecond: 1 / 30, burst: 20 },
  tenant: { perSecond: 1 / 10, burst: 40 },
  all: { perSecond: 1 / 5, burst: 300 },
  reserve: { perSecond: 3 / 86_400, burst: 3 },
} as const satisfies Record<string, Rate>;

/**
 * Returns a function that counts an attempt before it is made, so that parallel attempts count too. Its caller must call the function
 * that it returns if the code was right; then the attempt does not count. @throws AppError `rate-limited`.
 */
export function limitWrongCodes(limits: Limits, now: () => number) {
  const limiter = limits.exact('pairing code');
  return async (
    { kind, id, tenant }: Pick<Principal, 'kind' | 'id' | 'tenant'>,
    reply: FastifyReply,
  ): Promise<() => Promise<void>> => {
    const taken: (readonly [key: string, rate: Rate])[] = [];
    const take = async (key: string, rate: Rate): Promise<NamedState> => {
      const state = await limiter.take(key, rate, now());
      if (state.allowed) taken.push([key, rate]);
      return { name: 'pairing-codes', rate, state };
    };
    const giveBack = async () => {
      for (const [key, rate] of taken) await limiter.giveBack(key, rate, now());
    };
    const refuse = async (refused: NamedState): Promise<never> => {
      await giveBack();
      rateHeaders(reply, [refused]);
      throw rateLimited(refused.state.resetSeconds);
    };
    const ofCaller = await take(`${kind} ${id}`, rates.caller);
    if (!ofCaller.state.allowed) await refuse(ofCaller);
    const ofTenant = await take(`tenant ${tenant}`, rates.tenant);
    if (!ofTenant.state.allowed) await refuse(ofTenant);
    const ofAll = await take('all', rates.all);
    if (!ofAll.state.allowed && !(await take(`reserve ${tenant}`, rates.reserve)).state.allowed)
      await refuse(ofAll);
    rateHeaders(reply, [ofCaller]);
    return giveBack;
  };
}
