import { afterAll, beforeAll, expect, test } from 'vitest';
import { makePerson, password, sessionCookie } from '../support/person.ts';
import { TestServer } from '../support/server.ts';

let server: TestServer;
beforeAll(async () => {
  server = await TestServer.start({ BELFRY_RATE_AUTH: 'off' });
});
afterAll(() => server.stop());

test('a second factor that is begun several times at once is begun, and no answer is an internal error', async () => {
  const person = await makePerson(server, 'viewer');
  const cookie = await sessionCookie(server, person);
  const begin = () =>
    server.call('POST', '/api/account/two-factor', {
      json: { password },
      headers: { cookie, origin: server.url },
    });
  for (let round = 0; round < 3; round++) {
    const answers = await Promise.all(Array.from({ length: 6 }, begin));
    expect(answers.map(({ status }) => status).filter((status) => status !== 200 && status !== 409)).toEqual(
      [],
    );
    expect(answers.some(({ status }) => status === 200)).toBe(true);
  }
});
