import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Cli } from '../support/cli.ts';
import { limitMs } from '../support/patience.ts';
import { exchange } from '../support/raw-http.ts';
import { ServerProcess } from '../support/server-process.ts';
import { openStream } from '../support/sse-client.ts';
import { testStore } from '../support/test-store.ts';

/** The server as a process of its own, so that its logs and files are all there is of it. */
let server: ServerProcess;
let folder: string;
const issued: string[] = [];
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'belfry-secrets-'));
  server = await ServerProcess.start({ folder, env: { BELFRY_LOG_LEVEL: 'trace', BELFRY_DRAIN_MS: '200' } });
});
afterAll(async () => {
  await server.end('SIGKILL');
  rmSync(folder, { recursive: true, force: true });
});

/** In this process, which is another than the server's. */
const belfry = async (...args: string[]) => (await new Cli(folder).ok(args)).trim();
const made = async (...args: string[]) => {
  const text = await belfry(...args);
  issued.push(text);
  return text;
};
const newToken = (...options: string[]) => made('token', 'create', '--name', 'secret-keeper', ...options);
const idOf = (text: string) => text.split('_')[1] as string;

function call(method: string, path: string, credential: string, json?: unknown): Promise<Response> {
  return fetch(server.url + path, {
    method,
    headers: {
      authorization: `Bearer ${credential}`,
      ...(json !== undefined && { 'content-type': 'application/json' }),
    },
    ...(json !== undefined && { body: JSON.stringify(json) }),
  });
}
const send = async (token: string) =>
  (await call('POST', '/api/notify', token, { title: 'T', message: 'M' })).status;

describe('a token that another process revokes', () => {
  it('is refused within a second of that, and its stream closed within two', async () => {
    const token = await newToken();
    expect(await send(token)).toBe(200);
    const panel = (await (await call('POST', '/api/panels', token, { name: 'lobby' })).json()) as {
      events: string;
    };
    const stream = await openStream(server.url + panel.events, { authorization: `Bearer ${token}` });
    await stream.next(({ event }) => event === 'ready');
    await belfry('token', 'revoke', idOf(token));
    const revoked = performance.now();
    let status = 200;
    while (status !== 401 && performance.now() - revoked < limitMs(2_000)) status = await send(token);
    expect(performance.now() - revoked).toBeLessThan(limitMs(1_000));
    await stream.ended;
    expect(performance.now() - revoked).toBeLessThan(limitMs(2_000));
  });
});

describe('what was issued', () => {
  it.skipIf(testStore === 'postgres')(
    'is, but for its public id, in no log, no metric, no answer, no database file and no backup',
    async () => {
      const [token = '', narrow = '', key = '', inUrl = ''] = await Promise.all([
        newToken(),
        newToken('--scopes', 'panel'),
        made('key', 'create', '--role', 'admin', '--name', 'deploy'),
        newToken('--scopes', 'notify', '--allow-in-url'),
      ]);
      const answers: string[] = [];
      const note = async (answer: Promise<Response>) => answers.push(await (await answer).text());

      const created = (await (await call('POST', '/api/tokens', key, { name: 'by api' })).json()) as {
        token: string;
      };
      const screen = await paired(key);
      issued.push(created.token, screen.token, screen.secret);

      for (const each of [token, narrow, created.token, screen.token, key, inUrl]) {
        await note(call('POST', '/api/notify', each, { title: 'T', message: 'M' }));
        await note(call('POST', '/api/notify', `${each}x`, {}));
        for (const path of [
          '/gotify/message',
          '/gotify/nothing',
          '/api/notify',
          '/ntfy/t',
          '/api/integrations/slack',
        ])
          await note(fetch(`${server.url}${path}?token=${each}&message=M`, { method: 'POST' }));
        for (const query of ['title=T&message=M', 'title=T', 'title=%E4'])
          await note(fetch(`${server.url}/api/notify/send?${query}&token=${each}`));
        await note(call('POST', '/api/notify', each, { title: 5 }));
        await note(call('GET', `/tenant-metrics?token=${each}`, token));
        await note(call('GET', `/nowhere/${each}`, each));
        await note(call('GET', `/api/notifications/${each}`, each));
        await note(call('GET', `/api/history?q=token:${each}`, 'nonsense'));
        const broken = await exchange(
          server.url,
          `GET /healthz HTTP/1.1\r\nAuthorization: Bearer ${each}\r\nbroken\r\n\r\n`,
        );
        answers.push(...broken.map(({ body }) => body));
      }
      for (const path of ['/api/tokens', '/api/keys', '/api/history']) await note(call('GET', path, key));
      await note(call('GET', '/tenant-metrics', token));
      answers.push(
        await belfry('token', 'list', '--json'),
        await belfry('backup', join(folder, 'copy.backup')),
      );
      const before = filesNow();
      await server.end('SIGTERM');
      const files = [...before, ...filesNow()];
      const texts = [
        ...files,
        { name: 'log', text: server.output },
        { name: 'answers', text: answers.join('\n') },
      ];
      // The looking works: what is public is found.
      for (const name of ['copy.backup', 'answers']) {
        expect(texts.find((each) => each.name === name)?.text).toContain(idOf(token));
      }
      expect(files.some(({ name, text }) => name.startsWith('belfry.db') && text.includes(idOf(token)))).toBe(
        true,
      );
      for (const text of issued) {
        for (const form of formsOf(text)) {
          expect(
            texts.filter((each) => each.text.includes(form)).map(({ name }) => name),
            form,
          ).toEqual([]);
        }
      }
    },
  );
});

const filesNow = () =>
  readdirSync(folder).map((name) => ({ name, text: readFileSync(join(folder, name), 'latin1') }));

/** What gives a secret away: its secret part, as it is or as bytes in another dress. */
function formsOf(text: string): string[] {
  const secret = text.split('_')[2] ?? text;
  const bytes = Buffer.from(secret);
  return [
    secret,
    bytes.toString('base64').replaceAll('=', ''),
    bytes.toString('hex'),
    [...secret].reverse().join(''),
  ];
}

/** A screen that was paired: the token it was handed, and the secret it waited with. */
async function paired(key: string): Promise<{ token: string; secret: string }> {
  const opened = await fetch(`${server.url}/api/pairings`, { method: 'POST' });
  const { code, secret } = (await opened.json()) as { code: string; secret: string };
  await call('POST', `/api/pairings/${code}/approve`, key, { name: 'canteen' });
  const collected = await fetch(`${server.url}/api/pairings/${secret}`);
  return { secret, token: ((await collected.json()) as { token: string }).token };
}
