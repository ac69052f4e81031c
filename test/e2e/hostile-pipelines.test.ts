import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { expectError, IntakeDesk } from '../support/intake.ts';
import { RawConnection, rawRequest } from '../support/raw-http.ts';

let desk: IntakeDesk;
beforeAll(async () => {
  desk = await IntakeDesk.open({ BELFRY_RATE_AUTH: 'off', BELFRY_RATE_TENANT: 'off' });
});
afterAll(() => desk.close());

const good = (title = 'T') =>
  rawRequest({
    headers: [
      ['Authorization', `Bearer ${desk.token}`],
      ['X-Title', title],
      ['X-Message', 'M'],
    ],
  });
const idOf = ({ body }: { body: string }) => JSON.parse(body).id as string;

/** Writes everything at once and reads `count` answers. */
async function pipeline(count: number, ...parts: (string | Buffer)[]) {
  const connection = await RawConnection.open(desk.server.url);
  await connection.write(Buffer.concat(parts.map((part) => Buffer.from(part as string))));
  const answers = await connection.next(count, 10_000);
  return { answers, connection };
}

describe('requests sent without waiting for answers', () => {
  it('100 at once are answered in order, each with its own', async () => {
    const { answers, connection } = await pipeline(
      100,
      ...Array.from({ length: 100 }, (_, i) => good(`n${i}`)),
    );
    connection.close();
    expect(answers.map(({ status }) => status)).toEqual(Array<number>(100).fill(200));
    const records = await Promise.all(answers.map((answer) => desk.find(idOf(answer))));
    expect(records.map(({ title }) => title)).toEqual(Array.from({ length: 100 }, (_, i) => `n${i}`));
  });

  it('a refused one between good ones is answered in its place, and stops nothing', async () => {
    const before = await desk.head();
    const wrongs = [
      rawRequest({ headers: [['Authorization', `Bearer ${desk.token}`]] }),
      rawRequest({ headers: [['Authorization', 'Bearer nonsense']], body: 'x'.repeat(5_000) }),
      rawRequest({ path: '/nowhere', body: 'x' }),
      rawRequest({ method: 'PUT', body: 'x' }),
    ];
    const { answers, connection } = await pipeline(9, ...wrongs.flatMap((wrong) => [good(), wrong]), good());
    connection.close();
    expect(answers.map(({ status }) => status)).toEqual([200, 400, 200, 401, 200, 404, 200, 405, 200]);
    expect(await desk.head()).toBe(before + 5);
  });

  it.each([
    ['garbage', 'garbage\r\n\r\n', 400],
    ['headers without end', `GET / HTTP/1.1\r\nX: ${'x'.repeat(70_000)}\r\n\r\n`, 431],
    ['CONNECT', 'CONNECT x:1 HTTP/1.1\r\nHost: x\r\n\r\n', 405],
    [
      'a chunk that is none',
      'POST /api/notify HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n',
      400,
    ],
  ])('%s behind a good one does not take its answer', async (_, bytes, status) => {
    for (let i = 0; i < 10; i++) {
      const before = await desk.head();
      const { answers, connection } = await pipeline(4, good(), good(), bytes);
      await connection.all();
      expect(answers.slice(0, 2).map((answer) => answer.status)).toEqual([200, 200]);
      const rest = answers.slice(2);
      expect(rest.length).toBeGreaterThan(0);
      // What is wrong behind a request without a token may be told after its 401.
      for (const answer of rest) expectError(answer, status, 401);
      expect(await desk.head()).toBe(before + 2);
    }
  });

  it('the rest of a body too large is not taken for requests, and ends the connection', async () => {
    const before = await desk.head();
    const body = Buffer.concat(Array.from({ length: 500 }, () => good()));
    const headers = [
      ['Authorization', `Bearer ${desk.token}`],
      ['Content-Type', 'application/json'],
    ] as const;
    const { answers, connection } = await pipeline(2, rawRequest({ headers, body }));
    expect(answers).toHaveLength(1);
    expectError(answers[0] ?? { status: 0, body: '' }, 413);
    expect(connection.isClosed).toBe(true);
    expect(await desk.head()).toBe(before);
  });

  it('byte by byte make the same requests', async () => {
    const before = await desk.head();
    const connection = await RawConnection.open(desk.server.url);
    for (const byte of Buffer.concat([good('a'), good('b')])) await connection.write(Buffer.of(byte));
    const answers = await connection.next(2);
    connection.close();
    expect(answers.map(({ status }) => status)).toEqual([200, 200]);
    expect(await desk.head()).toBe(before + 2);
  });

  it('200 connections that say nothing, or half a line, keep nobody out', async () => {
    const idle = await Promise.all(Array.from({ length: 200 }, () => RawConnection.open(desk.server.url)));
    await Promise.all(idle.map((connection, i) => (i % 2 ? connection.write('POST /api/no') : undefined)));
    await desk.accepted({ json: { title: 'T', message: 'M' } });
    for (const connection of idle) connection.reset();
    await Promise.all(idle.map(({ closed }) => closed));
    await desk.accepted({ json: { title: 'T', message: 'M' } });
  });
});
