import type { IncomingMessage } from 'node:http';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { allows, isForPeople, type Policy, type Principal } from '#core/access.ts';
import type { CredentialRecord } from '#core/directory.ts';
import { AppError } from '#core/errors.ts';
import type { Sender } from '#core/intake.ts';
import { createLruMap } from '#core/lru-map.ts';
import { RateLimiter } from '#core/rate-limit.ts';
import { type ParsedSecret, parseSecret, secretMatches, secretTextChars } from '#core/secrets.ts';
import { ApiLimits } from './api-limits.ts';
import { People } from './people.ts';
import { rateHeaders } from './rate-headers.ts';
import type { Services } from './services.ts';
import { addressSet, networkOf, sourceAddressReader } from './source-address.ts';

/** How soon a revoked credential's streams are closed, at the latest, once the change is known. */
const recheckMs = 750;

/** "Bearer " and a token or key. */
const usualHeaderChars = 7 + secretTextChars;

const unproven = () =>
  new AppError('proof.required', 'prove first that it is you (POST /api/account/proof), or sign in again');
const forbidden = () => new AppError('forbidden', 'forbidden');
const unauthorized = () => new AppError('unauthorized', 'unauthorized');

/** A credential's principal and allow-list, made once for each record. */
interface Prepared {
  readonly principal: Principal;
  readonly allowsFrom: ((address: string) => boolean) | undefined;
}

/**
 * Tells who calls: whoever the bearer token or key in `Authorization` speaks for, or else the person whom the session
 * cookie names. A request without a cookie costs nothing for people's sake. The answer is the same 401 whether a token is missing, malformed, unknown, revoked, expired or used
 * from elsewhere; a caller that fails too often gets 429 before anything is looked up. A token that is known to be good
 * is never locked out by the failures of others behind the same address.
 */
export class Authenticator {
  readonly #services: Services;
  readonly #failures = new RateLimiter<string>();
  readonly #limits: ApiLimits;
  /** Hashes of credentials that were good the last time, by id: these outlive what is in memory of a tenant. */
  readonly #proven = createLruMap<string, string>(50_000);
  /** The headers of callers who were right, with the record they were right about. Held in memory alone. */
  readonly #recognised = createLruMap<string, CredentialRecord>(10_000);
  readonly #prepared = new WeakMap<CredentialRecord, Prepared>();
  readonly #sourceOf;
  readonly people: People;

  constructor(services: Services) {
    this.#services = services;
    this.people = new People(services);
    this.#limits = new ApiLimits(services);
    this.#sourceOf = sourceAddressReader(services.settings.trustedProxies);
  }

  /** The hook of every request: sets `sourceIp` and `principal`, and holds the route's policy and rate limit. */
  readonly check = (request: FastifyRequest, reply: FastifyReply, done: (error?: Error) => void): void => {
    request.sourceIp = this.#sourceOf(request.raw);
    const { policy } = request.routeOptions.config;
    if (policy === undefined || policy === 'public') return done();
    const pass = (principal: Principal | undefined) => {
      if (!principal) return done(this.#refuse(request.sourceIp, reply));
      request.principal = principal;
      const limit = this.#limits.take(request, reply);
      done(allows(policy, principal) ? limit : forbidden());
    };
    const { authorization, cookie } = request.headers;
    const recognised = this.#recognise(authorization, request.sourceIp);
    if (recognised) return pass(recognised);
    if (authorization === undefined && cookie !== undefined) {
      this.#checkPerson(request, reply, policy).then(
        (found) => done(found ? undefined : unauthorized()),
        done,
      );
      return;
    }
    const found = this.#identify(authorization, request.sourceIp);
    if (found instanceof Promise) found.then(pass, done);
    else pass(found);
  };

  /**
   * The caller of a request, if it is a token that was right before and may do what `policy` says: all that {@link check}
   * would find. undefined says nothing; only `check` refuses.
   */
  recogniseSender(
    request: IncomingMessage,
    policy: Policy,
  ): { readonly sender: Sender; readonly sourceIp: string } | undefined {
    const sourceIp = this.#sourceOf(request);
    const sender = this.#recognise(request.headers.authorization, sourceIp);
    return sender?.kind === 'token' && allows(policy, sender) ? { sender, sourceIp } : undefined;
  }

