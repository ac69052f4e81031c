import type { FastifyRequest } from 'fastify';
import type { Role } from '#contract/people/token.ts';
import { type AppError, badRequest, forbidden } from '#core/errors.ts';
import type { Principal } from '#core/people/access.ts';
import type { SignedInPerson } from '#core/people/accounts.ts';
import type { Visit } from '#core/people/sign-in.ts';
import type { TenantRecord } from '#core/tenants/tenants.ts';
import type { Services } from '../services.ts';
import { originReader } from './forwarded.ts';

export type PersonPrincipal = Extract<Principal, { kind: 'person' }>;

/** Methods without effect, so that requests forged by another site are harmless. */
const harmless = new Set(['GET', 'HEAD', 'OPTIONS']);
const tenantName = /^[a-z0-9][a-z0-9-]{0,62}$/;

/** Identifies people by their session cookie, and finds their role in the tenant of a request. */
export class People {
  readonly #services: Services;
  readonly #origins;

  constructor(services: Services) {
    this.#services = services;
    this.#origins = originReader(services.settings);
  }

  /**
   * The parts of a request that signing in needs; a cookie is not required.
   * @throws AppError `forbidden` when a page of another site sent it.
   */
  visit(request: FastifyRequest): Visit {
    if (!harmless.has(request.method) && this.#origins.isOwn(request) === false)
      throw forbidden('this is for pages of this server alone');
    return {
      origin: this.#origins.of(request),
      cookie: request.headers.cookie,
      source: request.sourceIp,
      userAgent: request.headers['user-agent'],
    };
  }

  /** Undefined when nobody is signed in. @throws AppError `forbidden` for a change that no page of this server sent. */
  async find(request: FastifyRequest): Promise<SignedInPerson | undefined> {
    const { cookie } = request.headers;
    if (cookie === undefined) return undefined;
    const found = await this.#services.signIn.identify({ origin: this.#origins.of(request), cookie });
    if (found && !harmless.has(request.method) && this.#origins.isOwn(request) !== true)
      throw forbidden('this change must come from a page of this server: the Origin header says otherwise');
    return found;
  }

  /**
   * The person as a member of the tenant that the request names.
   * @throws AppError `bad-request` when it names none and there are several, `forbidden` when it is not one of theirs.
   */
  principal(request: FastifyRequest, signedIn: SignedInPerson): Promise<PersonPrincipal> {
    return this.member(signedIn, namedTenant(request), severalTenants);
  }

  /**
   * The person as a member of the tenant with this name, or of their only one.
   * @throws AppError `forbidden` when it is not one of theirs; the error that `onSeveral` makes when none is named and there are several.
   */
  async member(
    { person, session }: SignedInPerson,
    name: string | undefined,
    onSeveral: (tenants: readonly TenantRecord[]) => AppError,
  ): Promise<PersonPrincipal> {
    const memberships = await this.#services.directory.members.ofPerson(person.id);
    if (name === undefined && memberships.length > 1)
      throw onSeveral(memberships.map(({ tenant }) => tenant));
    const found = name === undefined ? memberships[0] : memberships.find((each) => each.tenant.name === name);
    if (!found) throw forbidden();
    const { tenant, role } = found;
    this.#services.usage.recordVisit({ tenant: tenant.id, person: person.id, at: this.#services.now() });
    return {
      kind: 'person',
      tenant: tenant.id,
      id: person.id,
      name: person.name,
      email: person.email,
      role,
      sessionId: session.id,
      ...suspension(tenant),
    };
  }

  /** The person's principal with the role in the database; undefined when the session or the membership has ended. */
  async current(principal: PersonPrincipal): Promise<PersonPrincipal | undefined> {
    const { signIn, directory } = this.#services;
    const [goesOn, memberships] = await Promise.all([
      signIn.isSignedIn(principal.sessionId),
      directory.members.ofPerson(principal.id),
    ]);
    const member = memberships.find(({ tenant }) => tenant.id === principal.tenant);
    return goesOn && member ? renew(principal, member.role, member.tenant) : undefined;
  }

  /** As {@link current}, with the role in memory, which another process may have changed up to half a second ago. */
  async renewed(principal: PersonPrincipal): Promise<PersonPrincipal | undefined> {
    const { signIn, tenancy } = this.#services;
    const [goesOn, { members, record }] = await Promise.all([
      signIn.isSignedIn(principal.sessionId),
      tenancy.get(principal.tenant),
    ]);
    const role = members.get(principal.id);
    return goesOn && role !== undefined ? renew(principal, role, record) : undefined;
  }
}

const suspension = ({ state }: TenantRecord) => (state === 'suspended' ? { isSuspended: true as const } : {});

function renew(
  { isSuspended: _, ...rest }: PersonPrincipal,
  role: Role,
  tenant: TenantRecord,
): PersonPrincipal {
  return { ...rest, role, ...suspension(tenant) };
}

const severalTenants = () =>
  badRequest('you belong to several tenants: name one in the header Belfry-Tenant');

/** From the header, or from the query, because a link cannot send a header. */
function namedTenant(request: FastifyRequest): string | undefined {
  const query = request.query as Record<string, unknown>;
  const named = request.headers['belfry-tenant'] ?? query.tenant;
  // Removed, because the schemas of routes allow no other field.
  delete query.tenant;
  if (named === undefined) return undefined;
  if (typeof named !== 'string' || !tenantName.test(named)) throw forbidden();
  return named;
}
