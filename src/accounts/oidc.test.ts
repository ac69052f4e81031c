import { expect, test } from 'vitest';
import type { AccountStore } from '#core/people/accounts.ts';
import type { Visit } from '#core/people/sign-in.ts';
import type { Outbound } from '#outbound/outbound.ts';
import { createOidc } from './oidc.ts';
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
