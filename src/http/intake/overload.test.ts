import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { TenantId } from '#core/log/route.ts';
import { RawConnection } from '#test/support/raw-http.ts';
import { guardIntake, IntakeGate, PayloadTurns } from './overload.ts';

describe('the gate of intake', () => {
  let now = 1_000;
  let gate: IntakeGate;
  beforeEach(() => {
    gate = new IntakeGate(() => now);
  });

  const enter = (count: number) => Array.from({ length: count }, () => gate.enter());

  it('lets in a burst of any size, as nobody has waited yet', () => {
    enter(5_000);
    expect(gate.isShut).toBe(false);
  });

  it('refuses once the oldest has waited too long, until it is answered', () => {
    const [first, ...others] = enter(300);
    now += 150;
    enter(1);
    now += 100;
    expect(gate.isShut).toBe(true);
    for (const one of [first, ...others]) if (one) gate.leave(one);
    expect(gate.isShut).toBe(false);
  });

  it('refuses nobody while only a few are under way, however long the disk takes', () => {
    enter(255);
    now += 60_000;
    expect(gate.isShut).toBe(false);
    enter(1);
    expect(gate.isShut).toBe(true);
  });
});

describe('a server whose gate is shut', () => {
  let server: Server;
  let url: string;
  beforeEach(async () => {
    server = createServer((_request, response) => response.end('let through'));
    guardIntake(server, { gate: { isShut: true }, onRefused: () => undefined, take: () => false });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  });
  afterEach(() => server.close());

  const post = (body: string) =>
    `POST /api/notify HTTP/1.1\r\nHost: x\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
  const get = 'GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n';

  it.each([
    ['a short body', 10],
    ['a body of many packets', 400_000],
  ])('refuses at once, and reads no more from that connection for a moment: %s', async (_name, length) => {
    const connection = await RawConnection.open(url);
    const other = await RawConnection.open(url);
    const sentAt = performance.now();
    void connection.write(post('x'.repeat(length)));
    const [first] = await connection.next();
    expect(first).toMatchObject({ status: 503, headers: { 'retry-after': '1' } });
    void connection.write(get);
    void other.write(get);
    const [beside] = await other.next();
    const [, second] = await connection.next(2);
    expect(performance.now() - sentAt).toBeGreaterThan(200);
    expect([beside?.status, second?.status]).toEqual([200, 200]);
    connection.close();
    other.close();
  });

  it.each([
    '/api/notify',
    '/api/notify?x=1',
    '/api/notify#x',
    '/api/%6eotify',
    '/%61pi/notify?x=%20',
    'http://anywhere/api/notify',
  ])('knows a notification by any spelling of its path: %s', async (target) => {
    const connection = await RawConnection.open(url);
    void connection.write(`POST ${target} HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n`);
    expect((await connection.next())[0]?.status).toBe(503);
    connection.close();
  });

  it.each(['/api/notifyx', '/api/notify/1', '/api/%zz', '/api/panels?x=/api/notify', '*'])(
    'lets through what is none: %s',
    async (target) => {
      const connection = await RawConnection.open(url);
      void connection.write(`POST ${target} HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n`);
      expect((await connection.next())[0]?.status).toBe(200);
      connection.close();
    },
  );
});

describe('a server whose gate is open', () => {
  it('hands to its own listeners what intake does not take', async () => {
    const server = createServer((_request, response) => response.end('let through'));
    const taken: (string | undefined)[] = [];
    guardIntake(server, {
      gate: { isShut: false },
      onRefused: () => undefined,
      take(request, response) {
        taken.push(request.url);
        const isKnown = request.headers.authorization !== undefined;
        if (isKnown) response.end('taken');
        return isKnown;
      },
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const connection = await RawConnection.open(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
    const post = (path: string, more = '') =>
      connection.write(`POST ${path} HTTP/1.1\r\nHost: x\r\n${more}Content-Length: 0\r\n\r\n`);
    void post('/api/notify', 'Authorization: x\r\n');
    void post('/api/notify');
    void post('/api/panels', 'Authorization: x\r\n');
    expect((await connection.next(3)).map(({ body }) => body)).toEqual([
      'taken',
      'let through',
      'let through',
    ]);
    expect(taken).toEqual(['/api/notify', '/api/notify']);
    connection.close();
    server.close();
  });
});

it('reads one payload at a time, and those of a tenant with many after those of others', async () => {
  const turns = new PayloadTurns();
  const order: string[] = [];
  let running = 0;
  const read = (tenant: number, name: string) =>
    turns.run(tenant as TenantId, 1_000, async () => {
      expect(++running).toBe(1);
      await Promise.resolve();
      order.push(name);
      running -= 1;
      return undefined;
    });
  await Promise.all([read(1, 'a'), read(1, 'b'), read(1, 'c'), read(2, 'x'), read(3, 'y')]);
  expect(order.indexOf('x')).toBeLessThan(order.indexOf('c'));
  expect(order.indexOf('y')).toBeLessThan(order.indexOf('c'));
  await expect(turns.run(1 as TenantId, 1, () => Promise.reject(new Error('bad')))).rejects.toThrow('bad');
  expect(await turns.run(1 as TenantId, 1, () => 7)).toBe(7);
});

it('refuses a tenant of which too much waits, and no other', async () => {
  const turns = new PayloadTurns();
  const first = Promise.withResolvers<void>();
  const bytes = 9 * 1024 * 1024;
  const waiting = turns.run(1 as TenantId, bytes, () => first.promise);
  await expect(turns.run(1 as TenantId, bytes, () => 1)).rejects.toMatchObject({ code: 'unavailable' });
  const other = turns.run(2 as TenantId, bytes, () => 2);
  first.resolve();
  await waiting;
  expect(await other).toBe(2);
  expect(await turns.run(1 as TenantId, bytes, () => 3)).toBe(3);
});
