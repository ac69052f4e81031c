import type { FastifyBaseLogger, FastifyReply, FastifyRequest } from 'fastify';
import type { SignedIn } from '#contract/people/account.ts';
import type { AuditAction, AuditDetail } from '#contract/people/audit.ts';
import { AppError } from '#core/errors.ts';
import { createLruMap } from '#core/limits/lru-map.ts';
import type { ExactLimiter } from '#core/limits/rate-limits.ts';
import { findEmail } from '#core/people/sign-in-fields.ts';
import type { Rate } from '#core/tenants/tenants.ts';
import { networkOf } from '../callers/forwarded.ts';
import type { People } from '../callers/people.ts';
import { takeFrom } from '../callers/rate-limits.ts';
import type { Services } from '../services.ts';

/** The context of the routes for accounts. */
export interface AccountContext {
  readonly services: Services;
  readonly people: People;
  readonly limits: SignInLimits;
  readonly logger: FastifyBaseLogger;
}

/**
 * Adds a line to the audit log of every tenant the person belongs to. The event has already happened, so a failure to
 * write the line is logged and the request succeeds.
 */
export async function note(
  { services, logger }: AccountContext,
  personId: string,
  action: AuditAction,
  detail: AuditDetail,
): Promise<void> {
  const { accounts, now } = services;
  const at = now();
  try {
    const person = await accounts.find(personId);
    if (person) await accounts.note(personId, { by: person.email, at, action, subject: personId, detail });
  } catch (error) {
    logger.error({ err: error, action }, 'an audit line was not written');
  }
}

export function signedIn(reply: FastifyReply, cookies: readonly string[], twoFactor = false): SignedIn {
  setCookies(reply, cookies);
  return { ok: true, twoFactor };
}

export function setCookies(reply: FastifyReply, cookies: readonly string[]): void {
  if (cookies.length > 0) reply.header('set-cookie', [...cookies]);
}

/**
 * Attempts at one account, and in one session, from all networks together: a botnet can guess 240 passwords an
 * hour. Each session has its own limit, so that a stolen session cannot lock its owner out of the others.
 */
const accountRate: Rate = { perSecond: 1 / 15, burst: 10 };

/**
 * Slows down guessing: attempts are counted by network and by account, before any
 * password is checked, by all nodes together. Strangers cannot lock out somebody who signed in from the same network before: this node
 * remembers them, and the sessions in the database name the networks of those who signed in on another node or before a restart.
 */
export class SignInLimits {
  readonly #services: Services;
  readonly #networks: ExactLimiter;
  readonly #accounts: ExactLimiter;
  readonly #proven = createLruMap<string, true>(10_000);

  constructor(services: Services) {
    this.#services = services;
    this.#networks = services.limits.exact('sign-in network');
    this.#accounts = services.limits.exact('sign-in account');
  }

  /** Counts one attempt. `account` is an email address or the id of a session. @throws AppError `rate-limited`. */
  async take(request: FastifyRequest, reply: FastifyReply, account?: string): Promise<void> {
    const { settings, now } = this.#services;
    const { rateAuth } = settings;
    if (rateAuth === 'off') return;
    const network = networkOf(request.sourceIp);
    await takeFrom({ name: 'sign-in', rate: rateAuth, limiter: this.#networks }, network, now(), reply);
    if (account === undefined || this.#proven.has(pair(network, nameOf(account)))) return;
    const ofAccount = { name: 'account', rate: accountRate, limiter: this.#accounts };
    try {
      await takeFrom(ofAccount, nameOf(account), now());
    } catch (error) {
      const isLimit = error instanceof AppError && error.code === 'rate-limited';
      if (!isLimit || !(await this.#hasSessionFrom(network, account))) throw error;
    }
  }

  async #hasSessionFrom(network: string, account: string): Promise<boolean> {
    const { accounts, now } = this.#services;
    const email = findEmail(account);
    const person = email === undefined ? undefined : await accounts.findByEmail(email);
    // Read for nobody, too: the time reveals no account.
    const sessions = await accounts.sessionsOf(person?.id ?? '', now());
    return sessions.some(({ address }) => address !== null && networkOf(address) === network);
  }

  /** The password was right: this network is no longer limited by account. */
  proven(request: FastifyRequest, account: string): void {
    this.#proven.set(pair(networkOf(request.sourceIp), nameOf(account)), true);
  }
}

const pair = (network: string, name: string) => `${network} ${name}`;

/** All spellings of an address are one account. */
function nameOf(account: string): string {
  return findEmail(account) ?? account;
}
