import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { expectError, hold, IntakeDesk } from '../support/intake.ts';
import { RawConnection, rawRequest } from '../support/raw-http.ts';

let desk: IntakeDesk;
beforeAll(async () => {
  desk = await IntakeDesk.open({ BELFRY_RATE_AUTH: 'off', BELFRY_RATE_TENANT: 'off' });
});
afterAll(async () => {
  // Whatever came before, the service still does its work.
  await desk.accepted({ json: { title: 'still', message: 'here' } });
  await desk.close();
});

const json = '{"title":"T","message":"M"}';
const authorization = () => ['Authorization', `Bearer ${desk.token}`] as const;
const jsonType = ['Content-Type', 'application/json'] as const;

/** A request with these framing headers, written as they stand, and this body. */
const framed = (lines: string, body: string) =>
  Buffer.from(
    `POST /api/notify HTTP/1.1\r\nHost: x\r\n${authorization().join(': ')}\r\nContent-Type: application/json\r\n${lines}\r\n\r\n${body}`,
  );
/** What a smuggler would like to have taken for a request of its own. */
const smuggled = () => rawRequest({ headers: [authorization(), jsonType], body: json }).toString();
const chunked = (text: string) => `${text.length.toString(16)}\r\n${text}\r\n0\r\n\r\n`;

async function refused(bytes: Buffer, ...statuses: number[]): Promise<void> {
  const answers = await hold(desk, bytes);
  expect(answers).toHaveLength(1);
  expectError(answers[0] ?? { status: 0, body: '' }, ...statuses);
}

describe('two lengths of one body are refused, and nothing behind them is taken for a request', () => {
  it.each([
    ['Content-Length and Transfer-Encoding', 'Content-Length: 5\r\nTransfer-Encoding: chunked'],
    ['Transfer-Encoding and Content-Length', 'Transfer-Encoding: chunked\r\nContent-Length: 5'],
    ['Content-Length twice, different', 'Content-Length: 5\r\nContent-Length: 27'],
    ['Content-Length twice, the same', 'Content-Length: 27\r\nContent-Length: 27'],
    ['Content-Length as a list', 'Content-Length: 27, 27'],
    ['Content-Length with a sign', 'Content-Length: +27'],
    ['Content-Length below zero', 'Content-Length: -27'],
    ['Content-Length in hex', 'Content-Length: 0x1b'],
    ['Content-Length with a space inside', 'Content-Length: 2 7'],
    ['Content-Length with letters', 'Content-Length: 27abc'],
    ['Content-Length empty', 'Content-Length: '],
    ['Content-Length beyond 64 bits', 'Content-Length: 99999999999999999999999'],
  ])('%s', async (_, lines) => {
    await refused(framed(lines, chunked(json) + smuggled()), 400, 413);
  });
});

describe('Transfer-Encoding in a form that some would read otherwise', () => {
  it.each([
    'Transfer-Encoding: xchunked',
    'Transfer-Encoding: chunked, identity',
    'Transfer-Encoding: identity',
    'Transfer-Encoding: gzip',
    'Transfer-Encoding: chunked, gzip',
    'Transfer-Encoding: chunked\u000b',
    'Transfer-Encoding:\u0000chunked',
    'Transfer-Encoding : chunked',
    'Transfer-Encoding: "chunked"',
    'Transfer-Encoding: chunked;q=1',
    'Transfer-Encoding: chunkedchunked',
    'Transfer-Encoding: ,',
    'Transfer-Encoding: chunked\r\nTransfer-Encoding: identity',
    'Transfer-Encoding: identity\r\nTransfer-Encoding: x',
  ])('%j is refused', async (lines) => {
    await refused(framed(lines, chunked(json)), 400, 415);
  });

  it.each([
    'Transfer-Encoding: gzip, chunked',
    'Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked',
    'X: y\r\n Transfer-Encoding: chunked',
  ])('%j ends in one answer or a refusal, never in two requests', async (lines) => {
    const answers = await hold(desk, framed(`${lines}\r\nConnection: close`, chunked(json) + smuggled()));
    expect(answers).toHaveLength(1);
  });

  it('chunked in any case is chunked', async () => {
    const [answer] = await hold(
      desk,
      framed('tRaNsFeR-eNcOdInG: ChUnKeD\r\nConnection: close', chunked(json)),
    );
    expect(answer?.status).toBe(200);
  });
});

