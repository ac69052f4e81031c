import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { expectError, hold, IntakeDesk } from '../support/intake.ts';
import { RawConnection, rawRequest } from '../support/raw-http.ts';

let desk: IntakeDesk;
beforeAll(async () => {
  desk = await IntakeDesk.open({ BELFRY_RATE_AUTH: 'off', BELFRY_RATE_TENANT: 'off' });
});
afterAll(async () => {
  await desk.accepted({ json: { title: 'still', message: 'here' } });
  await desk.close();
});

const bearer = () => `Authorization: Bearer ${desk.token}\r\n`;
const fields = 'X-Title: T\r\nX-Message: M\r\n';
const close = 'Connection: close\r\n';

/** Sends the bytes and expects one refusal with one of these statuses; gives its text. */
async function refused(bytes: string | Buffer, ...statuses: number[]): Promise<string> {
  const answers = await hold(desk, bytes);
  expect(answers).toHaveLength(1);
  return expectError(answers[0] ?? { status: 0, body: '' }, ...statuses);
}

describe('headers beyond measure', () => {
  it('64 KiB together are a 431, in one header or in many', async () => {
    await refused(`POST /api/notify HTTP/1.1\r\nHost: x\r\nX-Message: ${'m'.repeat(70_000)}\r\n\r\n`, 431);
    await refused(
      `POST /api/notify HTTP/1.1\r\nHost: x\r\n${`X-Y: ${'m'.repeat(900)}\r\n`.repeat(80)}\r\n`,
      431,
    );
    await refused(`POST /api/notify HTTP/1.1\r\nHost: x\r\n${'m'.repeat(70_000)}: x\r\n\r\n`, 431);
  });

  it('a client that goes on sending gets the error, too', async () => {
    for (let i = 0; i < 5; i++) {
      await refused(
        `POST /api/notify HTTP/1.1\r\nHost: x\r\nX-Message: ${'m'.repeat(1_000_000)}\r\n\r\n`,
        431,
      );
    }
  });

  it('1,500 of them are a 431, not a 401 for the token that was among the last', async () => {
    const many = Array.from({ length: 1_500 }, (_, i) => `X-${i}: x\r\n`).join('');
    const text = await refused(
      `POST /api/notify HTTP/1.1\r\nHost: x\r\n${many}${bearer()}${fields}\r\n`,
      431,
    );
    expect(text).toMatch(/at most 100 headers/);
  });

  it('100 of them are taken, 101 are a 431', async () => {
    const filled = (count: number) => 'A: b\r\n'.repeat(count);
    const head = `POST /api/notify HTTP/1.1\r\nHost: x\r\n${bearer()}${fields}${close}Content-Length: 0\r\n`;
    const own = head.split('\r\n').length - 2;
    const [answer] = await hold(desk, `${head}${filled(100 - own)}\r\n`);
    expect(answer?.status).toBe(200);
    await refused(`${head}${filled(101 - own)}\r\n`, 431);
  });
});

