import { Member, MemberList, MemberPatch } from '#contract/people/member.ts';
import { AppError, forbidden, notFound, requireFound } from '#core/errors.ts';
import { actorOf, grantableRoles, includesRole, type Principal } from '#core/people/access.ts';
import type { MemberChange, MemberOutcome, MemberRecord } from '#core/people/members.ts';
import { iso, isoOrNull } from '#core/time.ts';
import { IdPath, NoContent, problems, route } from '../openapi/route-schemas.ts';
import type { App, Services } from '../services.ts';

/** The members of a tenant. Only owners add, change and remove owners, and there is always at least one. */
export function memberRoutes(app: App, { directory, tenancy, now }: Services): void {
  const { members } = directory;

  app.get(
    '/api/members',
    route('viewer', { summary: 'Members, by name', response: { 200: MemberList } }),
    async ({ principal }) => ({ members: (await members.list(principal.tenant)).map(memberView) }),
  );

  app.patch(
    '/api/members/:id',
    route('admin', {
      summary: 'Give a member another role',
      description:
        'At most the caller’s own role. It applies at once, to open streams within two seconds. Only owners add and remove owners, and the last one stays.',
      params: IdPath,
      body: MemberPatch,
      response: { 200: Member, ...problems(409) },
    }),
    async ({ principal, params, body: { role } }) => {
      if (principal.kind === 'token' || !grantableRoles(principal.role).includes(role)) throw forbidden();
      const change = changeBy(principal, params.id, principal.role, now());
      requireSuccess(await members.setRole({ ...change, role }));
      await tenancy.refresh(principal.tenant);
      const member = requireFound(await members.find(principal.tenant, params.id), 'member');
      return memberView(member);
    },
  );

  app.delete(
    '/api/members/:id',
    // Every member may leave; who may remove others is decided below.
    route('viewer', {
      summary: 'Remove a member, or leave',
      description:
        'Requires the admin role, or the owner role to remove an owner; everybody may remove themselves. The last owner stays. Open streams of the member are closed within two seconds, and the invitations that the member created are withdrawn.',
      params: IdPath,
      response: { 204: NoContent, ...problems(409) },
    }),
    async ({ principal, params }, reply) => {
      const as = removalRight(principal, params.id);
      if (as === undefined) throw forbidden();
      requireSuccess(await members.remove(changeBy(principal, params.id, as, now())));
      await tenancy.refresh(principal.tenant);
      return reply.code(204).send(null);
    },
  );
}

/** What permits the principal to remove this member: a role, or being the member (`self`); undefined: nothing does. */
function removalRight(principal: Principal, person: string): MemberChange['as'] | undefined {
  if (principal.kind === 'token') return undefined;
  if (principal.kind === 'person' && principal.id === person) return 'self';
  return includesRole(principal.role, 'admin') ? principal.role : undefined;
}

function changeBy(principal: Principal, person: string, as: MemberChange['as'], at: number): MemberChange {
  return { tenant: principal.tenant, person, as, by: actorOf(principal), at, principal };
}

/** @throws AppError for every outcome except success. */
function requireSuccess(outcome: MemberOutcome): void {
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
    lastSeenAt: isoOrNull(lastSeenAt),
  };
}
