import type { FastifyBaseLogger, FastifyReply, FastifyRequest } from 'fastify';
import { findEmail } from '#core/email.ts';
import { AppError } from '#core/errors.ts';
import { createLruMap } from '#core/lru-map.ts';
import { RateLimiter, type RateState } from '#core/rate-limit.ts';
import type { Rate } from '#core/tenants.ts';
import type { People } from '../people.ts';
import { rateHeaders } from '../rate-headers.ts';
import type { Services } from '../services.ts';
import { networkOf } from '../source-address.ts';

/** What the routes of people's accounts work with. */
export interface AccountContext {
  readonly services: Services;
  readonly people: People;
  readonly limits: SignInLimits;
  readonly logger: FastifyBaseLogger;
}

/**
 * Attempts at one account by signing in, whoever makes them, and in one session of it: a botnet guesses 240 passwords an
 * hour, and not more. Each session has its own: nobody who took one locks its owner out of the others.
 */
const accountRate: Rate = { perSecond: 1 / 15, burst: 10 };

/**
 * Keeps guessing slow: attempts are counted for the network they come from and for the account they are at, before any
 * password is looked at. Whoever was right from this network before is not locked out of an account by strangers.
 */
export class SignInLimits {
  readonly #services: Services;
  readonly #networks = new RateLimiter<string>();
  readonly #accounts = new RateLimiter<string>();
  readonly #proven = createLruMap<string, true>(10_000);

  constructor(services: Services) {
    this.#services = services;
  }

  /** Takes one attempt. `account` is what is tried: an e-mail address, or the session in which it is. @throws AppError `rate-limited`. */
  take(request: FastifyRequest, reply: FastifyReply, account?: string): void {
    const { settings, now } = this.#services;
    const { rateAuth } = settings;
    if (rateAuth === 'off') return;
    const network = networkOf(request.sourceIp);
    const state = this.#networks.take(network, rateAuth, now());
    rateHeaders(reply, [{ name: 'sign-in', rate: rateAuth, state }]);
    refuseIfSpent(state);
    if (account === undefined || this.#proven.has(pair(network, nameOf(account)))) return;
    refuseIfSpent(this.#accounts.take(nameOf(account), accountRate, now()));
  }

  /** Whoever asks was right about the account, by signing in or in a session of it. */
  proven(request: FastifyRequest, account: string): void {
    this.#proven.set(pair(networkOf(request.sourceIp), nameOf(account)), true);
  }
}

const pair = (network: string, name: string) => `${network} ${name}`;

/** However an address is written, it is one account. */
function nameOf(account: string): string {
  return findEmail(account) ?? account;
}

function refuseIfSpent({ allowed, resetSeconds }: RateState): void {
  if (!allowed)
    throw new AppError('rate-limited', 'rate limit exceeded', { retryAfterSeconds: resetSeconds });
}
