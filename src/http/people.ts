import type { FastifyRequest } from 'fastify';
import type { Principal } from '#core/access.ts';
import type { SignedInPerson } from '#core/accounts.ts';
import { AppError, badRequest } from '#core/errors.ts';
import type { MembershipRecord } from '#core/members.ts';
import type { Visit } from '#core/sign-in.ts';
import { originReader } from './origin.ts';
import type { Services } from './services.ts';

type PersonPrincipal = Extract<Principal, { kind: 'person' }>;

const forbidden = () => new AppError('forbidden', 'forbidden');
/** They change nothing, so that a page elsewhere that makes a browser send them has gained nothing. */
const harmless = new Set(['GET', 'HEAD', 'OPTIONS']);
const tenantName = /^[a-z0-9][a-z0-9-]{0,62}$/;

/** Who is signed in, by the session cookie, and as what in which tenant. */
export class People {
  readonly #services: Services;
  readonly #origins;

  constructor(services: Services) {
    this.#services = services;
    this.#origins = originReader(services.settings);
  }

  /**
   * What the accounts have to know of a request that no cookie need come with.
   * @throws AppError `forbidden` when a page elsewhere sent it.
   */
  visit(request: FastifyRequest): Visit {
    if (!harmless.has(request.method) && this.#origins.isOwn(request) === false)
      throw new AppError('forbidden', 'this is for pages of this server alone');
    return {
      origin: this.#origins.of(request),
      cookie: request.headers.cookie,
      source: request.sourceIp,
      userAgent: request.headers['user-agent'],
    };
  }

  /** undefined: nobody is signed in. @throws AppError `forbidden` for a change that no page of ours asks for. */
  async find(request: FastifyRequest): Promise<SignedInPerson | undefined> {
    const { cookie } = request.headers;
    if (cookie === undefined) return undefined;
    const found = await this.#services.signIn.identify({ origin: this.#origins.of(request), cookie });
    if (found && !harmless.has(request.method) && this.#origins.isOwn(request) !== true)
      throw new AppError(
        'forbidden',
        'this change must come from a page of this server: the Origin header says otherwise',
      );
    return found;
  }

  /**
   * The person as a member of the tenant that the request names.
   * @throws AppError `bad-request` when it names none and there are several, `forbidden` when it is not one of theirs.
   */
  async principal(request: FastifyRequest, { person, session }: SignedInPerson): Promise<PersonPrincipal> {
    const memberships = await this.#services.directory.members.ofPerson(person.id);
    const { tenant, role } = chosen(memberships, namedTenant(request));
    this.#services.usage.recordVisit({ tenant: tenant.id, person: person.id, at: this.#services.now() });
    return {
      kind: 'person',
      tenant: tenant.id,
      id: person.id,
      name: person.name,
      email: person.email,
      role,
      sessionId: session.id,
    };
  }

  /** The person's principal as it would be now; undefined when the session or the membership is over. */
  async renewed({ tenant, id, sessionId, ...rest }: PersonPrincipal): Promise<PersonPrincipal | undefined> {
    const { signIn, tenancy } = this.#services;
    const [goesOn, { members }] = await Promise.all([signIn.isSignedIn(sessionId), tenancy.get(tenant)]);
    const role = members.get(id);
    return goesOn && role !== undefined ? { ...rest, tenant, id, sessionId, role } : undefined;
  }
}

function chosen(memberships: readonly MembershipRecord[], name: string | undefined): MembershipRecord {
  if (name === undefined && memberships.length > 1)
    throw badRequest('you belong to several tenants: name one in the header Belfry-Tenant');
  const found = name === undefined ? memberships[0] : memberships.find((each) => each.tenant.name === name);
  if (!found) throw forbidden();
  return found;
}

/** From the header, or from the query where a link cannot send one. */
function namedTenant(request: FastifyRequest): string | undefined {
  const query = request.query as Record<string, unknown>;
  const named = request.headers['belfry-tenant'] ?? query.tenant;
  // Routes know nothing of it: their own queries are checked to the last field.
  delete query.tenant;
  if (named === undefined) return undefined;
  if (typeof named !== 'string' || !tenantName.test(named)) throw forbidden();
  return named;
}