describe('chunks', () => {
  it.each([
    ['a size that is no number', `xyz\r\n${json}\r\n0\r\n\r\n`],
    ['a size below zero', `-1\r\n${json}\r\n0\r\n\r\n`],
    ['a size with 0x', `0x1b\r\n${json}\r\n0\r\n\r\n`],
    ['a size beyond 64 bits', `fffffffffffffffff\r\n${json}`],
    ['an empty size', `\r\n${json}\r\n0\r\n\r\n`],
    ['a size that is too small', `5\r\n${json}\r\n0\r\n\r\n`],
    ['a size that ends in a bare line feed', `1b\n${json}\r\n0\r\n\r\n`],
    ['data without its line end', `1b\r\n${json}0\r\n\r\n`],
    ['a space before the size', ` 1b\r\n${json}\r\n0\r\n\r\n`],
    ['a NUL in the size', `1b\u0000\r\n${json}\r\n0\r\n\r\n`],
    ['a bad trailer', `1b\r\n${json}\r\n0\r\nno colon here\r\n\r\n`],
    ['17 KiB of extensions', `1b;${'x'.repeat(17 * 1024)}\r\n${json}\r\n0\r\n\r\n`],
  ])('with %s are refused', async (_, body) => {
    await refused(framed('Transfer-Encoding: chunked', body), 400, 413);
  });

  it('of one byte each are one body', async () => {
    const body = `${[...json].map((char) => `1\r\n${char}\r\n`).join('')}0\r\n\r\n`;
    const [answer] = await hold(desk, framed('Transfer-Encoding: chunked\r\nConnection: close', body));
    expect(answer?.status).toBe(200);
  });

  it('with fields in the trailer do not give the notification those fields', async () => {
    const body = `d\r\n{"title":"T"}\r\n0\r\nX-Message: M\r\nAuthorization: Bearer x\r\n\r\n`;
    const [answer] = await hold(desk, framed('Transfer-Encoding: chunked', body));
    expect(expectError(answer ?? { status: 0, body: '' }, 400)).toBe('message is required');
  });

  it('more than 64 KiB of empty-handed one-byte chunks are a 413', async () => {
    const body = `${'1\r\n \r\n'.repeat(65_600)}0\r\n\r\n`;
    await refused(framed('Transfer-Encoding: chunked', body), 413);
  });
});

describe('a request that ends early stores nothing', () => {
  const whole = () => rawRequest({ headers: [authorization(), jsonType, ['X-Host', 'h']], body: json });

  it('cut anywhere and then half-closed', async () => {
    const bytes = whole();
    const before = await desk.head();
    const cuts = Array.from({ length: 30 }, (_, i) => Math.floor(((bytes.length - 1) * i) / 30) + 1);
    for (const cut of cuts) {
      const connection = await RawConnection.open(desk.server.url);
      await connection.write(bytes.subarray(0, cut));
      connection.finish();
      for (const answer of await connection.all()) expectError(answer, 400);
    }
    expect(await desk.head()).toBe(before);
  });

  it('cut anywhere and then reset, or closed without a word', async () => {
    const bytes = whole();
    const before = await desk.head();
    for (let cut = 1; cut < bytes.length; cut += 11) {
      const connection = await RawConnection.open(desk.server.url);
      await connection.write(bytes.subarray(0, cut));
      if (cut % 2) connection.reset();
      else connection.close();
      await connection.closed;
    }
    expect(await desk.head()).toBe(before);
  });

  it('with a body shorter than its length', async () => {
    const before = await desk.head();
    const connection = await RawConnection.open(desk.server.url);
    await connection.write(
      rawRequest({ headers: [authorization(), jsonType, ['Content-Length', '500']], body: json }),
    );
    connection.finish();
    for (const answer of await connection.all()) expectError(answer, 400, 408);
    expect(await desk.head()).toBe(before);
  });
});
