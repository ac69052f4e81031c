/** An identity provider on loopback: discovery, code flow with PKCE and nonce, tokens signed by a key of its own. */
import { createHash, generateKeyPairSync, randomBytes, sign } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface Identity {
  readonly sub: string;
  readonly email?: string;
  readonly email_verified?: unknown;
  readonly name?: string;
}

interface Grant {
  readonly identity: Identity;
  readonly challenge: string | null;
  readonly nonce: string | null;
  readonly redirectUri: string;
}

export class OidcProvider {
  readonly clientId = 'belfry';
  readonly clientSecret = randomBytes(16).toString('hex');
  /** The identity of the next sign-in. */
  identity: Identity = { sub: '1' };
  /** Overrides of the next token's claims and signing key, for attacks. */
  claims: Record<string, unknown> = {};
  signWithOther = false;
  /** The path whose answers are correct, and filled up with spaces to this size. */
  padding: { readonly path: string; readonly sizeBytes: number } | undefined;
  /** The path of everything it is asked, in order. */
  readonly asked: string[] = [];
  readonly #server: Server;
  readonly #keys = generateKeyPairSync('rsa', { modulusLength: 2048 });
  readonly #other = generateKeyPairSync('rsa', { modulusLength: 2048 });
  readonly #grants = new Map<string, Grant>();

  private constructor() {
    this.#server = createServer((request, response) => {
      this.#answer(request, response).catch(() => response.writeHead(500).end());
    });
  }

  static async start(port = 0): Promise<OidcProvider> {
    const provider = new OidcProvider();
    await new Promise<void>((resolve) => provider.#server.listen(port, '127.0.0.1', resolve));
    return provider;
  }

  get issuer(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** The settings of a server that uses it. */
  get env(): Record<string, string> {
    return {
      BELFRY_OIDC_ISSUER: this.issuer,
      BELFRY_OIDC_CLIENT_ID: this.clientId,
      BELFRY_OIDC_CLIENT_SECRET: this.clientSecret,
      BELFRY_OIDC_NAME: 'Acme ID',
    };
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  /** The person consents. Returns the URL to which the browser is redirected. */
  async consent(url: string): Promise<string> {
    const response = await fetch(url, { redirect: 'manual' });
    const location = response.headers.get('location');
    if (response.status !== 302 || !location) throw new Error(`the provider answers ${response.status}`);
    return location;
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url ?? '/', this.issuer);
    this.asked.push(url.pathname);
    const sizeBytes = this.padding?.path === url.pathname ? this.padding.sizeBytes : 0;
    // The answers are ASCII.
    const json = (body: unknown, status = 200) =>
      response
        .writeHead(status, { 'content-type': 'application/json' })
        .end(JSON.stringify(body).padEnd(sizeBytes));
    switch (url.pathname) {
      case '/.well-known/openid-configuration':
        return void json({
          issuer: this.issuer,
          authorization_endpoint: `${this.issuer}/authorize`,
          token_endpoint: `${this.issuer}/token`,
          userinfo_endpoint: `${this.issuer}/userinfo`,
          jwks_uri: `${this.issuer}/jwks`,
          id_token_signing_alg_values_supported: ['RS256'],
          response_types_supported: ['code'],
          code_challenge_methods_supported: ['S256'],
        });
      case '/jwks':
        return void json({
          keys: [{ ...this.#keys.publicKey.export({ format: 'jwk' }), kid: 'one', alg: 'RS256', use: 'sig' }],
        });
      case '/authorize':
        return this.#authorize(url.searchParams, response);
      case '/token': {
        const body = await text(request);
        return this.#token(new URLSearchParams(body), request.headers.authorization, json);
      }
      case '/userinfo':
        return void json(this.identity);
      default:
        return void json({ error: 'not_found' }, 404);
    }
  }

  #authorize(query: URLSearchParams, response: ServerResponse): void {
    const [redirectUri, state] = [query.get('redirect_uri') ?? '', query.get('state') ?? ''];
    if (query.get('client_id') !== this.clientId || query.get('response_type') !== 'code')
      return void response.writeHead(400).end();
    const code = randomBytes(16).toString('hex');
    this.#grants.set(code, {
      identity: this.identity,
      challenge: query.get('code_challenge'),
      nonce: query.get('nonce'),
      redirectUri,
    });
    const target = new URL(redirectUri);
    target.searchParams.set('code', code);
    target.searchParams.set('state', state);
    response.writeHead(302, { location: target.href }).end();
  }

  #token(
    body: URLSearchParams,
    authorization: string | undefined,
    json: (body: unknown, status?: number) => unknown,
  ): void {
    const grant = this.#grants.get(body.get('code') ?? '');
    this.#grants.delete(body.get('code') ?? '');
    const basic = Buffer.from(`${this.clientId}:${this.clientSecret}`).toString('base64');
    const isClient = authorization === `Basic ${basic}` || body.get('client_secret') === this.clientSecret;
    const verifier = createHash('sha256')
      .update(body.get('code_verifier') ?? '')
      .digest('base64url');
    if (!grant || !isClient || grant.challenge !== verifier || body.get('redirect_uri') !== grant.redirectUri)
      return void json({ error: 'invalid_grant' }, 400);
    const now = Math.floor(Date.now() / 1000);
    const claims = {
      iss: this.issuer,
      aud: this.clientId,
      iat: now,
      exp: now + 300,
      nonce: grant.nonce,
      ...grant.identity,
      ...this.claims,
    };
    json({ access_token: 'access', token_type: 'Bearer', expires_in: 300, id_token: this.#sign(claims) });
  }

  #sign(claims: object): string {
    const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
    const signed = `${part({ alg: 'RS256', kid: 'one', typ: 'JWT' })}.${part(claims)}`;
    const { privateKey } = this.signWithOther ? this.#other : this.#keys;
    return `${signed}.${sign('sha256', Buffer.from(signed), privateKey).toString('base64url')}`;
  }
}

async function text(request: IncomingMessage): Promise<string> {
  let body = '';
  for await (const chunk of request) body += chunk;
  return body;
}
