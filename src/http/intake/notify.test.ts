import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { FastifyBaseLogger } from 'fastify';
import { afterEach, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { unavailable } from '#core/errors.ts';
import type { Sender } from '#core/intake/own-sender.ts';
import { eventually } from '#test/support/eventually.ts';
import { RawConnection } from '#test/support/raw-http.ts';
import type { Services } from '../services.ts';
import { IntakeControl } from './intake-control.ts';
import { NotifyHandler } from './notify.ts';
import type { NotifyLimits } from './notify-limits.ts';
import { IntakeGate } from './overload.ts';

const sender = { kind: 'token', tenant: 1, id: 'sender', scopes: ['notify'] } as unknown as Sender;
const head = (length: number) =>
  `POST /api/notify HTTP/1.1\r\nHost: x\r\nX-Title: T\r\nContent-Length: ${length}\r\n\r\n`;
const body = '{"message":"M"}';

describe('what counts as waiting for an answer', () => {
  let now = 0;
  let gate: IntakeGate;
  let server: Server;
  let url: string;
  /** Of notifications that are to be stored; each call stores one. */
  let store: (() => void)[] = [];

  beforeEach(async () => {
    store = [];
    gate = new IntakeGate(() => now);
    const services = {
      intake: { accept: () => new Promise((resolve) => store.push(() => resolve({ id: 'an-id' }))) },
      metrics: { of: () => ({ answeredAfter: () => undefined, rejected: () => undefined }) },
    } as unknown as Services;
    const rates = {
      load: () => undefined,
      refuseAnyLevel: () => undefined,
      take: () => undefined,
      writeHeaders: async () => undefined,
    } as unknown as NotifyLimits;
    const handler = new NotifyHandler(services, new IntakeControl(services, rates, gate), {
      refusalOf: async () => undefined,
      log: {} as FastifyBaseLogger,
    });
    server = createServer((request, response) => {
      // A GET is never answered.
      if (request.method === 'POST') void handler.handle(request, response, sender, '127.0.0.1');
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  });
  afterEach(() => {
    server.closeAllConnections();
    server.close();
  });

  const many = (bytes: string) =>
    Promise.all(
      Array.from({ length: 300 }, async () => {
        const connection = await RawConnection.open(url);
        await connection.write(bytes);
        return connection;
      }),
    );

  it('a slow sender counts from when all of it is here, until its answer is decided', async () => {
    const connections = await many(head(body.length));
    now += 10_000;
    expect(gate.isShut).toBe(false);
    for (const connection of connections) await connection.write(body);
    await eventually(async () => expect(store).toHaveLength(300));
    expect(gate.isShut).toBe(false);
    now += 250;
    expect(gate.isShut).toBe(true);
    for (const one of store) one();
    for (const connection of connections) expect((await connection.next())[0]?.status).toBe(200);
    expect(gate.isShut).toBe(false);
    for (const connection of connections) connection.close();
  });

  it('a slow sender that goes away is forgotten', async () => {
    for (const connection of await many(head(body.length))) connection.reset();
    await eventually(async () => {
      const open = await new Promise<number>((resolve) =>
        server.getConnections((_, count) => resolve(count)),
      );
      expect(open).toBe(0);
    });
    now += 10_000;
    expect(gate.isShut).toBe(false);
    expect(store).toEqual([]);
  });

  it('answers that wait behind one that is not read do not count', async () => {
    const connection = await RawConnection.open(url);
    await connection.write(
      `GET /stuck HTTP/1.1\r\nHost: x\r\n\r\n${`${head(body.length)}${body}`.repeat(300)}`,
    );
    await eventually(async () => expect(store).toHaveLength(300));
    for (const one of store) one();
    await eventually(async () => {
      now += 10_000;
      expect(gate.isShut).toBe(false);
    });
    expect(connection.answers).toEqual([]);
    connection.close();
  });

  it('a refused one does not count', async () => {
    for (const connection of await many(head(0))) {
      expect((await connection.next())[0]?.status).toBe(400);
      connection.close();
    }
    now += 10_000;
    expect(gate.isShut).toBe(false);
  });
});

describe('an answer whose rate limits cannot be read', () => {
  /** Answers one notification while storing it and reading the limits fail so. Returns its answer and the logged errors. */
  async function send(text: string, storing: Error, reading: Error) {
    const logged: unknown[] = [];
    const services = {
      intake: { accept: () => Promise.reject(storing) },
      metrics: { of: () => ({ rejected: () => undefined }) },
    } as unknown as Services;
    const rates = {
      load: () => undefined,
      refuseAnyLevel: () => undefined,
      take: () => undefined,
      writeHeaders: () => Promise.reject(reading),
    } as unknown as NotifyLimits;
    const handler = new NotifyHandler(services, new IntakeControl(services, rates), {
      refusalOf: async () => undefined,
      log: { error: ({ err }: { err: unknown }) => logged.push(err) } as unknown as FastifyBaseLogger,
    });
    const server = createServer((request, response) =>
      handler.handle(request, response, sender, '127.0.0.1'),
    );
    onTestFinished(() => void server.close());
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const connection = await RawConnection.open(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
    await connection.write(head(text.length) + text);
    const answer = await connection.next();
    connection.close();
    return { status: answer[0]?.status, logged };
  }
  const bug = new TypeError('a bug');
  const lost = new Error('the connection to the database is lost');

  it('says what is wrong with the notification, and the log has why the limits are missing', async () => {
    expect(await send('{', bug, lost)).toEqual({ status: 400, logged: [lost] });
  });

  it('is logged with its own error, not only with that of the limits', async () => {
    expect(await send(body, bug, unavailable('the database does not answer'))).toEqual({
      status: 500,
      logged: [bug],
    });
    expect(await send(body, bug, lost)).toEqual({ status: 500, logged: [lost, bug] });
  });
});
