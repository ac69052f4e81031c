import {
  type Invitation,
  InvitationCreate,
  InvitationCreated,
  InvitationList,
  Member,
  MemberList,
  MemberPatch,
} from '#contract/people/member.ts';
import { conflict, forbidden, notFound, requireFound } from '#core/errors.ts';
import { actorOf, grantableRoles, includesRole, type Principal } from '#core/people/access.ts';
import {
  type InvitationRecord,
  type MemberChange,
  type MemberOutcome,
  type MemberRecord,
  newInvitation,
} from '#core/people/members.ts';
import { iso, isoOrNull } from '#core/time/time.ts';
import { originReader } from '../callers/forwarded.ts';
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
        'Requires the admin role, or the owner role to remove an owner; everybody may remove themselves. The last owner stays. Open streams of the member are closed within two seconds, the invitations that the member created are withdrawn, and phones that the member signed in are cut off.',
      params: IdPath,
      response: { 204: NoContent, ...problems(409) },
    }),
    async ({ principal, params }) => {
      const as = removalRight(principal, params.id);
      if (as === undefined) throw forbidden();
      requireSuccess(await members.remove(changeBy(principal, params.id, as, now())));
      await tenancy.refresh(principal.tenant);
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
    throw conflict(
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
    async (request) => {
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
    async ({ principal, params }) => {
      const { tenant } = principal;
      const known = requireFound(await invitations.find(tenant, params.id, now()), 'invitation');
      requireGrantableRole(principal, known);
      requireFound(await invitations.withdraw(tenant, known.id, actorOf(principal), now()), 'invitation');
      await tenancy.refresh(tenant);
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
