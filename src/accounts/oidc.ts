/**
 * The requests to an identity provider: its discovery document, and the exchange of a code for a person's claims (OpenID
 * Connect).
 */
import { createHash } from 'node:crypto';
import { uuidv7 } from 'uuidv7';
import { notFound, unavailable } from '#core/errors.ts';
import { type AccountStore, where } from '#core/people/accounts.ts';
import { randomSecret } from '#core/people/secrets.ts';
import type { SignIn, Visit } from '#core/people/sign-in.ts';
import { findEmail } from '#core/people/sign-in-fields.ts';
import type { Outbound, OutboundRequest } from '#outbound/outbound.ts';
import { cookiesFrom, expiredCookie, type SignInParts } from './sessions.ts';

/** The identity provider that people sign in with. */
export interface OidcSettings {
  readonly issuer: string;
  readonly clientId: string;
  readonly clientSecret: string | undefined;
  /** The name that the sign-in page shows. */
  readonly name: string;
}

/** The largest answer of the provider. */
const mostBytes = 1024 * 1024;
/** The outbound client cuts an answer at `maxBytes`: one byte more shows that it was too large. */
const answered = { timeoutMs: 5_000, maxBytes: mostBytes + 1 };

/**
 * The signatures that an ID token may have: those whose key only the provider has. Without this list, the keys that the provider
 * publishes would decide.
 */
const signatures = [
  ...['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512'],
  ...['ES256', 'ES384', 'ES512', 'EdDSA', 'Ed25519'],
];

/** The parts of the provider's discovery document that are used. */
interface Metadata {
  readonly issuer: string;
  readonly authorization_endpoint: string;
  readonly token_endpoint: string;
  readonly jwks_uri: string;
  readonly userinfo_endpoint?: string;
  readonly token_endpoint_auth_methods_supported?: readonly string[];
}

interface Claims {
  readonly sub: string;
  readonly email: string | undefined;
  readonly verified: boolean;
  readonly name: string | undefined;
}

/** The code that the provider sent back, and the values with which this sign-in began. */
interface SignInCode {
  readonly code: string;
  readonly redirectUri: string;
  readonly verifier: string;
  readonly nonce: string;
}

/**
 * The code and the client's secret travel to these addresses: they are https, unless the issuer itself is on this machine.
 * @throws AppError `unavailable` when one is missing or is no such address.
 */
function requireEndpoints(metadata: Metadata, issuer: string): void {
  for (const name of ['authorization_endpoint', 'token_endpoint', 'jwks_uri', 'userinfo_endpoint'] as const) {
    const text: unknown = metadata[name];
    if (name === 'userinfo_endpoint' && text === undefined) continue;
    const protocol = typeof text === 'string' ? URL.parse(text)?.protocol : undefined;
    const isUsable = protocol === 'https:' || (protocol === 'http:' && issuer.startsWith('http:'));
    if (!isUsable)
      throw unavailable(
        `the identity provider names no usable ${name}: check BELFRY_OIDC_ISSUER, or sign in with a password`,
      );
  }
}

/** @throws AppError `unavailable` when the provider does not answer, its issuer is not the configured one, or an address is missing. */
async function discover(outbound: Outbound, issuer: string): Promise<Metadata> {
  const metadata = await readMetadata(outbound, issuer).catch((error: unknown) => {
    throw unavailable('the identity provider does not answer; try again, or sign in with a password', error);
  });
  // Some providers end their issuer with a slash, which the setting drops.
  if (metadata?.issuer !== issuer && metadata?.issuer !== `${issuer}/`)
    throw unavailable(
      'the identity provider calls itself by another name: BELFRY_OIDC_ISSUER must be exactly that',
    );
  requireEndpoints(metadata, issuer);
  return metadata;
}

async function readMetadata(outbound: Outbound, issuer: string): Promise<Metadata | undefined> {
  const url = `${issuer.replace(/\/$/, '')}/.well-known/openid-configuration`;
  return (JSON.parse(await request(outbound, { url })) as Metadata | null) ?? undefined;
}

