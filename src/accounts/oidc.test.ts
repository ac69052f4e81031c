import { createHmac, generateKeyPairSync, type KeyObject, sign } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import type { AccountStore } from '#core/people/accounts.ts';
import type { Visit } from '#core/people/sign-in.ts';
import type { Outbound } from '#outbound/outbound.ts';
import { createOidc, exchange } from './oidc.ts';
import type { SignInParts } from './sessions.ts';

const issuer = 'https://id.example.org';
const metadata = {
  issuer,
  authorization_endpoint: `${issuer}/authorize`,
  token_endpoint: `${issuer}/token`,
  jwks_uri: `${issuer}/keys`,
};
const visit = { origin: 'https://belfry.example.org' } as Visit;

/** Where the browser is sent, by a provider that answers this. */
async function way(answer: object): Promise<string> {
  const parts = {
    store: {} as AccountStore,
    sessions: { cookie: () => 'cookie' } as unknown as SignInParts['sessions'],
    pending: { create: async () => 'state' } as unknown as SignInParts['pending'],
    now: Date.now,
  };
  const oidc = createOidc(parts, {
    settings: { issuer, clientId: 'belfry', clientSecret: 'secret', name: 'Example' },
    outbound: {
      request: async () => ({ status: 200, headers: {}, body: JSON.stringify(answer) }),
    } as unknown as Outbound,
    onProblem: () => undefined,
  });
  return (await oidc.providerUrl(visit, 'oidc', '/')).url;
}

test('a provider on https is followed to addresses on https alone', async () => {
  expect(await way(metadata)).toContain(`${issuer}/authorize?`);
  for (const name of ['authorization_endpoint', 'token_endpoint', 'jwks_uri', 'userinfo_endpoint']) {
    const answer = { ...metadata, [name]: 'http://id.example.org/x' };
    await expect(way(answer)).rejects.toMatchObject({ code: 'unavailable' });
  }
});

test('a provider whose discovery document lacks an address is unavailable, and the address is named', async () => {
  for (const name of ['authorization_endpoint', 'token_endpoint', 'jwks_uri'])
    for (const value of [undefined, null, '', 'no URL', 7])
      await expect(way({ ...metadata, [name]: value })).rejects.toMatchObject({
        code: 'unavailable',
        message: expect.stringContaining(`names no usable ${name}`),
      });
  const { issuer: _, ...nameless } = metadata;
  await expect(way(nameless)).rejects.toMatchObject({ code: 'unavailable' });
  await expect(way([])).rejects.toMatchObject({ code: 'unavailable' });
});

describe('an ID token', () => {
  const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const ec = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const ed = generateKeyPairSync('ed25519');
  const settings = { issuer, clientId: 'belfry', clientSecret: 'the secret of the client', name: 'Example' };
  const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');

  /** The claims of a token that is signed so, by a provider with these keys. */
  function claimsOf(alg: string, sign: (signed: Buffer) => Buffer, keys: readonly object[]) {
    const iat = Math.floor(Date.now() / 1000);
    const claims = {
      iss: issuer,
      aud: 'belfry',
      sub: '1',
      iat,
      exp: iat + 60,
      nonce: 'n',
      email: 'a@b.example',
    };
    const signed = `${part({ alg, kid: 'one' })}.${part(claims)}`;
    const token = `${signed}.${sign(Buffer.from(signed)).toString('base64url')}`;
    const outbound = {
      request: async ({ url }: { url: string }) => ({
        status: 200,
        body: JSON.stringify(url === metadata.jwks_uri ? { keys } : { id_token: token }),
      }),
    } as unknown as Outbound;
    const code = { code: 'c', redirectUri: 'https://belfry.example.org/', verifier: 'v', nonce: 'n' };
    return exchange(outbound, settings, metadata, code);
  }

  const jwk = (key: KeyObject) => ({ ...key.export({ format: 'jwk' }), kid: 'one' });
  const hmac = (secret: string | Buffer) => (signed: Buffer) =>
    createHmac('sha256', secret).update(signed).digest();

  test.each([
    ['RS256', rsa.publicKey, (signed: Buffer) => sign('sha256', signed, rsa.privateKey)],
    [
      'ES256',
      ec.publicKey,
      (signed: Buffer) => sign('sha256', signed, { key: ec.privateKey, dsaEncoding: 'ieee-p1363' }),
    ],
    ['EdDSA', ed.publicKey, (signed: Buffer) => sign(null, signed, ed.privateKey)],
  ] as const)('signed by a key of the provider is taken: %s', async (alg, key, signIt) => {
    expect(await claimsOf(alg, signIt, [jwk(key)])).toMatchObject({ sub: '1', email: 'a@b.example' });
  });

  test('without a signature, or signed with what others know, is refused by its algorithm alone', async () => {
    const pem = rsa.publicKey.export({ type: 'spki', format: 'pem' });
    const secret = { kty: 'oct', k: Buffer.from(settings.clientSecret).toString('base64url'), kid: 'one' };
    const notAllowed = { code: 'ERR_JOSE_ALG_NOT_ALLOWED' };
    for (const keys of [[jwk(rsa.publicKey)], [secret], [jwk(rsa.publicKey), { ...secret, alg: 'HS256' }]]) {
      await expect(claimsOf('none', () => Buffer.alloc(0), keys)).rejects.toMatchObject(notAllowed);
      await expect(claimsOf('HS256', hmac(pem), keys)).rejects.toMatchObject(notAllowed);
      await expect(claimsOf('HS256', hmac(JSON.stringify(keys[0])), keys)).rejects.toMatchObject(notAllowed);
      await expect(claimsOf('HS256', hmac(settings.clientSecret), keys)).rejects.toMatchObject(notAllowed);
    }
  });
});
