import { describe, expect, it } from 'vitest';
import { IntakeDesk } from '../support/intake.ts';
import { type Answer, type CallOptions, TestServer } from '../support/server.ts';
import { testStore } from '../support/test-store.ts';

const sent = { title: 'T', message: 'M' };

/** A 503 that says when to come back, in JSON with one field. */
function expectUnavailable({ status, headers, json }: Answer): void {
  expect(status).toBe(503);
  expect(Number(headers.get('retry-after'))).toBeGreaterThanOrEqual(1);
  expect(json).toEqual({ error: expect.stringMatching(/\S/) });
}

describe('last of all, the capacity', () => {
  it('more than may wait for the disk: the rest are 503 with Retry-After, and nothing of them is stored', async () => {
    const desk = await IntakeDesk.open({ BELFRY_INTAKE_QUEUE: '2', BELFRY_RATE_TENANT: 'off' });
    await desk.post({ json: sent });
    const before = await desk.head();
    const answers = await Promise.all(Array.from({ length: 200 }, () => desk.post({ json: sent })));
    const refused = answers.filter(({ status }) => status !== 200);
    expect(refused.length).toBeGreaterThan(0);
    for (const answer of refused) expectUnavailable(answer);
    expect(await desk.head()).toBe(before + answers.length - refused.length);
    // And all is well again once the crowd has gone.
    await desk.accepted({ json: sent });
    await desk.close();
  });

  // PostgreSQL's disk is looked after where that runs.
  it.skipIf(testStore === 'postgres')(
    'too little free space: 503 with Retry-After, behind every other check',
    async () => {
      const before = await TestServer.start();
      const token = await before.token();
      const screen = await before.token({ scopes: ['panel'] });
      const key = await before.key();
      await before.notify(token, sent);
      await before.stop({ keep: true });

      const env = {
        BELFRY_MIN_FREE_BYTES: '1000000GiB',
        BELFRY_RATE_AUTH: 'off',
        BELFRY_LOG_LEVEL: 'silent',
      };
      const server = await TestServer.start(env, before.folder);
      expectUnavailable(await server.notify(token, sent));
      expectUnavailable(await server.notify(token, { ...sent, level: 'critical' }));
      const post = (options: CallOptions) => server.call('POST', '/api/notify', { token, ...options });
      const answers = await Promise.all([
        server.call('PUT', '/api/notify', { json: sent }),
        post({ token: 'nonsense', json: sent }),
        post({ token: screen, json: sent }),
        post({ body: Buffer.alloc(70_000), headers: { 'content-type': 'application/json' } }),
        post({ body: '<a/>', headers: { 'content-type': 'application/xml' } }),
        post({ json: { title: '' } }),
      ]);
      expect(answers.map(({ status }) => status)).toEqual([405, 401, 403, 413, 415, 400]);
      const { json } = await server.call('GET', '/api/history', { token: key });
      expect(json.notifications).toHaveLength(1);
      await server.stop();
    },
  );
});
