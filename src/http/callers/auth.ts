import type { IncomingMessage } from 'node:http';
import type { FastifyContextConfig, FastifyReply, FastifyRequest } from 'fastify';
import { addressSet } from '#core/addresses.ts';
import { AppError, forbidden, rateLimited, unauthorized } from '#core/errors.ts';
import type { Sender } from '#core/intake/own-sender.ts';
import { createLruMap } from '#core/limits/lru-map.ts';
import { RateLimiter } from '#core/limits/rate-limits.ts';
import { getOrMake } from '#core/maps.ts';
import { allows, isForPeople, type Policy, type Principal, refusal } from '#core/people/access.ts';
import { principalOf } from '#core/people/credentials.ts';
import {
  hashSecret,
  type ParsedSecret,
  parseSecret,
  secretMatches,
  secretTextChars,
} from '#core/people/secrets.ts';
import type { FoundCredential } from '#core/tenants/directory.ts';
import type { Rate } from '#core/tenants/tenants.ts';
import { bodyFollows } from '../requests.ts';
import type { Services } from '../services.ts';
import { networkOf, sourceAddressReader } from './forwarded.ts';
import { People } from './people.ts';
import { ApiLimits, type HeaderSink, rateHeaders } from './rate-limits.ts';
import { accountOf, bearerOf, urlTokenOf } from './sender-credential.ts';

/** How often the credential of an open stream is checked again: with the poll for changes of other processes, within a second. */
const recheckMs = 500;

/** Look-ups of credentials from an address that has failed too often: a hundred senders behind it are known again at once after a restart. */
const lookUpRate: Rate = { perSecond: 5, burst: 100 };
/** How long a wrong credential is not looked up again if it comes from such an address. */
const wrongMs = 60_000;

/** "Bearer " and a token or key. */
const usualHeaderChars = 7 + secretTextChars;

const unproven = () =>
  new AppError('proof.required', 'prove first that it is you (POST /api/account/proof), or sign in again');

const notAllowedInUrl = () =>
  unauthorized(
    'unauthorized: this token is not allowed in URLs; switch on its option "Allow in URLs" (allowInUrl), which needs the scope notify alone, or send it in the header Authorization: Bearer',
  );
const authInUrl = () =>
  unauthorized(
    'unauthorized: the parameter auth is not read; give the token as ?token=, or in the header Authorization: Bearer',
  );

/** Who sent a request, and from which address. */
interface Caller {
  readonly principal: Principal;
  readonly sourceIp: string;
}

/** What a request has to authenticate itself, before anything is looked up. */
interface PresentedCredential {
  readonly sourceIp: string;
  /** The credential in the form of the header, also if it was in the URL. */
  readonly authorization?: string | undefined;
  readonly inUrl?: boolean;
  /** Set if this credential was accepted before and is still in force. */
  readonly principal?: Principal | undefined;
}

/** A credential's principal and allow-list, computed once for each record. */
interface Prepared {
  readonly principal: Principal;
  readonly allowsFrom: ((address: string) => boolean) | undefined;
}

/**
 * Authenticates requests: by the bearer token or key in `Authorization`, or else by the session cookie. The answer is the same 401
 * whether a token is missing, malformed, unknown, revoked, expired or used from another address; a caller that fails too often gets
 * 429, and few look-ups. A token that was valid before is never locked out by the failures of others behind its address, and one that
 * this server has not seen yet is looked up, unless most of the failures are different tokens.
 */
export class Authenticator {
  readonly #services: Services;
  readonly #failures;
  readonly #limits: ApiLimits;
  /** Hashes of credentials that were valid the last time, by id. They stay when the tenant's snapshot leaves memory. */
  readonly #proven = createLruMap<string, string>(50_000);
  /** When credentials were looked up last and were wrong, by id and hash. */
  readonly #wrongAt = createLruMap<string, number>(10_000);
  readonly #lookUps = new RateLimiter<string>();
  /** Authorization headers that were valid, with their record. Kept in memory only. */
  readonly #recognised = createLruMap<string, FoundCredential>(10_000);
  /** Senders whose signature matched: by id, and by id and network. */
  readonly #signers = createLruMap<string, true>(50_000);
  readonly #prepared = new WeakMap<FoundCredential, Prepared>();
  readonly #sourceOf;
  readonly people: People;

