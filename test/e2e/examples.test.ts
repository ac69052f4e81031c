/** The examples of docs/clients.md whose languages every machine has, against a server. */
import { execFile } from 'node:child_process';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { TestServer } from '../support/server.ts';
import { root } from '../support/server-process.ts';

const execute = promisify(execFile);
let server: TestServer;
beforeAll(async () => {
  server = await TestServer.start();
});
afterAll(() => server.stop());

test.each([
  ['sh', 'send.sh'],
  ['python3', 'send.py'],
])('%s examples/%s sends, prints the id, and says why it was refused', async (program, file) => {
  const send = (BELFRY_TOKEN: string, title: string) =>
    execute(program, [join(root, 'examples', file), title, 'Straße "1" \\ {x}\nvoll', 'error'], {
      env: { PATH: process.env.PATH, BELFRY_URL: `${server.url}/`, BELFRY_TOKEN },
    });
  const { stdout } = await send(await server.token({ tenant: file }), 'Disk full');
  const id = /[0-9a-f]{8}-[0-9a-f-]{27}/.exec(stdout)?.[0];
  const { json } = await server.call('GET', '/api/history', { token: await server.key('viewer', file) });
  expect(json.notifications).toMatchObject([
    { id, title: 'Disk full', message: 'Straße "1" \\ {x}\nvoll', level: 'error' },
  ]);
  const {
    code,
    stdout: out,
    stderr,
  } = await send('bfy_nobody', 'x').then(
    () => ({ code: 0, stdout: '', stderr: '' }),
    (error: { code: number; stdout: string; stderr: string }) => error,
  );
  expect([code !== 0, out + stderr]).toEqual([true, expect.stringContaining('unauthorized')]);
});

test.each([
  ['sh', 'send.sh'],
  ['python3', 'send.py'],
])(
  '%s examples/%s sends again, with the same key, what a connection lost or the server could not store',
  async (program, file) => {
    const keys = new Set<unknown>();
    let attempts = 0;
    const away = createServer((request, response) => {
      keys.add(request.headers['idempotency-key']);
      attempts++;
      if (attempts === 1) request.socket.destroy();
      else if (attempts === 2) response.writeHead(503, { 'Retry-After': '1' }).end('{"error": "busy"}');
      else response.end('{"ok":true,"id":"an-id"}');
    });
    onTestFinished(() => void away.close());
    await new Promise<void>((resolve) => away.listen(0, '127.0.0.1', resolve));
    const { stdout } = await execute(program, [join(root, 'examples', file), 'Disk full', '91 %'], {
      env: {
        PATH: process.env.PATH,
        BELFRY_URL: `http://127.0.0.1:${(away.address() as AddressInfo).port}`,
        BELFRY_TOKEN: 'x',
      },
    });
    expect([stdout, attempts, keys.size]).toEqual([expect.stringContaining('an-id'), 3, 1]);
  },
);
