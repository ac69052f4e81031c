/** Signing in with an identity provider: OpenID Connect, code flow with PKCE. */
import { createHash } from 'node:crypto';
import { uuidv7 } from 'uuidv7';
import { notFound } from '#core/errors.ts';
import { type AccountStore, where } from '#core/people/accounts.ts';
import { randomSecret } from '#core/people/secrets.ts';
import type { SignIn, Visit } from '#core/people/sign-in.ts';
import type { Outbound } from '#outbound/outbound.ts';
import { type Claims, discover, exchange, type OidcSettings } from './oidc-provider.ts';
import { cookiesFrom, expiredCookie, type SignInParts } from './sessions.ts';

/** There is one provider; its name in paths. */
export const providerId = 'oidc';

const signInMs = 10 * 60_000;
/** Sign-ins that one browser may have begun, each in a tab of its own. Beginning another one ends them. */
const mostAtOnce = 10;
/** As `randomSecret` makes it. Only such a text may become part of a cookie's name. */
const stateForm = /^[0-9A-Za-z]{32}$/;
/** Each sign-in has a cookie of its own, because other tabs of the browser may begin one, too. */
const cookieOf = (state: string) => `provider.${state.slice(0, 8)}` as const;
const cookieEnd = /^[0-9A-Za-z]{8}$/;

/** State kept between the redirect to the provider and the callback. */
interface PendingSignIn {
  readonly verifier: string;
  readonly nonce: string;
  readonly returnTo: string;
}

type SignInProblem = 'denied' | 'not-linked' | 'not-invited' | 'not-verified' | 'expired' | 'provider';

class SignInError extends Error {
  readonly reason: SignInProblem;

  constructor(reason: SignInProblem, cause?: unknown) {
    super(reason, { cause });
    this.reason = reason;
  }
}

interface OidcOptions {
  readonly settings: OidcSettings | undefined;
  /** The operator configures the provider, so any address is allowed. */
  readonly outbound: Outbound;
  readonly onProblem: (message: string, error: unknown) => void;
}

export function createOidc(
  { store, sessions, pending, now }: SignInParts,
  { settings, outbound, onProblem }: OidcOptions,
): Pick<SignIn, 'providers' | 'providerUrl' | 'fromProvider'> {
  if (!settings) {
    const none = async () => {
      throw notFound('provider');
    };
    return { providers: [], providerUrl: none, fromProvider: none };
  }
  const { issuer, clientId, name } = settings;
  const requireKnown = (provider: string) => {
    if (provider !== providerId) throw notFound('provider');
  };
  const callback = ({ origin }: Visit) => `${origin}/api/session/oidc/${providerId}/callback`;

  /** Takes the pending sign-in of this browser; it can be taken only once. @throws SignInError */
  const takePendingSignIn = async (visit: Visit, state: string | undefined): Promise<PendingSignIn> => {
    const isOwn = state !== undefined && sessions.readCookie(visit, cookieOf(state)) === state;
    const kept = isOwn ? await pending.take('provider', state) : undefined;
    if (kept === undefined) throw new SignInError('expired');
    return JSON.parse(kept) as PendingSignIn;
  };

  return {
    providers: [{ id: providerId, name }],

    async providerUrl(visit, provider, returnTo) {
      requireKnown(provider);
      const { authorization_endpoint } = await discover(outbound, issuer);
      const begun: PendingSignIn = {
        verifier: randomSecret() + randomSecret(),
        nonce: randomSecret(),
        returnTo: ownPath(returnTo),
      };
      const state = await pending.create('provider', JSON.stringify(begun), signInMs);
      const url = new URL(authorization_endpoint);
      for (const [key, value] of Object.entries({
        response_type: 'code',
        client_id: clientId,
        redirect_uri: callback(visit),
        scope: 'openid email profile',
        state,
        nonce: begun.nonce,
        code_challenge: createHash('sha256').update(begun.verifier).digest('base64url'),
        code_challenge_method: 'S256',
      }))
        url.searchParams.set(key, value);
      const others = cookiesFrom(visit, 'provider.').filter((each) => cookieEnd.test(each));
      const ended = others.length < mostAtOnce ? [] : others;
      const cookies = [
        sessions.cookie(visit.origin, cookieOf(state), state, signInMs),
        ...ended.map((each) => expiredCookie(visit.origin, `provider.${each}`)),
      ];
      return { cookies, url: url.href };
    },

    async fromProvider(visit, provider, query) {
      requireKnown(provider);
      const state = stateForm.test(query.state ?? '') ? query.state : undefined;
      const cookies = state === undefined ? [] : [expiredCookie(visit.origin, cookieOf(state))];
      try {
        const begun = await takePendingSignIn(visit, state);
        if (query.error !== undefined)
          throw new SignInError(query.error === 'access_denied' ? 'denied' : 'provider');
        const metadata = await discover(outbound, issuer);
        if (query.code === undefined || (query.iss ?? metadata.issuer) !== metadata.issuer)
          throw new SignInError('provider');
        const claims = await exchange(outbound, settings, metadata, {
          code: query.code,
          redirectUri: callback(visit),
          verifier: begun.verifier,
          nonce: begun.nonce,
        });
        const personId = await personOf(store, metadata.issuer, claims, now());
        const session = await sessions.begin(visit, personId, true);
        const target = new URL(begun.returnTo, visit.origin);
        // Checked again, because resolving "/.//host" gives "//host".
        return { cookies: [session, ...cookies], path: ownPath(target.pathname + target.search), personId };
      } catch (error) {
        const reason = error instanceof SignInError ? error.reason : 'provider';
        const cause = error instanceof SignInError ? error.cause : error;
        if (cause !== undefined) onProblem('a sign-in at the identity provider failed', cause);
        return { cookies, path: `/sign-in?error=${reason}`, personId: undefined };
      }
    },
  };
}

