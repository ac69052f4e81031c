import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { Cli } from '../support/cli.ts';

let cli: Cli;
let url: string;
beforeAll(async () => {
  cli = new Cli();
  ({ url } = await cli.serve());
});
afterAll(() => cli.remove());

const call = async (method: string, path: string, token: string, body?: unknown) => {
  const response = await fetch(url + path, {
    method,
    headers: {
      authorization: `Bearer ${token}`,
      ...(body !== undefined && { 'content-type': 'application/json' }),
    },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  return { status: response.status, text: await response.text() };
};
const notify = (token: string) =>
  call('POST', '/api/notify', token, { title: 'Hello', message: 'It works.', level: 'success' });
const key = async (tenant: string) =>
  (await cli.ok(['key', 'create', '--tenant', tenant, '--role', 'admin', '--name', 'test'])).trim();

/** A panel's stream, which collects what arrives until it is ended by the server, or the test ends. */
async function openPanel(token: string, name: string) {
  const { id } = JSON.parse((await call('POST', '/api/panels', token, { name })).text);
  const ending = new AbortController();
  onTestFinished(() => ending.abort());
  const { body } = await fetch(`${url}/api/panels/${id}/events`, {
    headers: { authorization: `Bearer ${token}` },
    signal: ending.signal,
  });
  const stream = { text: '', hasEnded: false };
  const read = async () => {
    for await (const text of (body as ReadableStream<Uint8Array<ArrayBuffer>>).pipeThrough(
      new TextDecoderStream(),
    ))
      stream.text += text;
  };
  void read()
    .catch(() => undefined)
    .finally(() => {
      stream.hasEnded = true;
    });
  await expect.poll(() => stream.text).toContain('event: ready');
  return { id: id as string, stream };
}

const tenantsListed = async () =>
  JSON.parse(await cli.ok(['tenant', 'list', '--json'])) as readonly Record<string, unknown>[];

test('a tenant is renamed while the server runs: credentials go on, and the server shows the new name within moments', async () => {
  await cli.ok(['tenant', 'create', 'before']);
  const [token, admin] = [await cli.token('--tenant', 'before'), await key('before')];
  expect((await notify(token)).status).toBe(200);
  const { stream } = await openPanel(token, 'wall');
  expect(stream.text).toContain('"tenant":{"name":"before",');
  expect(await cli.run(['tenant', 'rename', 'before', 'after'])).toEqual({
    ...{ code: 0, stdout: 'renamed: before is now after\n', stderr: '' },
  });
  await expect.poll(() => stream.text).toContain('"tenant":{"name":"after","title":"before",');
  expect((await notify(token)).status).toBe(200);
  const { entries } = JSON.parse((await call('GET', '/api/audit?action=tenant.update', admin)).text);
  expect(entries).toMatchObject([
    { by: 'cli', subject: 'before', detail: { before: { name: 'before' }, after: { name: 'after' } } },
  ]);
  expect((await tenantsListed()).map(({ name }) => name)).toEqual(['after', 'default']);
});

test.each([
  [['rename', 'default', 'other'], 1, /the tenant "default" always exists, so it cannot be renamed/],
  [['rename', 'nobody', 'other'], 1, /there is no tenant "nobody"/],
  [['rename', 'taken', 'default'], 1, /there is a tenant "default" already: choose another name/],
  [['rename', 'taken', 'Not A Name'], 2, /lower case letters, digits and "-" only/],
])('tenant %j is refused in one line, and changes nothing', async (args, code, message) => {
  await cli.run(['tenant', 'create', 'taken']);
  const before = await tenantsListed();
  const refused = await cli.run(['tenant', ...args]);
  expect(refused).toMatchObject({ code, stdout: '' });
  expect(refused.stderr).toMatch(/^belfry: [^\n]+\n$/);
  expect(refused.stderr).toMatch(message);
  expect(await tenantsListed()).toEqual(before);
});