  constructor(services: Services) {
    this.#services = services;
    this.#failures = services.limits.approximate('auth');
    this.people = new People(services);
    this.#limits = new ApiLimits(services);
    this.#sourceOf = sourceAddressReader(services.settings.trustedProxies);
  }

  /** The hook of every request: sets `sourceIp` and `principal`, and enforces the route's policy and rate limit. */
  readonly check = (request: FastifyRequest, reply: FastifyReply, done: (error?: Error) => void): void => {
    const { config } = request.routeOptions;
    const { policy, senderCredential, urlToken } = config;
    const { sourceIp, authorization, inUrl, principal: recognised } = this.recognise(request.raw, config);
    request.sourceIp = sourceIp;
    if (policy === undefined || policy === 'public') return done();
    if (config.accountCredential && !recognised) request.account = accountOf(request.headers);
    // The handler signs the person in, with the limits for that.
    if (request.account) return done();
    const { cookie } = request.headers;
    const pass = (principal: Principal | undefined) => {
      if (!principal) {
        // Some senders send their password only after a 401, so a missing one is no failure.
        const isFailure = authorization !== undefined || !senderCredential;
        const error = isFailure ? this.refuse(sourceIp, reply) : unauthorized();
        const hasAuth =
          authorization === undefined && urlToken !== undefined && /[?&]auth=/.test(request.url);
        return done(hasAuth && error.code === 'unauthorized' ? authInUrl() : error);
      }
      if (inUrl && urlToken === 'if allowed' && !mayBeInUrl(principal)) return done(notAllowedInUrl());
      request.principal = principal;
      const limit = this.#limits.take(request, reply);
      done(allows(policy, principal) ? limit : refusal(policy, principal));
    };
    if (recognised) return pass(recognised);
    if (authorization === undefined && cookie !== undefined) {
      this.#checkPerson(request, reply, policy).then(
        (found) => done(found ? undefined : unauthorized()),
        done,
      );
      return;
    }
    const found = this.#identify(authorization, sourceIp);
    if (found instanceof Promise) found.then(pass, done);
    else pass(found);
  };

  /**
   * The hook after the body, which may arrive long after the head: the caller must still be who `check` found, with the same right.
   * Handlers get the role that the caller has now.
   */
  readonly checkAgain = async (request: FastifyRequest): Promise<void> => {
    const { policy = 'public' } = request.routeOptions.config;
    if (policy === 'public' || request.account || !bodyFollows(request.headers)) return;
    if (isForPeople(policy)) {
      if (!(await this.#services.signIn.isSignedIn(request.person.session.id))) throw forbidden();
      return;
    }
    const renewed = await this.#renewed(policy, request);
    if (renewed instanceof AppError) throw renewed;
    request.principal = renewed;
  };

  /** Why the policy no longer allows a caller that was authenticated before; undefined if it does. */
  async refusalOf(policy: Policy, caller: Caller): Promise<AppError | undefined> {
    const { principal } = caller;
    if (principal.kind === 'person') {
      const known = await this.people.renewed(principal);
      if (known && allows(policy, known)) return undefined;
    }
    const renewed = await this.#renewed(policy, caller);
    return renewed instanceof AppError ? renewed : undefined;
  }

  /** The principal of a caller that was authenticated before, as it is now; the error if the policy no longer allows it. */
  async #renewed(policy: Policy, { principal, sourceIp }: Caller): Promise<Principal | AppError> {
    const { tenancy } = this.#services;
    const { id, tenant } = principal;
    if (principal.kind === 'person') {
      const renewed = await this.people.current(principal);
      if (!renewed) return forbidden();
      return allows(policy, renewed) ? renewed : refusal(policy, renewed);
    }
    const record = tenancy.peekCredential(id) ?? (await tenancy.findCredential(id));
    if (record?.tenant !== tenant || !this.#isInForce(record)) return unauthorized();
    const { principal: renewed, allowsFrom } = this.#prepare(record);
    if (!(allowsFrom?.(sourceIp) ?? true)) return forbidden();
    return allows(policy, renewed) ? renewed : refusal(policy, renewed);
  }

  /**
   * Reads the source address and the credential of a request, without a look-up in the database. If this credential was accepted
   * before, the result has its principal. Otherwise the credential may still be valid: {@link check} decides.
   */
  recognise(
    request: IncomingMessage,
    { policy = 'public', senderCredential, urlToken }: FastifyContextConfig,
  ): PresentedCredential {
    const sourceIp = this.#sourceOf(request);
    if (policy === 'public') return { sourceIp };
    const { headers } = request;
    const header = senderCredential ? bearerOf(headers) : headers.authorization;
    const inUrl = header === undefined && urlToken !== undefined ? urlTokenOf(request) : undefined;
    const authorization = inUrl === undefined ? header : `Bearer ${inUrl}`;
    const principal = this.#recognise(authorization, sourceIp);
    return { sourceIp, authorization, inUrl: inUrl !== undefined, principal };
  }

  /**
   * The sender of a token with the scope notify that came by another protocol.
   * @throws AppError `rate-limited` after too many failures, `tenant.suspended`.
   */
  async findByToken(token: string, source: string, mode?: 'failures count'): Promise<Sender | undefined> {
    const header = `Bearer ${token}`;
    const found = this.#recognise(header, source) ?? (await this.#identify(header, source));
    if (found?.kind === 'token' && allows({ scope: 'notify' }, found)) return found;
    if (found?.isSuspended) throw refusal({ scope: 'notify' }, found);
    if (mode === undefined) return undefined;
    const refused = this.refuse(source, { header: () => undefined });
    if (refused.code === 'rate-limited') throw refused;
    return undefined;
  }

  /**
   * The principal of a credential by its id alone, if {@link check} would accept the credential from this address. It does not
   * authenticate the caller.
   */
  async findById(id: string, source: string): Promise<Principal | undefined> {
    const record = await this.#services.tenancy.findCredential(id);
    return record && this.#usableFrom(record, source);
  }

  /** As {@link findById}, only of tokens, and slowly for callers that have failed too often. */
  async findSender(id: string, source: string): Promise<Sender | undefined> {
    const { tenancy } = this.#services;
    const here = signerHere(id, source);
    // Otherwise anybody could make the server read bodies and compute signatures without limit.
    if (this.#isExhausted(here) && !this.#signers.has(here)) return undefined;
    const known = tenancy.peekCredential(id);
    const mayLookUp = () => this.#signers.has(id) || this.#mayLookUp(source);
    const record = known ?? (mayLookUp() ? await tenancy.findCredential(id) : undefined);
    const principal = record && this.#usableFrom(record, source);
    return principal?.kind === 'token' ? principal : undefined;
  }

  /** The signature matched: this sender is not locked out by others behind the same address. */
  proveSigner(id: string, source: string): void {
    this.#signers.set(id, true);
    this.#signers.set(signerHere(id, source), true);
  }

  /** As {@link refuse}, of a signature that did not match. It counts against this sender from this address, too. */
  refuseSigner(id: string, source: string, reply: HeaderSink): AppError {
    const { rateAuth } = this.#services.settings;
    if (rateAuth !== 'off') this.#failures.take(signerHere(id, source), rateAuth, this.#services.now());
    return this.refuse(source, reply);
  }

  /**
   * Calls back when the credential of an open stream would no longer open it: revoked, expired, without the scope or
   * role, or limited to other addresses. Returns a function that stops watching.
   */
  watch(request: FastifyRequest, onRefused: (refusal: AppError) => void): () => void {
    const { policy = 'public' } = request.routeOptions.config;
    const timer = setInterval(() => {
      this.refusalOf(policy, request).then(
        (refusal) => refusal && onRefused(refusal),
        // A failed lookup is retried, so that screens stay connected during a disk failure.
        () => undefined,
      );
    }, recheckMs).unref();
    return () => clearInterval(timer);
  }

  /** Whether somebody is signed in. @throws AppError when the policy or a limit refuses them. */
  async #checkPerson(request: FastifyRequest, reply: FastifyReply, policy: Policy): Promise<boolean> {
    const found = await this.people.find(request);
    if (!found) return false;
    request.person = found;
    if (!isForPeople(policy)) request.principal = await this.people.principal(request, found);
    const limit = this.#limits.take(request, reply);
    if (policy === 'proven' && !this.#services.signIn.isReauthenticated(found.session)) throw unproven();
    if (!isForPeople(policy) && !allows(policy, request.principal)) throw refusal(policy, request.principal);
    if (limit) throw limit;
    return true;
  }

  #identify(
    header: string | undefined,
    source: string,
  ): Principal | undefined | Promise<Principal | undefined> {
    const match = header === undefined ? null : /^Bearer +([A-Za-z0-9_]+) *$/i.exec(header);
    const parsed = match?.[1] === undefined ? undefined : parseSecret(match[1]);
    if (!parsed) return undefined;
    const verify = (record: FoundCredential | undefined): Principal | undefined => {
      if (!record || !secretMatches(record.hash, parsed.secret) || record.kind !== parsed.kind)
        return undefined;
      const principal = this.#admit(record, source);
      if (!principal) return undefined;
      if (this.#proven.get(parsed.id) !== record.hash) this.#proven.set(parsed.id, record.hash);
      // Only the usual length: longer headers would fill memory.
      if (header?.length === usualHeaderChars) this.#recognised.set(header, record);
      return principal;
    };
    const known = this.#services.tenancy.peekCredential(parsed.id);
    if (known) return verify(known);
    if (!this.#wasGood(parsed) && !this.#mayLookUp(source, parsed)) return undefined;
    return this.#services.tenancy.findCredential(parsed.id).then((record) => {
      const principal = verify(record);
      if (!principal) {
        this.#proven.delete(parsed.id);
        this.#wrongAt.set(nameOf(parsed), this.#services.now());
      }
      return principal;
    });
  }

  /** A caller that has failed too often may look up few credentials, and none that was wrong just now. */
  #mayLookUp(source: string, credential?: ParsedSecret): boolean {
    if (!this.#isExhausted(networkOf(source))) return true;
    const now = this.#services.now();
    const wrongAt = credential && this.#wrongAt.get(nameOf(credential));
    if (wrongAt !== undefined && Math.abs(now - wrongAt) < wrongMs) return false;
    return this.#lookUps.take(networkOf(source), lookUpRate, now).allowed;
  }

  /**
   * A caller with exactly the same header as before: the record is checked again, parsing and
   * hashing are saved. The map hashes with a random seed of this process and compares texts only where
   * the hashes agree, so its timing reveals nothing about a guess.
   */
  #recognise(header: string | undefined, source: string): Principal | undefined {
    const record = header === undefined ? undefined : this.#recognised.get(header);
    if (!record || this.#services.tenancy.peekCredential(record.id) !== record) return undefined;
    return this.#admit(record, source);
  }

  /** The principal of a credential whose secret was right, if it is valid now and from this address. */
  #admit(record: FoundCredential, source: string): Principal | undefined {
    const principal = this.#usableFrom(record, source);
    if (!principal) return undefined;
    const { usage, now } = this.#services;
    usage.recordUse({ tenant: record.tenant, id: record.id, at: now(), from: source });
    return principal;
  }

  /** The principal of a credential that is valid now and from this address. */
  #usableFrom(record: FoundCredential, source: string): Principal | undefined {
    if (!this.#isInForce(record)) return undefined;
    const { principal, allowsFrom } = this.#prepare(record);
    return (allowsFrom?.(source) ?? true) ? principal : undefined;
  }

  /** Whether a source address, or a sender there, has failed too often. */
  #isExhausted(key: string): boolean {
    const { rateAuth } = this.#services.settings;
    return rateAuth !== 'off' && !this.#failures.peek(key, rateAuth, this.#services.now()).allowed;
  }

  #wasGood({ id, secret }: ParsedSecret): boolean {
    const hash = this.#proven.get(id);
    return hash !== undefined && secretMatches(hash, secret);
  }

  #isInForce({ revokedAt, expiresAt }: FoundCredential): boolean {
    return revokedAt === null && (expiresAt === null || expiresAt > this.#services.now());
  }

  #prepare(record: FoundCredential): Prepared {
    return getOrMake(this.#prepared, record, ({ allowFrom }) => ({
      principal: principalOf(record),
      allowsFrom: allowFrom.length === 0 ? undefined : addressSet(allowFrom),
    }));
  }

  /** The error for a failed authentication, which counts against its source address. */
  refuse(source: string, reply: HeaderSink): AppError {
    const { rateAuth } = this.#services.settings;
    if (rateAuth === 'off') return unauthorized();
    const state = this.#failures.take(networkOf(source), rateAuth, this.#services.now());
    rateHeaders(reply, [{ name: 'auth', rate: rateAuth, state }]);
    if (state.allowed) return unauthorized();
    return rateLimited(state.resetSeconds, 'too many failed authentications from this address');
  }
}

const mayBeInUrl = (principal: Principal) => principal.kind === 'token' && principal.allowInUrl;

const nameOf = ({ id, secret }: ParsedSecret) => `${id} ${hashSecret(secret)}`;

const signerHere = (id: string, source: string) => `${networkOf(source)} ${id}`;
