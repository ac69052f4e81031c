import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { Cli } from '#test/support/cli.ts';
import { freePort } from '#test/support/free-port.ts';
import { endServers, ServerProcess } from '#test/support/server-process.ts';
import { credentials } from '#test/support/storage.ts';
import { report } from '../report.ts';

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'belfry-leaks-'));
});
afterAll(async () => {
  await endServers();
  rmSync(folder, { recursive: true, force: true });
});

const password = 'seven brown horses at noon';
const wrongPassword = 'a guess that nobody made yet';
const metricsToken = 'metrics-token-of-the-operator';

/** Everything that opens something, by what it is; of a token its secret part, as the rest is public. */
const secrets = new Map<string, string>();
const note = (what: string, text: string) => secrets.set(what, text.split('_')[2] ?? text);

test('no secret that was issued or tried is in a database, a log line, a metric, a backup, or what a crash leaves', async () => {
  const { token, key } = await credentials(folder);
  note('a token', token);
  note('a key', key);
  const metricsPort = await freePort();
  const server = await ServerProcess.start({
    folder,
    env: {
      BELFRY_LOG_LEVEL: 'trace',
      BELFRY_METRICS_TOKEN: metricsToken,
      BELFRY_METRICS_PORT: String(metricsPort),
      BELFRY_RATE_AUTH: 'off',
    },
  });
  note('the operator’s token', metricsToken);
  const call = async (
    method: string,
    path: string,
    init: { as?: string; json?: unknown; headers?: Record<string, string> } = {},
  ) => {
    const response = await fetch(server.url + path, {
      method,
      headers: {
        ...(init.as !== undefined && { authorization: `Bearer ${init.as}` }),
        ...(init.json !== undefined && { 'content-type': 'application/json' }),
        ...init.headers,
      },
      ...(init.json !== undefined && { body: JSON.stringify(init.json) }),
    });
    const text = await response.text();
    // biome-ignore lint/suspicious/noExplicitAny: a test looks into what came
    const json: any = text.startsWith('{') ? JSON.parse(text) : undefined;
    return { status: response.status, text, json, cookies: response.headers.getSetCookie() };
  };

  // People: the first one by the link of the first start, signing in right and wrong, and their session.
  const [, setUp = ''] = /#([^\s"]+)/.exec(await server.printed(/setup#[^\s"]+[\s"]/)) ?? [];
  const own = { origin: server.url, 'sec-fetch-site': 'same-origin' };
  const account = { email: 'anna@example.org', name: 'Anna', password, tenantTitle: 'Default' };
  const made = await call('POST', '/api/setup', { json: { secret: setUp, ...account }, headers: own });
  expect(made.status).toBe(200);
  const session = made.cookies.find((cookie) => cookie.includes('session_token')) ?? '';
  const [, cookie = ''] = /session_token=([^;]+)/.exec(session) ?? [];
  note('a session', decodeURIComponent(cookie).split('.')[0] ?? '');
  note('a signed session', cookie);
  note('a password', password);
  note('a wrong password', wrongPassword);
  for (const tried of [wrongPassword, password]) {
    const { status } = await call('POST', '/api/session', {
      json: { email: account.email, password: tried },
      headers: own,
    });
    expect(status).toBe(tried === password ? 200 : 401);
  }
  const invited = await call('POST', '/api/invitations', { as: key, json: { role: 'viewer' } });
  const [, invitation = ''] = /#([^"\s]+)/.exec(invited.text) ?? [];
  expect(invitation).not.toBe('');
  note('an invitation', invitation);

  // Tokens and keys made over HTTP, a screen's pairing, and every wrong way to hand a secret in.
  for (const path of ['/api/tokens', '/api/keys']) {
    const json = path === '/api/keys' ? { name: 'x', role: 'viewer' } : { name: 'x' };
    const answer = await call('POST', path, { as: key, json });
    const [text = ''] = /bf[yk]_[0-9A-Za-z_]+/.exec(answer.text) ?? [];
    note(`made at ${path}`, text);
    await call('GET', '/api/history', { as: text });
  }
  const pairing = (await call('POST', '/api/pairings')).json;
  note('a pairing', pairing.secret);
  await call('POST', `/api/pairings/${pairing.code}/approve`, { as: key, json: { name: 'lobby' } });
  const collected = await call('GET', `/api/pairings/${pairing.secret}`);
  note('a screen’s token', /bfy_[0-9A-Za-z_]+/.exec(collected.text)?.[0] ?? '');
  const mistyped = `${token.slice(0, -1)}${token.endsWith('0') ? '1' : '0'}`;
  for (const headers of [
    { authorization: `Bearer ${mistyped}` },
    { authorization: token },
    { authorization: `Basic ${Buffer.from(`x:${token}`).toString('base64')}` },
    { authorization: `Bearer ${token}, Bearer ${key}` },
    { 'x-api-key': token },
    { cookie: `token=${token}; belfry.session_token=${cookie}` },
    { 'belfry-tenant': token, authorization: `Bearer ${key}` },
    { 'last-event-id': key, authorization: `Bearer ${token}` },
  ])
    await call('GET', '/api/history', { headers: headers as unknown as Record<string, string> });
  for (const path of [
    `/api/history?token=${token}`,
    `/api/notify?access_token=${token}`,
    `/api/panels/${token}`,
    `/api/pairings/${key}`,
    `/${token}`,
    `/api/history?q=token:${token}`,
    `/api/session?password=${encodeURIComponent(password)}`,
  ]) {
    await call('GET', path, { as: key });
    await call('POST', path, { as: token, json: {} });
  }
  await call('POST', '/api/notify', { as: token, json: { title: '', secret: key } });
  await call('PUT', '/api/levels/x', { as: key, json: { color: token } });
  await call('POST', '/api/notify', { as: token, json: { title: 'T', message: 'M', host: 'h' } });

  const places = new Map<string, string>();
  places.set('the metrics', (await call('GET', '/metrics', { as: metricsToken })).text);
  places.set('the metrics listener', await (await fetch(`http://127.0.0.1:${metricsPort}/metrics`)).text());
  places.set('a tenant’s metrics', (await call('GET', '/tenant-metrics', { as: token })).text);
  places.set('the audit log', (await call('GET', '/api/audit?limit=200', { as: key })).text);
  places.set('the list of tokens', (await call('GET', '/api/tokens', { as: key })).text);
  places.set('history', (await call('GET', '/api/history', { as: key })).text);
  places.set('the settings as printed', await new Cli(folder).ok(['config']));
  await new Cli(folder).ok(['backup', join(folder, 'backup.db')]);
  // Abort: the ungraceful end that says most.
  await server.end('SIGABRT');
  places.set('what the server printed', server.output.replaceAll(setUp, ''));
  for (const file of readdirSync(folder, { recursive: true, withFileTypes: true })) {
    if (file.isFile()) places.set(file.name, readFileSync(join(file.parentPath, file.name), 'latin1'));
  }
  expect([...places.keys()]).toEqual(expect.arrayContaining(['belfry.db', 'belfry.db-wal', 'backup.db']));
  note('the set-up link', setUp);

  const found: string[] = [];
  for (const [what, secret] of secrets) {
    expect([what, secret.length]).toEqual([what, expect.toSatisfy((length: number) => length >= 10)]);
    const forms = [
      secret,
      Buffer.from(secret).toString('base64').replaceAll('=', ''),
      Buffer.from(secret).toString('hex'),
    ];
    for (const [place, text] of places)
      if (forms.some((form) => text.includes(form))) found.push(`${what} in ${place}`);
  }
  report({
    promise: 'no issued secret in database, log, backup, metric or crash output',
    method:
      'every kind of secret issued and used, right and in every wrong way; all files, metrics and output searched for it, plain, base64 and hex',
    count: `${secrets.size} secrets, ${places.size} places`,
    result: `${found.length} found`,
  });
  // The search itself must be able to find something.
  expect([...places.values()].filter((text) => text.includes('anna@example.org')).length).toBeGreaterThan(1);
  // A pairing's secret is named by whoever asks for it, and a search by whoever searches: neither is kept.
  expect(found).toEqual([]);
});
