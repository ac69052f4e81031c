import {
  type Invitation,
  InvitationCreate,
  InvitationCreated,
  InvitationList,
} from '#contract/people/member.ts';
import { forbidden, requireFound } from '#core/errors.ts';
import { actorOf, grantableRoles, type Principal } from '#core/people/access.ts';
import { type InvitationRecord, newInvitation } from '#core/people/invitations.ts';
import { iso } from '#core/time.ts';
import { originReader } from '../callers/origin.ts';
import { IdPath, NoContent, problems, route } from '../openapi/route-schemas.ts';
import type { App, Services } from '../services.ts';

/** Creates, lists and withdraws invitations to a tenant. People accept them in account/invitations.ts. */
export function invitationRoutes(app: App, { directory, tenancy, settings, now }: Services): void {
  const { credentials, invitations } = directory;
  const origins = originReader(settings);

  app.get(
    '/api/invitations',
    route('admin', {
      summary: 'Pending invitations, newest first, without their secrets',
      description: 'Without those that were accepted, withdrawn or have expired.',
      response: { 200: InvitationList },
    }),
    async ({ principal }) => ({
      invitations: (await invitations.list(principal.tenant, now())).map(invitationView),
    }),
  );

  app.post(
    '/api/invitations',
    route('admin', {
      summary: 'Invite somebody',
      description:
        'The answer contains the link to send, which is never shown again. It works once, for seven days or until the key that creates it expires. Its role is at most the caller’s own.',
      body: InvitationCreate,
      response: { 201: InvitationCreated, ...problems(409) },
    }),
    async (request, reply) => {
      const { principal, body } = request;
      const { tenant } = principal;
      requireGrantableRole(principal, body);
      const base = settings.baseUrl ?? origins.of(request);
      const keyExpiresAt =
        principal.kind === 'key' ? (await credentials.find(principal.id))?.expiresAt : null;
      const created = newInvitation(tenant, body, actorOf(principal), now(), keyExpiresAt);
      const { record, secret, secretHash } = created;
      await invitations.create(record, secretHash, principal);
      await tenancy.refresh(tenant);
      reply.code(201);
      return { ...invitationView(record), secret, link: `${base}/invite#${secret}` };
    },
  );

  app.delete(
    '/api/invitations/:id',
    route('admin', {
      summary: 'Withdraw a pending invitation',
      description: 'Its role is at most the caller’s own.',
      params: IdPath,
      response: { 204: NoContent },
    }),
    async ({ principal, params }, reply) => {
      const { tenant } = principal;
      const known = requireFound(await invitations.find(tenant, params.id, now()), 'invitation');
      requireGrantableRole(principal, known);
      requireFound(await invitations.withdraw(tenant, known.id, actorOf(principal), now()), 'invitation');
      await tenancy.refresh(tenant);
      return reply.code(204).send(null);
    },
  );
}

/** @throws AppError `forbidden` if the invitation's role is above the caller's own. */
function requireGrantableRole(principal: Principal, { role }: Pick<InvitationRecord, 'role'>): void {
  if (principal.kind === 'token' || !grantableRoles(principal.role).includes(role)) throw forbidden();
}

function invitationView({ id, role, email, createdAt, createdBy, expiresAt }: InvitationRecord): Invitation {
  return { id, role, email, createdAt: iso(createdAt), createdBy, expiresAt: iso(expiresAt) };
}