/** Accepts only a path on this server; prevents open redirects. */
function ownPath(text: string): string {
  return /^\/(?![/\\])[\x21-\x7e]*$/.test(text) && !text.includes('\\') ? text : '/';
}

/** The account of an identity: its own, one with its address, or a new one for somebody invited. @throws SignInError */
async function personOf(store: AccountStore, issuer: string, claims: Claims, at: number): Promise<string> {
  const { rows } = store;
  const { email, verified, name } = claims;
  // Another provider may use the same `sub` for somebody else.
  const subject = `${issuer} ${claims.sub}`;
  const ofProvider = where('provider', providerId);
  const [known] = await rows.select('sign_in_methods', [ofProvider, where('subject', subject)]);
  if (known) return String(known.person);
  if (email === undefined) throw new SignInError('not-verified');
  const link = (person: string) =>
    rows.insert('sign_in_methods', {
      id: uuidv7(),
      person,
      provider: providerId,
      subject,
      created_at: at,
      updated_at: at,
    });
  const person = await store.findByEmail(email);
  if (person) {
    const [row] = await rows.select('people', [where('id', person.id)]);
    // Both sides must have verified the address, and the account must have no other identity of this provider.
    const hasOther = (await rows.count('sign_in_methods', [where('person', person.id), ofProvider])) > 0;
    if (!verified || !row?.email_verified || hasOther) throw new SignInError('not-linked');
    if (await store.forgetUnproven(person.id))
      await store.note(person.id, {
        by: person.email,
        at,
        action: 'account.password',
        subject: person.id,
        detail: { removed: true },
      });
    await link(person.id);
    return person.id;
  }
  const invitation = verified ? await store.invitationFor(email, at) : undefined;
  if (!invitation) throw new SignInError('not-invited');
  const id = uuidv7();
  const joined = await store.join(
    {
      id,
      email,
      name: name?.replaceAll('\0', '').trim().slice(0, 100).toWellFormed() || (email.split('@')[0] ?? email),
      emailVerified: true,
      signInWith: { provider: providerId, subject },
    },
    invitation,
    at,
  );
  if (joined !== 'done') throw new SignInError(joined === 'no-invitation' ? 'not-invited' : 'not-linked');
  return id;
}
