import { Type } from 'typebox';
import { type Invitation, InvitationCreate, InvitationCreated, InvitationList } from '#contract/member.ts';
import { actorOf, grantableRoles, type Principal } from '#core/access.ts';
import { AppError, notFound } from '#core/errors.ts';
import { type InvitationRecord, newInvitation } from '#core/invitations.ts';
import { iso } from '#core/stream/frames.ts';
import { originReader } from '../origin.ts';
import { problems } from '../responses.ts';
import type { App, Services } from '../services.ts';

/** Asking somebody to join the tenant; how one accepts stands with the accounts. */
export function invitationRoutes(app: App, { directory, tenancy, settings, now }: Services): void {
  const { credentials, invitations } = directory;
  const policy = { role: 'admin' } as const;
  const common = { tags: ['dashboard'], security: [{ key: [] }] };
  const origins = originReader(settings);

  app.get(
    '/api/invitations',
    {
      config: { policy },
      schema: {
        ...common,
        summary: 'Invitations that wait, the newest first, without their secrets',
        description: 'One that was accepted, withdrawn or has expired is not told any more.',
        response: { 200: InvitationList, ...problems(401, 403, 503) },
      },
    },
    async ({ principal }) => ({
      invitations: (await invitations.list(principal.tenant, now())).map(invitationView),
    }),
  );

  app.post(
    '/api/invitations',
    {
      config: { policy },
      schema: {
        ...common,
        summary: 'Invite somebody',
        description:
          'The answer holds the link to send, which is never shown again, works once and for seven days, or until the key that makes it expires. Its role is at most the caller’s own.',
        body: InvitationCreate,
        response: { 201: InvitationCreated, ...problems(400, 401, 403, 409, 503) },
      },
    },
    async (request, reply) => {
      const { principal, body } = request;
      const { tenant } = principal;
      refuseUngivable(principal, body);
      const base = settings.baseUrl ?? origins.of(request);
      const until = principal.kind === 'key' ? (await credentials.find(principal.id))?.expiresAt : null;
      const made = newInvitation(tenant, body, actorOf(principal), now(), until);
      const { record, secret, secretHash } = made;
      await invitations.create(record, secretHash, principal);
      await tenancy.refresh(tenant);
      reply.code(201).header('cache-control', 'no-store');
      return { ...invitationView(record), secret, link: `${base}/invite#${secret}` };
    },
  );

  app.delete(
    '/api/invitations/:id',
    {
      config: { policy },
      schema: {
        ...common,
        summary: 'Withdraw an invitation that waits',
        description: 'Its role is at most the caller’s own.',
        params: Type.Object({ id: Type.String() }),
        response: { 204: Type.Null({ description: 'Withdrawn.' }), ...problems(401, 403, 404, 503) },
      },
    },
    async ({ principal, params }, reply) => {
      const { tenant } = principal;
      const known = await invitations.find(tenant, params.id, now());
      if (!known) throw notFound('invitation');
      refuseUngivable(principal, known);
      if (!(await invitations.withdraw(tenant, known.id, actorOf(principal), now())))
        throw notFound('invitation');
      await tenancy.refresh(tenant);
      return reply.code(204).send(null);
    },
  );
}

/** Nobody invites, or has a say about who was invited, above their own role. @throws AppError `forbidden`. */
function refuseUngivable(principal: Principal, { role }: Pick<InvitationRecord, 'role'>): void {
  if (principal.kind === 'token' || !grantableRoles(principal.role).includes(role))
    throw new AppError('forbidden', 'forbidden');
}

function invitationView({ id, role, email, createdAt, createdBy, expiresAt }: InvitationRecord): Invitation {
  return { id, role, email, createdAt: iso(createdAt), createdBy, expiresAt: iso(expiresAt) };
}
