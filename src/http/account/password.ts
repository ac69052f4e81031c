/** Signing in with a password: for a session, or for one request of an app. */
import type { FastifyReply, FastifyRequest } from 'fastify';
import { AppError, badRequest, forbidden } from '#core/errors.ts';
import { allows, refusal } from '#core/people/access.ts';
import type { Credentials, SignInResult, Visit } from '#core/people/sign-in.ts';
import { findEmail } from '#core/people/sign-in-fields.ts';
import type { PersonPrincipal } from '../callers/people.ts';
import type { BasicAccount } from '../callers/sender-credential.ts';
import { type AccountContext, note } from './account-context.ts';

interface Exchange {
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
}

/** Signs in, with the limits of guessing. @throws AppError as {@link SignIn.withPassword}, and `rate-limited`. */
export async function withPassword(
  context: AccountContext,
  { request, reply }: Exchange,
  visit: Visit,
  credentials: Credentials,
): Promise<SignInResult> {
  const { services, limits } = context;
  const { email } = credentials;
  await limits.take(request, reply, email);
  const result = await services.signIn.withPassword(visit, credentials).catch((error: unknown) => {
    if (error instanceof AppError && error.code === 'unauthorized')
      void noteRefusal(context, email, visit.source);
    throw error;
  });
  // The password was right; wrong codes of the second factor are counted separately.
  limits.proven(request, email);
  return result;
}

/**
 * Records the failed attempt for the account's owner. Not awaited, so that the answer takes equally long without such an account.
 */
async function noteRefusal(context: AccountContext, email: string, from: string): Promise<void> {
  const address = findEmail(email);
  const person = address && (await context.services.accounts.findByEmail(address).catch(() => undefined));
  if (person) await note(context, person.id, 'session.refuse', { from });
}

/**
 * Signs an admin in for one request of an app for phones, which sends their account as basic authentication: with a session that ends
 * after `work`.
 * @throws AppError as {@link withPassword}, `bad-request` if the account is in several tenants and names none, `forbidden` if it may
 * not add phones, or has two-factor authentication, and `tenant.suspended`.
 */
export async function asAccount<T>(
  context: AccountContext,
  exchange: Exchange & { readonly account: BasicAccount; readonly app: string },
  work: (admin: PersonPrincipal) => Promise<T>,
): Promise<T> {
  const { services, people } = context;
  const { signIn } = services;
  const { account, app, request } = exchange;
  const { email, password, tenant } = account;
  const visit = { ...people.visit(request), cookie: undefined };
  const result = await withPassword(context, exchange, visit, { email, password, remember: false });
  if (result.twoFactor) throw forbidden(`this account has two-factor authentication: ${instead}`);
  const session = { ...visit, cookie: result.cookies.map((each) => each.split(';')[0]).join('; ') };
  try {
    const signedIn = await signIn.identify(session);
    if (!signedIn) throw forbidden();
    await note(context, signedIn.person.id, 'session.begin', { from: visit.source, with: app });
    const admin = await people.member(signedIn, tenant, (several) =>
      badRequest(
        `this account is in several tenants: enter one before the address, as in ${several[0]?.name}/${email}`,
      ),
    );
    if (admin.isSuspended) throw refusal({ role: 'admin' }, admin);
    if (!allows({ role: 'admin' }, admin)) throw forbidden(`only an admin adds phones: ${instead}`);
    return await work(admin);
  } finally {
    await signIn.signOut(session);
  }
}

const instead = "enter a token as the password, which an admin makes with 'Add phone' in the dashboard";