describe('a head that is no head', () => {
  it.each([
    ['HTTP/0.9', 'GET /\r\n\r\n'],
    ['the preface of HTTP/2', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'],
    ['HTTP/2 in the line', 'GET / HTTP/2.0\r\nHost: x\r\n\r\n'],
    ['HTTP/1.10', 'GET / HTTP/1.10\r\nHost: x\r\n\r\n'],
    ['no version', 'GET / \r\nHost: x\r\n\r\n'],
    ['another protocol', 'GET / ICY/1.1\r\nHost: x\r\n\r\n'],
    ['TLS', Buffer.from('160301020001000001fc0303', 'hex').toString('latin1')],
    ['noise', '\u0000\u0001\u0002\u0003\r\n\r\n'],
    ['no method', ' / HTTP/1.1\r\nHost: x\r\n\r\n'],
    ['a method nobody knows', 'BREW /api/notify HTTP/1.1\r\nHost: x\r\n\r\n'],
    ['a method in lower case', 'post /api/notify HTTP/1.1\r\nHost: x\r\n\r\n'],
    ['no path', 'GET HTTP/1.1\r\nHost: x\r\n\r\n'],
    ['a space in the path', 'GET /a b HTTP/1.1\r\nHost: x\r\n\r\n'],
    ['a NUL in the path', 'GET /a\u0000b HTTP/1.1\r\nHost: x\r\n\r\n'],
    ['no Host', 'GET /healthz HTTP/1.1\r\n\r\n'],
    ['a header without a colon', 'GET /healthz HTTP/1.1\r\nHost: x\r\nnonsense\r\n\r\n'],
    ['a header without a name', 'GET /healthz HTTP/1.1\r\nHost: x\r\n: y\r\n\r\n'],
    ['a space before the colon', 'GET /healthz HTTP/1.1\r\nHost: x\r\nX-Y : z\r\n\r\n'],
    ['a NUL in a header', 'GET /healthz HTTP/1.1\r\nHost: x\r\nX-Y: a\u0000b\r\n\r\n'],
    ['a NUL in a header’s name', 'GET /healthz HTTP/1.1\r\nHost: x\r\nX\u0000Y: a\r\n\r\n'],
    ['a bare carriage return in a header', 'GET /healthz HTTP/1.1\r\nHost: x\r\nX-Y: a\rb: c\r\n\r\n'],
    ['a control character in a header', 'GET /healthz HTTP/1.1\r\nHost: x\r\nX-Y: a\u0008b\r\n\r\n'],
    ['a first line that is folded', 'GET /healthz\r\n HTTP/1.1\r\nHost: x\r\n\r\n'],
  ])('%s is a 400', async (_, bytes) => {
    await refused(Buffer.from(bytes, 'latin1'), 400);
  });

  it('an obsolete fold does not smuggle a field in', async () => {
    const answers = await hold(
      desk,
      `POST /api/notify HTTP/1.1\r\nHost: x\r\n${bearer()}X-Message: M\r\nX-Y: a\r\n X-Title: T\r\n${close}\r\n`,
    );
    expectError(answers[0] ?? { status: 0, body: '' }, 400);
  });

  it('bare line feeds end in one answer', async () => {
    const answers = await hold(desk, `POST /api/notify HTTP/1.1\nHost: x\n${bearer()}${fields}${close}\n`);
    expect(answers).toHaveLength(1);
  });

  it('HTTP/1.0 needs no Host and ends the connection', async () => {
    const [answer] = await hold(desk, `POST /api/notify HTTP/1.0\r\n${bearer()}${fields}\r\n`);
    expect(answer?.status).toBe(200);
    expect(answer?.headers.connection).toBe('close');
  });
});

describe('methods', () => {
  it.each(['PROPFIND', 'TRACE', 'SEARCH', 'QUERY', 'M-SEARCH', 'SOURCE', 'LINK', 'PURGE', 'MKCOL'])(
    '%s is known to HTTP and to no route: 404, or 405 with Allow',
    async (method) => {
      await refused(`${method} /nothing HTTP/1.1\r\nHost: x\r\n\r\n`, 404);
      const [answer] = await hold(desk, `${method} /api/notify HTTP/1.1\r\nHost: x\r\n\r\n`);
      expectError(answer ?? { status: 0, body: '' }, 405);
      expect(answer?.headers.allow).toBe('POST');
    },
  );

  it('CONNECT is a 405 with Allow', async () => {
    const [answer] = await hold(desk, 'CONNECT example.org:443 HTTP/1.1\r\nHost: example.org:443\r\n\r\n');
    expectError(answer ?? { status: 0, body: '' }, 405);
    expect(answer?.headers.allow).toBeDefined();
  });

  it('CONNECT and a reset at once is survived, 50 times', async () => {
    for (let i = 0; i < 50; i++) {
      const connection = await RawConnection.open(desk.server.url);
      void connection.write('CONNECT x:1 HTTP/1.1\r\nHost: x\r\n\r\n');
      if (i % 2) await connection.next();
      connection.reset();
      await connection.closed;
    }
  });

  it('OPTIONS * and absolute paths are answered like any request', async () => {
    await refused('OPTIONS * HTTP/1.1\r\nHost: x\r\n\r\n', 404);
    await refused('GET http://elsewhere.example/nothing HTTP/1.1\r\nHost: x\r\n\r\n', 404);
    await refused(
      'POST http://elsewhere.example/api/notify HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n',
      401,
    );
  });
});

describe('paths', () => {
  it.each([
    '/%',
    '/%zz',
    '/api/%c3%28',
    '/%00',
    '/api/notify%00',
    '/%ff',
    '/api/%2e%2e/notify',
    '/..%2f..%2fetc/passwd',
    '/api/notify;x=1',
    '/api/notify%2f',
    '/\\api\\notify',
    '/api/panels/%/events',
    '/docs/%2e%2e/%2e%2e/package.json',
    '/docs/files/..%2f..%2f..%2fpackage.json',
    '/docs/..%2fserver%2fmain.js',
    '/docs/.built',
    '/docs/api/static/..%2f..%2fpackage.json',
  ])('%s is a 400, 401 or 404', async (path) => {
    const [answer] = await hold(desk, `GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`);
    expectError(answer ?? { status: 0, body: '' }, 400, 401, 404);
  });

  it('with a query that no parser takes is the same page as without it', async () => {
    const [answer] = await hold(desk, 'GET /?% HTTP/1.1\r\nHost: x\r\n\r\n');
    expect([200, 404]).toContain(answer?.status);
    if (answer?.status === 404) expectError(answer, 404);
  });

  it('of 8 KiB is a 404, of 70 KiB a 431', async () => {
    await refused(`GET /${'a'.repeat(8_000)} HTTP/1.1\r\nHost: x\r\n\r\n`, 404);
    await refused(`GET /${'a'.repeat(70_000)} HTTP/1.1\r\nHost: x\r\n\r\n`, 431);
    await refused(`GET /api/notifications/${'a'.repeat(8_000)} HTTP/1.1\r\nHost: x\r\n${bearer()}\r\n`, 404);
    await refused(`GET /${'a/'.repeat(20_000)} HTTP/1.1\r\nHost: x\r\n\r\n`, 404);
  });
});

describe('asking for something else', () => {
  it.each(['websocket', 'h2c', 'TLS/1.0', ','])('Upgrade: %s is ignored', async (protocol) => {
    const upgrade = `Connection: Upgrade, close\r\nUpgrade: ${protocol}\r\nHTTP2-Settings: AAMAAABkAAQAAP__\r\n`;
    const [answer] = await hold(
      desk,
      `POST /api/notify HTTP/1.1\r\nHost: x\r\n${upgrade}${bearer()}${fields}Content-Length: 0\r\n\r\n`,
    );
    expect(answer?.status).toBe(200);
  });

  it('Expect: 100-continue is met, and the request answered', async () => {
    const headers = [
      ['Authorization', `Bearer ${desk.token}`],
      ['Expect', '100-continue'],
      ['Content-Type', 'application/json'],
    ] as const;
    const connection = await RawConnection.open(desk.server.url);
    await connection.write(rawRequest({ headers, body: '{"title":"T","message":"M"}' }));
    expect((await connection.next(2)).map(({ status }) => status)).toEqual([100, 200]);
    connection.close();
  });

  it('another Expect is a 417', async () => {
    await refused(
      `POST /api/notify HTTP/1.1\r\nHost: x\r\n${bearer()}${fields}Expect: tea\r\nContent-Length: 0\r\n\r\n`,
      417,
    );
  });
});
