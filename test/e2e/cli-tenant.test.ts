import { expect, onTestFinished, test } from 'vitest';
import { openCliServer, signIn } from '../support/cli-server.ts';

const server = openCliServer();
const { cli } = server;

const call = async (method: string, path: string, token: string, body?: unknown) => {
  const response = await fetch(server.url + path, {
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

async function openPanel(token: string, name: string) {
  const { id } = JSON.parse((await call('POST', '/api/panels', token, { name })).text);
  return { id: id as string, stream: await openStream(`/api/panels/${id}/events`, token) };
}

/** A stream, which collects what arrives until it is ended by the server, or the test ends. */
async function openStream(path: string, token: string) {
  const ending = new AbortController();
  onTestFinished(() => ending.abort());
  const { body } = await fetch(server.url + path, {
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
  return stream;
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

/** Reads paths with the session of a person. */
const signedIn = async (email: string, password: string) => {
  const { cookie, status } = await signIn(server.url, email, password);
  expect(status).toBe(200);
  return async (path: string) => {
    const answer = await fetch(server.url + path, { headers: { cookie } });
    return { status: answer.status, text: await answer.text() };
  };
};

test('a suspended tenant is refused everywhere with a 403 that says so, and goes on where it was once it is resumed', async () => {
  await cli.ok(['tenant', 'create', 'paused', '--title', 'Paused Ltd']);
  const [token, admin, neighbour] = [
    await cli.token('--tenant', 'paused'),
    await key('paused'),
    await cli.token(),
  ];
  const password = await cli.ok([
    'user',
    'create',
    '--email',
    'p@example.org',
    '--name',
    'P',
    '--role',
    'owner',
    '--tenant',
    'paused',
  ]);
  const get = await signedIn('p@example.org', password.trim());
  expect((await notify(token)).status).toBe(200);
  const { id, stream } = await openPanel(token, 'wall');
  const tail = await openStream('/api/history/stream', admin);

  expect(await cli.run(['tenant', 'suspend', 'paused'])).toEqual({
    ...{ code: 0, stdout: 'suspended: paused\n', stderr: '' },
  });
  await expect.poll(() => stream.hasEnded && tail.hasEnded).toBe(true);
  const refused = { status: 403, text: expect.stringContaining('the tenant is suspended') };
  const everywhere = () =>
    Promise.all([
      notify(token),
      call('GET', '/ntfy/alerts/publish?message=hello', token),
      call('POST', '/api/integrations/grafana', token, { alerts: [{ status: 'firing' }] }),
      call('GET', '/tenant-metrics', token),
      call('GET', `/api/panels/${id}/events`, token),
      call('GET', '/api/history', admin),
      call('GET', '/api/history/export', admin),
      call('POST', '/api/tokens', admin, { name: 'another' }),
      get('/api/history'),
      get('/api/tenant'),
    ]);
  expect(await everywhere()).toEqual(Array.from({ length: 10 }, () => refused));
  expect(JSON.parse((await get('/api/session')).text)).toMatchObject({
    tenants: [{ name: 'paused', suspended: true }],
  });
  expect((await notify(neighbour)).status).toBe(200);
  // A token that is wrong is still a 401: only who has a right one learns of the suspension.
  expect((await notify('bfy_wrong')).status).toBe(401);
  expect(await tenantsListed()).toContainEqual(
    expect.objectContaining({ name: 'paused', state: 'suspended' }),
  );
  expect(await cli.ok(['tenant', 'list'])).toMatch(
    /^NAME +TITLE +STATE .*\n(?:.*\n)*paused +Paused Ltd +suspended /,
  );

  expect(await cli.run(['tenant', 'resume', 'paused'])).toEqual({
    ...{ code: 0, stdout: 'resumed: paused\n', stderr: '' },
  });
  await expect.poll(async () => (await notify(token)).status).toBe(200);
  const { entries } = JSON.parse((await call('GET', '/api/audit?action=tenant', admin)).text);
  expect(entries.map(({ action }: { action: string }) => action)).toEqual([
    'tenant.resume',
    'tenant.suspend',
    'tenant.create',
  ]);
});

test('a deleted tenant is gone for everybody within moments, and its name can be given anew at once', async () => {
  await cli.ok(['tenant', 'create', 'old', '--title', 'Old Ltd']);
  const [token, admin] = [await cli.token('--tenant', 'old'), await key('old')];
  const owner = ['--email', 'o@example.org', '--name', 'O', '--role', 'owner', '--tenant', 'old'];
  const get = await signedIn('o@example.org', (await cli.ok(['user', 'create', ...owner])).trim());
  const { stream } = await openPanel(token, 'wall');
  expect((await cli.run(['tenant', 'delete', 'old'])).code).toBe(2);
  expect(await cli.run(['tenant', 'delete', 'old', '--yes'])).toEqual({
    code: 0,
    stdout: 'deleted: old\n',
    stderr: expect.stringContaining('tenant list --deleted'),
  });
  await cli.ok(['tenant', 'create', 'old', '--title', 'New Ltd']);
  await expect.poll(() => stream.hasEnded).toBe(true);
  await expect.poll(async () => (await notify(token)).status).toBe(401);
  expect((await call('GET', '/api/history', admin)).status).toBe(401);
  expect((await get('/api/history')).status).toBe(403);
  expect(JSON.parse((await get('/api/session')).text)).toMatchObject({ tenants: [] });
  expect((await notify(await cli.token('--tenant', 'old'))).status).toBe(200);
  expect(await cli.ok(['tenant', 'list', '--deleted'])).toMatch(
    /^NAME +TITLE +STATE +DELETED +BY\nold +Old Ltd +delet(?:ing|ed) +\S.* cli\n$/,
  );
  // The person may have another tenant, or be deleted too.
  expect(await cli.ok(['user', 'delete', 'o@example.org', '--yes'])).toBe('deleted: o@example.org\n');
});

test.each([
  [['rename', 'default', 'other'], 1, /the tenant "default" always exists, so it cannot be renamed/],
  [['delete', 'default', '--yes'], 1, /the tenant "default" always exists, so it cannot be deleted/],
  [['suspend', 'nobody'], 1, /there is no tenant "nobody"/],
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
