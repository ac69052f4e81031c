import { Type } from 'typebox';
import { Member, MemberList, MemberPatch } from '#contract/member.ts';
import { actorOf, grantableRoles, includesRole, type Principal } from '#core/access.ts';
import { AppError, notFound } from '#core/errors.ts';
import type { MemberChange, MemberOutcome, MemberRecord } from '#core/members.ts';
import { iso } from '#core/stream/frames.ts';
import { problems } from '../responses.ts';
import type { App, Services } from '../services.ts';

const Id = Type.Object({ id: Type.String({ description: "The person's id." }) });
const common = { tags: ['dashboard'], security: [{ key: [] }] };
const forbidden = () => new AppError('forbidden', 'forbidden');

/** The people of a tenant. An owner is made, unmade and removed by owners alone, and there is always one. */
export function memberRoutes(app: App, { directory, tenancy, now }: Services): void {
  const { members } = directory;

  app.get(
    '/api/members',
    {
      config: { policy: { role: 'viewer' } },
      schema: {
        ...common,
        summary: 'Members, by name',
        response: { 200: MemberList, ...problems(401, 403, 503) },
      },
    },
    async ({ principal }) => ({ members: (await members.list(principal.tenant)).map(memberView) }),
  );

  app.patch(
    '/api/members/:id',
    {
      config: { policy: { role: 'admin' } },
      schema: {
        ...common,
        summary: 'Give a member another role',
        description:
          'At most the caller’s own. It is in force at once, for open streams within two seconds. Owners alone make and unmake owners, and the last one stays.',
        params: Id,
        body: MemberPatch,
        response: { 200: Member, ...problems(400, 401, 403, 404, 409, 503) },
      },
    },
    async ({ principal, params, body: { role } }) => {
      if (principal.kind === 'token' || !grantableRoles(principal.role).includes(role)) throw forbidden();
      const change = changeBy(principal, params.id, principal.role, now());
      refuseUnlessDone(await members.setRole({ ...change, role }));
      await tenancy.refresh(principal.tenant);
      const member = await members.find(principal.tenant, params.id);
      if (!member) throw notFound('member');
      return memberView(member);
    },
  );

  app.delete(
    '/api/members/:id',
    {
      // Anybody may go; whom else one may remove is decided below.
      config: { policy: { role: 'viewer' } },
      schema: {
        ...common,
        summary: 'Remove a member, or leave',
        description:
          'Takes an admin, for an owner an owner; anybody may remove themselves. The last owner stays. Open streams of the member are closed within two seconds, and the invitations that the member made are withdrawn.',
        params: Id,
        response: { 204: Type.Null({ description: 'Removed.' }), ...problems(401, 403, 404, 409, 503) },
      },
    },
    async ({ principal, params }, reply) => {
      const as = removesAs(principal, params.id);
      if (as === undefined) throw forbidden();
      refuseUnlessDone(await members.remove(changeBy(principal, params.id, as, now())));
      await tenancy.refresh(principal.tenant);
      return reply.code(204).send(null);
    },
  );
}

/** As what somebody may remove this member; undefined: not at all. */
function removesAs(principal: Principal, person: string): MemberChange['as'] | undefined {
  if (principal.kind === 'token') return undefined;
  if (principal.kind === 'person' && principal.id === person) return 'self';
  return includesRole(principal.role, 'admin') ? principal.role : undefined;
}

function changeBy(principal: Principal, person: string, as: MemberChange['as'], at: number): MemberChange {
  return { tenant: principal.tenant, person, as, by: actorOf(principal), at };
}

/** @throws AppError unless it was done. */
function refuseUnlessDone(outcome: MemberOutcome): void {
  if (outcome === 'not-found') throw notFound('member');
  if (outcome === 'forbidden') throw forbidden();
  if (outcome === 'last-owner') {
    throw new AppError(
      'conflict',
      'this is the last owner, who can be neither demoted nor removed: make another member an owner first',
    );
  }
}

function memberView({ person, joinedAt, lastSeenAt, ...rest }: MemberRecord): Member {
  return {
    id: person,
    ...rest,
    joinedAt: iso(joinedAt),
    lastSeenAt: lastSeenAt === null ? null : iso(lastSeenAt),
  };
}
