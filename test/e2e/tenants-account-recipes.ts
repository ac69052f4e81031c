import { randomInt } from 'node:crypto';
import { password, sessionCookie } from '../support/person.ts';
import type { TestServer } from '../support/server.ts';
import type { Recipe } from './tenants-recipes.ts';
import type { World } from './tenants-world.ts';

const random = () => `x${randomInt(2 ** 40).toString(36)}`;
const none = '01890000-0000-7000-8000-000000000000';

/**
 * How to call the routes of people's accounts. Where success would take the caller's own sign-in away, or something that
 * only a ceremony gives, the recipe is of a call that gets past the policy and is refused behind it.
 */
export function createAccountRecipes(server: TestServer): Record<string, Recipe> {
  const plain = (path: string, json?: (world: World) => unknown): Recipe => ({
    request: (world) => ({ path, ...(json && { json: json(world) }) }),
  });
  const refused = (status: number | number[], path: string, json?: (world: World) => unknown): Recipe => ({
    ...plain(path, json),
    ok: [status].flat(),
  });
  const wrong = () => ({ password: 'not the password' });

  return {
    'GET /api/session': plain('/api/session'),
    'POST /api/session': {
      ...plain('/api/session', () => ({ email: `${random()}@example.org`, password: 'x' })),
      ok: [401],
    },
    'DELETE /api/session': {
      request: async (_, { person, headers }, fresh) => ({
        path: '/api/session',
        ...(fresh && person && { headers: { ...headers, cookie: await sessionCookie(server, person) } }),
      }),
    },
    'POST /api/setup': {
      ...plain('/api/setup', ({ canary }) => ({
        secret: canary,
        email: `${random()}@example.org`,
        name: canary,
        password: 'four plain brown boxes',
        tenantTitle: canary,
      })),
      ok: [409],
    },

    'POST /api/session/two-factor': refused(401, '/api/session/two-factor', () => ({
      code: '000000',
      kind: 'totp',
    })),
    'POST /api/session/passkey/options': plain('/api/session/passkey/options'),
    'POST /api/session/passkey': refused(400, '/api/session/passkey', () => ({ response: { id: none } })),
    'POST /api/session/oidc/:provider': refused(404, '/api/session/oidc/none', () => ({})),
    'GET /api/session/oidc/:provider/callback': refused(404, '/api/session/oidc/none/callback'),
    'PATCH /api/account': plain('/api/account', ({ canary }) => ({ name: canary })),
    'POST /api/account/password': refused(400, '/api/account/password', () => ({
      currentPassword: password,
      newPassword: 'password1234',
    })),
    'GET /api/account/sessions': plain('/api/account/sessions'),
    'DELETE /api/account/sessions': plain('/api/account/sessions'),
    'DELETE /api/account/sessions/:id': refused(404, `/api/account/sessions/${none}`),
    'POST /api/account/two-factor': refused(403, '/api/account/two-factor', wrong),
    'POST /api/account/two-factor/verify': refused(409, '/api/account/two-factor/verify', () => ({
      code: '000000',
    })),
    'DELETE /api/account/two-factor': refused(403, '/api/account/two-factor', wrong),
    'POST /api/account/two-factor/backup-codes': refused(409, '/api/account/two-factor/backup-codes', wrong),
    'GET /api/account/proof': plain('/api/account/proof'),
    'POST /api/account/proof': refused(403, '/api/account/proof', wrong),
    'GET /api/account/passkeys': plain('/api/account/passkeys'),
    'POST /api/account/passkeys/options': plain('/api/account/passkeys/options'),
    'POST /api/account/passkeys': refused(400, '/api/account/passkeys', ({ canary }) => ({
      name: canary,
      response: {},
    })),
    'DELETE /api/account/passkeys/:id': refused(404, `/api/account/passkeys/${none}`),
    'POST /api/invitations/preview': refused(410, '/api/invitations/preview', () => ({ secret: random() })),
    'POST /api/invitations/accept': refused(410, '/api/invitations/accept', () => ({ secret: random() })),
    // Only an owner may.
    'POST /api/tenants': {
      ...plain('/api/tenants', ({ canary }) => ({ name: random(), title: canary })),
      ok: [201, 403],
    },
  };
}
