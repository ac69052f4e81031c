/** Signing in with an identity provider: OpenID Connect, code flow with PKCE. */
import { createHash } from 'node:crypto';
import { uuidv7 } from 'uuidv7';
import type { AccountStore } from '#core/accounts.ts';
import { findEmail } from '#core/email.ts';
import { notFound, unavailable } from '#core/errors.ts';
import { randomSecret } from '#core/secrets.ts';
import type { SignIn, Visit } from '#core/sign-in.ts';
import { expiredCookie, is, type Pending, type Sessions } from './sessions.ts';

/** The identity provider that people sign in with. */
export interface OidcSettings {
  readonly issuer: string;
  readonly clientId: string;
  readonly clientSecret: string | undefined;
  /** As the sign-in page calls it. */
  readonly name: string;
}

/** There is one provider; its name in paths. */
export const providerId = 'oidc';

const requestMs = 5_000;
const signInMs = 10 * 60_000;

/** What the provider says about itself: the parts of its discovery document that are used. */
interface Metadata {
  readonly issuer: string;
  readonly authorization_endpoint: string;
  readonly token_endpoint: string;
  readonly jwks_uri: string;
  readonly userinfo_endpoint?: string;
  readonly token_endpoint_auth_methods_supported?: readonly string[];
}

/** State kept between the redirect to the provider and the callback. */
interface Journey {
  readonly verifier: string;
  readonly nonce: string;
  readonly returnTo: string;
}

type Refusal = 'denied' | 'not-linked' | 'not-invited' | 'not-verified' | 'expired' | 'provider';

class Refused extends Error {
  readonly reason: Refusal;

  constructor(reason: Refusal, cause?: unknown) {
    super(reason, { cause });
    this.reason = reason;
  }
}

interface OidcOptions {
  readonly settings: OidcSettings | undefined;
  readonly store: AccountStore;
  readonly sessions: Sessions;
  readonly pending: Pending;
  readonly now: () => number;
  readonly onProblem: (message: string, error: unknown) => void;
}