  /**
   * Calls back once the credential of an open stream would no longer open it: revoked, expired, deprived of the scope or
   * role, or bound to other addresses. Answers how to stop watching.
   */
  watch(request: FastifyRequest, onRefused: () => void): () => void {
    const timer = setInterval(() => {
      this.#wouldStillPass(request).then(
        (passes) => passes || onRefused(),
        // What cannot be looked up now is looked up again: a disk that is gone for a while darkens no screen.
        () => undefined,
      );
    }, recheckMs).unref();
    return () => clearInterval(timer);
  }

  /** Whether somebody is signed in. @throws AppError when they may not do this. */
  async #checkPerson(request: FastifyRequest, reply: FastifyReply, policy: Policy): Promise<boolean> {
    const found = await this.people.find(request);
    if (!found) return false;
    request.person = found;
    if (!isForPeople(policy)) request.principal = await this.people.principal(request, found);
    const limit = this.#limits.take(request, reply);
    if (policy === 'proven' && !this.#services.signIn.isProven(found.session)) throw unproven();
    if (!isForPeople(policy) && !allows(policy, request.principal)) throw forbidden();
    if (limit) throw limit;
    return true;
  }

  async #wouldStillPass({ principal, sourceIp, routeOptions }: FastifyRequest): Promise<boolean> {
    const { tenancy } = this.#services;
    const { id, tenant } = principal;
    if (principal.kind === 'person') {
      const renewed = await this.people.renewed(principal);
      return renewed !== undefined && allows(routeOptions.config.policy ?? 'public', renewed);
    }
    const record = tenancy.peekCredential(id) ?? (await tenancy.findCredential(id));
    if (record?.tenant !== tenant || !this.#isInForce(record)) return false;
    const { principal: renewed, allowsFrom } = this.#prepare(record);
    return allows(routeOptions.config.policy ?? 'public', renewed) && (allowsFrom?.(sourceIp) ?? true);
  }

  #identify(
    header: string | undefined,
    source: string,
  ): Principal | undefined | Promise<Principal | undefined> {
    const match = header === undefined ? null : /^Bearer +([A-Za-z0-9_]+) *$/i.exec(header);
    const parsed = match?.[1] === undefined ? undefined : parseSecret(match[1]);
    if (!parsed) return undefined;
    const verify = (record: CredentialRecord | undefined): Principal | undefined => {
      if (!record || !secretMatches(record.hash, parsed.secret) || record.kind !== parsed.kind)
        return undefined;
      const principal = this.#admit(record, source);
      if (!principal) return undefined;
      if (this.#proven.get(parsed.id) !== record.hash) this.#proven.set(parsed.id, record.hash);
      // One blank and no more: what may be longer would fill memory.
      if (header?.length === usualHeaderChars) this.#recognised.set(header, record);
      return principal;
    };
    const known = this.#services.tenancy.peekCredential(parsed.id);
    if (known) return verify(known);
    // Not in memory: worth a look-up only for a caller that has not failed too often, or has been right before.
    if (this.#hasFailedTooOften(source) && !this.#wasGood(parsed)) return undefined;
    return this.#services.tenancy.findCredential(parsed.id).then((record) => {
      const principal = verify(record);
      if (!principal) this.#proven.delete(parsed.id);
      return principal;
    });
  }

  /**
   * A caller who was right before, with the same header to the letter: what the record says still counts, parsing and
   * hashing are saved. The comparison is the map's; it hashes with a seed of this process and compares texts only where
   * the hashes agree, so its time tells nothing of how much of a guess is right.
   */
  #recognise(header: string | undefined, source: string): Principal | undefined {
    const record = header === undefined ? undefined : this.#recognised.get(header);
    if (!record || this.#services.tenancy.peekCredential(record.id) !== record) return undefined;
    return this.#admit(record, source);
  }

  /** The principal of a credential whose secret was right, if it is in force and may come from there. */
  #admit(record: CredentialRecord, source: string): Principal | undefined {
    if (!this.#isInForce(record)) return undefined;
    const { principal, allowsFrom } = this.#prepare(record);
    if (allowsFrom && !allowsFrom(source)) return undefined;
    const { usage, now } = this.#services;
    usage.recordUse({ tenant: record.tenant, id: record.id, at: now(), from: source });
    return principal;
  }

  #hasFailedTooOften(source: string): boolean {
    const { rateAuth } = this.#services.settings;
    return (
      rateAuth !== 'off' && !this.#failures.look(networkOf(source), rateAuth, this.#services.now()).allowed
    );
  }

  #wasGood({ id, secret }: ParsedSecret): boolean {
    const hash = this.#proven.get(id);
    return hash !== undefined && secretMatches(hash, secret);
  }

  #isInForce({ revokedAt, expiresAt }: CredentialRecord): boolean {
    return revokedAt === null && (expiresAt === null || expiresAt > this.#services.now());
  }

  #prepare(record: CredentialRecord): Prepared {
    let prepared = this.#prepared.get(record);
    if (!prepared) {
      const allowsFrom = record.allowFrom.length === 0 ? undefined : addressSet(record.allowFrom);
      prepared = { principal: principalOf(record), allowsFrom };
      this.#prepared.set(record, prepared);
    }
    return prepared;
  }

  #refuse(source: string, reply: FastifyReply): AppError {
    const { rateAuth } = this.#services.settings;
    if (rateAuth === 'off') return unauthorized();
    const state = this.#failures.take(networkOf(source), rateAuth, this.#services.now());
    rateHeaders(reply, [{ name: 'auth', rate: rateAuth, state }]);
    if (state.allowed) return unauthorized();
    return new AppError('rate-limited', 'rate limit exceeded', { retryAfterSeconds: state.resetSeconds });
  }
}

function principalOf(record: CredentialRecord): Principal {
  const { tenant, id, name } = record;
  if (record.kind === 'key') return { kind: 'key', tenant, id, name, role: record.role ?? 'viewer' };
  return {
    kind: 'token',
    tenant,
    id,
    name,
    scopes: record.scopes,
    rate: record.rate,
    panelId: record.panelId,
  };
}
