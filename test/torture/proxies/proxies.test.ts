import { connect } from 'node:net';
import { expect, test } from 'vitest';
import { limitMs } from '#test/support/patience.ts';
import { RawConnection, rawRequest } from '#test/support/raw-http.ts';
import { openStream, type SseReader } from '#test/support/sse-client.ts';
import { report } from '../report.ts';
import { describeBehind } from './behind.ts';
import { caddy, nginx } from './proxy.ts';

const env = { BELFRY_TRUSTED_PROXIES: '127.0.0.1', BELFRY_HEARTBEAT_MS: '1000' };

/** As deploy/ sets them up. */
describeBehind([nginx, caddy], env, (behind) => {
  const { kind } = behind;
  const send = (title: string) => behind.post('/api/notify', { title, message: 'M', ttl: 0 });
  const panel = async (name: string): Promise<string> => {
    const response = await behind.post('/api/panels', { name });
    return ((await response.json()) as { id: string }).id;
  };
  const stream = async (id: string, cursor?: string): Promise<SseReader> => {
    const reader = await openStream(`${behind.proxy.url}/api/panels/${id}/events`, {
      ...behind.bearer(),
      ...(cursor !== undefined && { 'last-event-id': cursor }),
    });
    await reader.next(({ event }) => event === 'ready');
    return reader;
  };

  test('each event arrives within a second of its sending, and so does each heartbeat', async () => {
    const reader = await stream(await panel('lobby'));
    const waits: number[] = [];
    for (let i = 0; i < 20; i++) {
      const sentAt = performance.now();
      const { id } = (await (await send(`event ${i}`)).json()) as { id: string };
      await reader.next(({ event, data }) => event === 'notification' && data.id === id);
      waits.push(performance.now() - sentAt);
    }
    const beats = () => reader.messages.filter(({ event }) => event === 'heartbeat').length;
    const before = beats();
    await expect.poll(beats, { timeout: limitMs(4_000) }).toBeGreaterThan(before + 1);
    reader.close();
    const slowest = Math.max(...waits);
    report({
      promise: `streams through ${kind.name} arrive unbuffered: an event within 1 s`,
      method: `a real ${kind.name} with the configuration of deploy/, one panel`,
      count: `${waits.length} events`,
      result: `slowest ${slowest.toFixed(0)} ms`,
    });
    expect(slowest).toBeLessThan(limitMs(1_000));
  });

  test('a token in a URL is in no line of its log', async () => {
    const { token } = behind;
    const sent = await fetch(`${behind.proxy.url}/gotify/message?token=${token}`, {
      method: 'POST',
      body: 'message=M',
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
    });
    expect(sent.status).toBe(200);
    // nginx logs each request, Caddy those that failed.
    if (kind.name === 'nginx')
      await expect.poll(behind.proxy.log).toContain('"POST /gotify/message HTTP/1.1" 200');
    expect(behind.proxy.log()).not.toContain(token);
  });

  test('a panel that leaves is missed at once, and resumes where it was', async () => {
    const id = await panel('hall');
    const online = async () => {
      const response = await fetch(`${behind.server.url}/api/panels/${id}`, { headers: behind.bearer() });
      return ((await response.json()) as { online: boolean }).online;
    };
    const first = await stream(id);
    await send('seen');
    const seen = await first.next(({ data }) => data.title === 'seen');
    first.close();
    await expect.poll(online, { timeout: limitMs(5_000) }).toBe(false);
    for (let i = 0; i < 5; i++) await send(`missed ${i}`);
    const second = await stream(id, seen.id);
    await second.next(({ data }) => data.title === 'missed 4');
    const titles = second.messages
      .filter(({ event }) => event === 'notification')
      .map(({ data }) => data.title);
    expect(titles).toEqual([0, 1, 2, 3, 4].map((i) => `missed ${i}`));
    second.close();
  });

  test("the client's address is what is recorded, whatever the client says about it", async () => {
    const lies = [
      [['X-Forwarded-For', '203.0.113.9']],
      [['X-Forwarded-For', '203.0.113.9, 127.0.0.1']],
      [
        ['X-Forwarded-For', '203.0.113.9'],
        ['x-forwarded-for', '203.0.113.10'],
      ],
      [['X-Forwarded-For', 'unknown, "203.0.113.9']],
      [['X-Forwarded-For', '']],
      [['Forwarded', 'for=203.0.113.9']],
      [['Forwarded', 'for="[2001:db8::1]";proto=https, for=127.0.0.1']],
      [['X-Real-IP', '203.0.113.9']],
      [['X-Forwarded-Host', 'evil.example']],
      [['X_Forwarded_For', '203.0.113.9']],
      [['Connection', 'close, X-Forwarded-For']],
      [['Connection', 'X-Forwarded-For, keep-alive']],
    ] as const;
    const recorded: string[] = [];
    for (const [i, headers] of lies.entries()) {
      const title = `lie ${i}`;
      const answer = await fromOtherAddress(
        behind.proxy.port,
        rawRequest({
          headers: [
            ...Object.entries(behind.bearer()),
            ['X-Title', title],
            ['X-Message', 'M'],
            ...(headers as readonly (readonly [string, string])[]),
          ],
        }),
      );
      expect([title, answer]).toEqual([title, expect.stringMatching(/^HTTP\/1\.1 200 /)]);
      const found = (await behind.history()).find((each) => each.title === title);
      recorded.push(found?.sourceIp);
    }
    expect(recorded).toEqual(lies.map(() => '127.0.0.2'));
    report({
      promise: `the client's address through ${kind.name} is right and cannot be forged`,
      method: 'X-Forwarded-For, Forwarded, X-Real-IP and Connection in every form, from another address',
      count: `${lies.length} lies`,
      result: `${recorded.filter((address) => address === '127.0.0.2').length} recorded with the true address`,
    });
  });

  test('a notification in headers of 48 KiB arrives whole; more than there is room for is refused in JSON', async () => {
    const text = 'é'.repeat(16_384);
    const large = (message: string) =>
      rawRequest({
        headers: [
          ...Object.entries(behind.bearer()),
          ['X-Title', 'large'],
          ['X-Message', Buffer.from(message)],
        ],
      });
    const connection = await RawConnection.open(behind.proxy.url);
    await connection.write(large(text));
    expect((await connection.next())[0]?.status).toBe(200);
    expect((await behind.history())[0].message).toBe(text);
    connection.close();
    const beyond = await RawConnection.open(behind.proxy.url);
    await beyond.write(large('m'.repeat(200_000)));
    const [answer] = await beyond.next();
    expect(answer?.status).toBe(431);
    beyond.close();
  });

  test('a server that is gone is a 503 in JSON with Retry-After, and streams come back with it', async () => {
    const id = await panel('attic');
    const reader = await stream(id);
    await send('before');
    const last = await reader.next(({ data }) => data.title === 'before');
    await behind.server.end('SIGTERM');
    await reader.ended;
    const refused = await send('while it is gone');
    expect(refused.status).toBe(503);
    expect(refused.headers.get('retry-after')).toMatch(/^\d+$/);
    expect(Object.keys((await refused.json()) as object)).toEqual(['error']);
    await behind.restart();
    await expect.poll(async () => (await send('after')).status, { timeout: limitMs(15_000) }).toBe(200);
    const again = await stream(id, last.id);
    await again.next(({ data }) => data.title === 'after');
    again.close();
  });
});

/** Sends from 127.0.0.2; answers what came first. */
function fromOtherAddress(port: number, bytes: Buffer): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect({ host: '127.0.0.1', port, localAddress: '127.0.0.2' }, () => socket.write(bytes));
    socket.once('data', (chunk) => {
      socket.destroy();
      resolve(chunk.toString('latin1'));
    });
    socket.once('error', reject);
    socket.once('close', () => reject(new Error('closed without an answer')));
  });
}
