/**
 * The requests to an identity provider: its discovery document, and the exchange of a code for a person's claims (OpenID
 * Connect).
 */
import { unavailable } from '#core/errors.ts';
import { findEmail } from '#core/people/email.ts';
import type { Outbound, OutboundRequest } from '#outbound/outbound.ts';

/** The identity provider that people sign in with. */
export interface OidcSettings {
  readonly issuer: string;
  readonly clientId: string;
  readonly clientSecret: string | undefined;
  /** The name that the sign-in page shows. */
  readonly name: string;
}

const answered = { timeoutMs: 5_000, maxBytes: 1024 * 1024 };

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

export interface Claims {
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
export async function discover(outbound: Outbound, issuer: string): Promise<Metadata> {
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

/** @throws Error when the answer is no success, or too long: the outbound client gives only its beginning. */
async function request(outbound: Outbound, what: OutboundRequest): Promise<string> {
  const { status, body } = await outbound.request(what, answered);
  if (status < 200 || status >= 300) throw new Error(`${what.url} answered ${status}`);
  if (Buffer.byteLength(body) >= answered.maxBytes)
    throw new Error(`${what.url} answered with more than ${answered.maxBytes} bytes`);
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
