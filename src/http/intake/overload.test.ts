import { EventEmitter } from 'node:events';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { RawConnection } from '#test/support/raw-http.ts';
import { guardIntake, IntakeGate } from './overload.ts';

describe('the gate of intake', () => {
  let now = 1_000;
  let gate: IntakeGate;
  beforeEach(() => {
    gate = new IntakeGate(() => now);
  });

  const whole = { headers: {} } as IncomingMessage;
  const enter = (count: number) => Array.from({ length: count }, () => gate.enter(whole));

  /** A request whose body is still to come. */
  class Slow extends EventEmitter {
    readonly headers = { 'content-length': '100' };
    arrive() {
      this.emit('end');
    }
  }
  const slow = (count: number) => Array.from({ length: count }, () => new Slow());
  const enterSlow = (requests: Slow[]) =>
    requests.map((request) => gate.enter(request as unknown as IncomingMessage));

  it('lets in a burst of any size, as nobody has waited yet', () => {
    expect(enter(5_000)).not.toContain(undefined);
  });

  it('refuses once the oldest has waited too long, until it is answered', () => {
    const [first, ...others] = enter(300);
    now += 150;
    const later = gate.enter(whole);
    expect(later).toBeDefined();
    now += 100;
    expect(gate.enter(whole)).toBeUndefined();
    for (const leave of [first, ...others]) leave?.();
    expect(gate.enter(whole)).toBeDefined();
  });

  it('refuses nobody while only a few are under way, however long the disk takes', () => {
    enter(255);
    now += 60_000;
    expect(gate.enter(whole)).toBeDefined();
    expect(gate.enter(whole)).toBeUndefined();
  });

  it('refuses nobody for the sake of senders who take their time', () => {
    enterSlow(slow(1_000));
    now += 10_000;
    expect(enter(200)).not.toContain(undefined);
  });

  it('counts the wait of a slow sender from when all of it is here', () => {
    const requests = slow(300);
    const left = enterSlow(requests);
    now += 10_000;
    expect(gate.enter(whole)).toBeDefined();
    for (const request of requests) request.arrive();
    now += 150;
    expect(gate.enter(whole)).toBeDefined();
    now += 100;
    expect(gate.enter(whole)).toBeUndefined();
    for (const leave of left) leave?.();
    expect(gate.enter(whole)).toBeDefined();
  });

  it('forgets a slow sender that went away', () => {
    const requests = slow(300);
    const left = enterSlow(requests);
    for (const leave of left) leave?.();
    for (const request of requests) request.arrive();
    now += 10_000;
    expect(gate.enter(whole)).toBeDefined();
  });
});

describe('a server whose gate is shut', () => {
  let server: Server;
  let url: string;
  beforeEach(async () => {
    server = createServer((_request, response) => response.end('let through'));
    guardIntake(server, { enter: () => undefined } as unknown as IntakeGate, () => undefined);
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
    void connection.write(post('x'.repeat(length)));
    const [first] = await connection.next();
    expect(first).toMatchObject({ status: 503, headers: { 'retry-after': '1' } });
    const refusedAt = performance.now();
    void connection.write(get);
    void other.write(get);
    const [beside] = await other.next();
    const besideMs = performance.now() - refusedAt;
    const [, second] = await connection.next(2);
    expect(performance.now() - refusedAt).toBeGreaterThan(200);
    expect(besideMs).toBeLessThan(performance.now() - refusedAt);
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
  it('stays open when answers wait behind one that is not read', async () => {
    let now = 0;
    const server = createServer((request, response) => {
      if (request.method === 'POST') response.writeHead(401).end();
      // The other one is never answered.
    });
    guardIntake(server, new IntakeGate(() => now), () => undefined);
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const post = 'POST /api/notify HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n';
    const hostile = await RawConnection.open(url);
    await hostile.write(`GET /stuck HTTP/1.1\r\nHost: x\r\n\r\n${post.repeat(300)}`);
    const other = await RawConnection.open(url);
    void other.write(post);
    expect((await other.next())[0]?.status).toBe(401);
    now += 10_000;
    void other.write(post);
    expect((await other.next(2))[1]?.status).toBe(401);
    hostile.close();
    other.close();
    server.close();
  });
});
