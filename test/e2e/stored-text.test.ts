import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { TestServer } from '../support/server.ts';

let server: TestServer;
let key: string;
beforeAll(async () => {
  server = await TestServer.start();
  key = await server.key('owner');
});
afterAll(() => server.stop());

const call = (method: string, path: string, body: string) =>
  server.call(method, path, { token: key, body, headers: { 'content-type': 'application/json' } });
const refused = async (method: string, path: string, body: string) => {
  const answer = await call(method, path, body);
  expect([path, answer.status]).toEqual([path, 400]);
  return answer;
};

const nul = 'must not hold the character U+0000';
const half = 'must be well-formed Unicode: it holds half of a surrogate pair';

describe('a text that cannot be stored', () => {
  it('is refused by every route that takes JSON', async () => {
    const withBody = server.running.routes.filter(
      ({ method, url, schema, policy }) =>
        schema?.body !== undefined &&
        typeof policy === 'object' &&
        'role' in policy &&
        !/^\/api\/(notify|integrations)/.test(url) &&
        ['POST', 'PUT', 'PATCH'].includes(method),
    );
    expect(withBody.length).toBeGreaterThan(20);
    for (const { method, url } of withBody) {
      const path = url.replaceAll(/:[A-Za-z]+/g, 'x');
      expect([url, (await refused(method, path, '{"any":"a\\u0000"}')).json.error]).toEqual([
        url,
        `any ${nul}`,
      ]);
    }
  });

  it.each([
    ['POST', '/api/rules', '{"name":"r\\u0000","then":{"mute":true}}', 'name', nul],
    ['POST', '/api/rules', '{"name":"r\\ud800x","then":{"mute":true}}', 'name', half],
    ['POST', '/api/rules', '{"name":"r\\uDC00","then":{"mute":true}}', 'name', half],
    ['POST', '/api/rules', '{"name":"r","when":{"host":["a","\\u0000"]}}', 'when.host.1', nul],
    ['POST', '/api/panels', '{"name":"p","location":"\\u0000"}', 'location', nul],
    ['POST', '/api/tokens', '{"name":"\\ud83d\\ud83d\\ude00"}', 'name', half],
    ['PUT', '/api/levels/own', '{"icon":"\\u0000"}', 'icon', nul],
    ['POST', '/api/searches', '{"name":"s","q":"\\u0000"}', 'q', nul],
  ])('%s %s %s: the error names the field', async (method, path, body, field, problem) => {
    const answer = await refused(method, path, body);
    expect(answer.json.error).toBe(`${field.replace('.1', '[1]')} ${problem}`);
    expect(answer.headers.get('belfry-error')).toContain(`/${field.replaceAll('.', '/')}`);
  });

  it('is also the name of a field', async () => {
    const { json } = await refused('PUT', '/api/mappings/own', '{"levels":{"\\u0000":"error"}}');
    expect(json.error).toBe(`levels ${nul}, in the name of a field`);
    const inForeignName = await refused('PUT', '/api/mappings/own', '{"levels":{"ä漢 😀":"\\u0000"}}');
    expect(inForeignName.json.error).toBe(`levels.ä漢 😀 ${nul}`);
  });

  it('may lie deep, and deeper than any body may be', async () => {
    const nested = (levels: number) => `{"any":${'['.repeat(levels)}"\\u0000"${']'.repeat(levels)}}`;
    expect((await refused('POST', '/api/rules', nested(90))).json.error).toBe(
      `any${'[0]'.repeat(90)} ${nul}`,
    );
    expect((await refused('POST', '/api/rules', nested(50_000))).json.error).toBe(
      'the body cannot be read: objects and lists are nested more than 100 levels deep',
    );
  });
});

describe('a text that only looks like one', () => {
  it.each([
    ['a pair of surrogates', '\\ud83d\\ude00', '😀'],
    ['a backslash before it', '\\\\u0000', '\\u0000'],
    ['U+FFFD', '\\ufffd', '\ufffd'],
  ])('is stored: %s', async (_, escaped, stored) => {
    const { status, json } = await call('POST', '/api/panels', `{"name":"p ${escaped}"}`);
    expect([status, json.name]).toEqual([201, `p ${stored}`]);
  });
});