export function createOidc({
  settings,
  store,
  sessions,
  pending,
  now,
  onProblem,
}: OidcOptions): Pick<SignIn, 'providers' | 'providerUrl' | 'fromProvider'> {
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

  /** Takes the pending sign-in of this browser; it can be taken only once. @throws Refused */
  const takeJourney = async (visit: Visit, state: string | undefined): Promise<Journey> => {
    const token = sessions.readCookie(visit, 'provider');
    const kept = token !== undefined && token === state ? await pending.take('provider', token) : undefined;
    if (kept === undefined) throw new Refused('expired');
    return JSON.parse(kept) as Journey;
  };

  return {
    providers: [{ id: providerId, name }],

    async providerUrl(visit, provider, returnTo) {
      requireKnown(provider);
      const { authorization_endpoint } = await discover(issuer);
      const journey: Journey = {
        verifier: randomSecret() + randomSecret(),
        nonce: randomSecret(),
        returnTo: ownPath(returnTo),
      };
      const state = await pending.create('provider', JSON.stringify(journey), signInMs);
      const url = new URL(authorization_endpoint);
      for (const [key, value] of Object.entries({
        response_type: 'code',
        client_id: clientId,
        redirect_uri: callback(visit),
        scope: 'openid email profile',
        state,
        nonce: journey.nonce,
        code_challenge: createHash('sha256').update(journey.verifier).digest('base64url'),
        code_challenge_method: 'S256',
      }))
        url.searchParams.set(key, value);
      return { cookies: [sessions.cookie(visit.origin, 'provider', state, signInMs)], url: url.href };
    },

    async fromProvider(visit, provider, query) {
      requireKnown(provider);
      const cookies = [expiredCookie(visit.origin, 'provider')];
      try {
        const journey = await takeJourney(visit, query.state);
        if (query.error !== undefined)
          throw new Refused(query.error === 'access_denied' ? 'denied' : 'provider');
        const metadata = await discover(issuer);
        if (query.code === undefined || (query.iss ?? metadata.issuer) !== metadata.issuer)
          throw new Refused('provider');
        const claims = await exchange(settings, metadata, {
          code: query.code,
          redirectUri: callback(visit),
          journey,
        });
        const personId = await personOf(store, metadata.issuer, claims, now());
        const session = await sessions.begin(visit, personId, true);
        const target = new URL(journey.returnTo, visit.origin);
        // Judged again: "/.//host" is "//host" once its dots are followed.
        return { cookies: [session, ...cookies], path: ownPath(target.pathname + target.search), personId };
      } catch (error) {
        const reason = error instanceof Refused ? error.reason : 'provider';
        const cause = error instanceof Refused ? error.cause : error;
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

/** The code and the client's secret travel to these addresses. @throws Error when one of them is not https. */
function requireHttps({ authorization_endpoint, token_endpoint, jwks_uri, userinfo_endpoint }: Metadata) {
  for (const url of [authorization_endpoint, token_endpoint, jwks_uri, userinfo_endpoint]) {
    if (url !== undefined && new URL(url).protocol !== 'https:')
      throw new Error(`the identity provider names an address that is not https: ${url}`);
  }
}

/** @throws AppError `unavailable` when the provider does not answer, or calls itself by another name. */
async function discover(issuer: string): Promise<Metadata> {
  try {
    const url = `${issuer.replace(/\/$/, '')}/.well-known/openid-configuration`;
    const response = await fetch(url, { redirect: 'error', signal: AbortSignal.timeout(requestMs) });
    const metadata = (await response.json()) as Metadata;
    // Some write a slash at the end of their name, which a setting loses.
    if (response.ok && (metadata.issuer === issuer || metadata.issuer === `${issuer}/`)) {
      if (issuer.startsWith('https:')) requireHttps(metadata);
      return metadata;
    }
  } catch (error) {
    throw unavailable('the identity provider does not answer; try again, or sign in with a password', error);
  }
  throw unavailable(
    'the identity provider calls itself by another name: BELFRY_OIDC_ISSUER must be exactly that',
  );
}

interface Claims {
  readonly sub: string;
  readonly email: string | undefined;
  readonly verified: boolean;
  readonly name: string | undefined;
}

/** Exchanges the code for who the person is. @throws Error when any of it is not as OpenID Connect demands. */
async function exchange(
  { clientId, clientSecret }: OidcSettings,
  metadata: Metadata,
  { code, redirectUri, journey }: { code: string; redirectUri: string; journey: Journey },
): Promise<Claims> {
  const body = new URLSearchParams({
    grant_type: 'authorization_code',
    code,
    redirect_uri: redirectUri,
    code_verifier: journey.verifier,
  });
  const headers: Record<string, string> = { accept: 'application/json' };
  const inBody = metadata.token_endpoint_auth_methods_supported?.includes('client_secret_post');
  if (clientSecret !== undefined && !inBody)
    headers.authorization = `Basic ${Buffer.from([clientId, clientSecret].map(encodeURIComponent).join(':')).toString('base64')}`;
  else {
    body.set('client_id', clientId);
    if (clientSecret !== undefined) body.set('client_secret', clientSecret);
  }
  const tokens = await getJson(metadata.token_endpoint, { method: 'POST', body, headers });
  const { createRemoteJWKSet, jwtVerify } = await import('jose');
  const { payload } = await jwtVerify(
    String(tokens.id_token),
    createRemoteJWKSet(new URL(metadata.jwks_uri), { timeoutDuration: requestMs }),
    {
      issuer: metadata.issuer,
      audience: clientId,
      requiredClaims: ['sub', 'exp', 'iat'],
      clockTolerance: 30,
    },
  );
  if (payload.nonce !== journey.nonce)
    throw new Error('the ID token is not of this sign-in: its nonce differs');
  if ((payload.azp ?? clientId) !== clientId) throw new Error('the ID token was issued to another client');
  const { userinfo_endpoint } = metadata;
  if (payload.email !== undefined || userinfo_endpoint === undefined) return claimsOf(payload);
  const info = await getJson(userinfo_endpoint, {
    headers: { authorization: `Bearer ${String(tokens.access_token)}` },
  });
  if (info.sub !== payload.sub)
    throw new Error('user info and ID token of the provider name different persons');
  return claimsOf(info);
}

async function getJson(url: string, init: RequestInit): Promise<Record<string, unknown>> {
  const response = await fetch(url, { ...init, redirect: 'error', signal: AbortSignal.timeout(requestMs) });
  if (!response.ok) throw new Error(`${new URL(url).origin} answered ${response.status}`);
  return (await response.json()) as Record<string, unknown>;
}

/** An address that is not clearly verified is not, and it is kept in the form of our own. */
function claimsOf({ sub, email, email_verified, name }: Record<string, unknown>): Claims {
  return {
    sub: String(sub),
    email: findEmail(String(email ?? '')),
    verified: email_verified === true,
    name: typeof name === 'string' ? name : undefined,
  };
}

/** The account of an identity: its own, one with its address, or a new one for somebody invited. @throws Refused */
async function personOf(store: AccountStore, issuer: string, claims: Claims, at: number): Promise<string> {
  const { rows } = store;
  const { email, verified, name } = claims;
  // Another provider may give the same name to somebody else.
  const subject = `${issuer} ${claims.sub}`;
  const ofProvider = is('provider', providerId);
  const [known] = await rows.select('sign_in_methods', [ofProvider, is('subject', subject)]);
  if (known) return String(known.person);
  if (email === undefined) throw new Refused('not-verified');
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
    const [row] = await rows.select('people', [is('id', person.id)]);
    // Both sides must have verified the address, and the account must have no other identity of this provider.
    const hasOther = (await rows.count('sign_in_methods', [is('person', person.id), ofProvider])) > 0;
    if (!verified || !row?.email_verified || hasOther) throw new Refused('not-linked');
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
  if (!invitation) throw new Refused('not-invited');
  const id = uuidv7();
  const joined = await store.join(
    {
      id,
      email,
      name: name?.trim().slice(0, 100) || (email.split('@')[0] ?? email),
      emailVerified: true,
      signInWith: { provider: providerId, subject },
    },
    invitation,
    at,
  );
  if (joined !== 'done') throw new Refused(joined === 'no-invitation' ? 'not-invited' : 'not-linked');
  return id;
}
