import Fastify from 'fastify';
import { expect, test } from 'vitest';
import { openApiRoutes } from './docs.ts';

test('a reference that could not be made is made for the next who asks', async () => {
  const app = Fastify();
  let calls = 0;
  openApiRoutes(app, { version: '1.2.3' }, () => {
    calls += 1;
    if (calls === 1) throw new Error('too many open files');
    return [];
  });
  const [first, second] = [await app.inject('/openapi.json'), await app.inject('/openapi.json')];
  expect([first.statusCode, second.statusCode]).toEqual([500, 200]);
  expect(second.json().info.version).toBe('1.2.3');
  expect((await app.inject('/docs/api/')).statusCode).toBe(200);
  const initializer = await app.inject('/docs/api/static/swagger-initializer.js');
  expect(initializer.body.match(/^ *url: (.*),$/m)?.[1]).toBe("'/openapi.json'");
  expect(calls).toBe(2);
});