/** The person's verified claims. @throws Error when a token or an answer violates OpenID Connect. */
export async function exchange(
  outbound: Outbound,
  { clientId, clientSecret }: OidcSettings,
  metadata: Metadata,
  { code, redirectUri, verifier, nonce }: SignInCode,
): Promise<Claims> {
  const form = new URLSearchParams({
    grant_type: 'authorization_code',
    code,
    redirect_uri: redirectUri,
    code_verifier: verifier,
  });
  const headers: Record<string, string> = {
    ...{ accept: 'application/json', 'content-type': 'application/x-www-form-urlencoded' },
  };
  const inBody = metadata.token_endpoint_auth_methods_supported?.includes('client_secret_post');
  if (clientSecret !== undefined && !inBody)
    headers.authorization = `Basic ${Buffer.from([clientId, clientSecret].map(encodeURIComponent).join(':')).toString('base64')}`;
  else {
    form.set('client_id', clientId);
    if (clientSecret !== undefined) form.set('client_secret', clientSecret);
  }
  const tokens = await getJson(outbound, {
    ...{ url: metadata.token_endpoint, method: 'POST' },
    ...{ headers, body: form.toString() },
  });
  const { createRemoteJWKSet, customFetch, jwtVerify } = await import('jose');
  const { payload } = await jwtVerify(
    String(tokens.id_token),
    createRemoteJWKSet(new URL(metadata.jwks_uri), { [customFetch]: fetchKeysBy(outbound) }),
    {
      issuer: metadata.issuer,
      audience: clientId,
      algorithms: signatures,
      requiredClaims: ['sub', 'exp', 'iat'],
      clockTolerance: 30,
    },
  );
  if (payload.nonce !== nonce) throw new Error('the ID token is not of this sign-in: its nonce differs');
  // A token for several audiences must say to which of them it was issued.
  const issuedTo =
    payload.azp ?? (Array.isArray(payload.aud) && payload.aud.length > 1 ? undefined : clientId);
  if (issuedTo !== clientId) throw new Error('the ID token was issued to another client');
  const { userinfo_endpoint } = metadata;
  if (payload.email !== undefined || userinfo_endpoint === undefined) return claimsOf(payload);
  const info = await getJson(outbound, {
    url: userinfo_endpoint,
    headers: { authorization: `Bearer ${String(tokens.access_token)}` },
  });
  if (info.sub !== payload.sub)
    throw new Error('user info and ID token of the provider name different persons');
  return claimsOf(info);
}

const getJson = async (outbound: Outbound, what: OutboundRequest) =>
  JSON.parse(await request(outbound, what)) as Record<string, unknown>;

/** @throws Error when the answer is no success, or has more than {@link mostBytes}. */
async function request(outbound: Outbound, what: OutboundRequest): Promise<string> {
  const { status, body } = await outbound.request(what, answered);
  if (status < 200 || status >= 300) throw new Error(`${what.url} answered ${status}`);
  if (Buffer.byteLength(body) > mostBytes)
    throw new Error(`${what.url} answered with more than ${mostBytes} bytes`);
  return body;
}

/** The `fetch` with which the library for ID tokens reads the provider's keys. */
const fetchKeysBy =
  (outbound: Outbound) =>
  async (url: string): Promise<Response> =>
    new Response(await request(outbound, { url }));

/** An email address counts as verified only if `email_verified` is `true`. It is converted to Belfry's own form. */
function claimsOf({ sub, email, email_verified, name }: Record<string, unknown>): Claims {
  return {
    sub: String(sub),
    email: findEmail(String(email ?? '')),
    verified: email_verified === true,
    name: typeof name === 'string' ? name : undefined,
  };
}

/** Signing in with an identity provider: OpenID Connect, code flow with PKCE. */

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
