import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { text as readText } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { expectError, IntakeDesk } from '../support/intake.ts';
import { RawConnection, rawRequest } from '../support/raw-http.ts';

let desk: IntakeDesk;
beforeAll(async () => {
  desk = await IntakeDesk.open();
});
afterAll(() => desk.close());

const typed = (type: string, body: string | Buffer, headers: Record<string, string> = {}) => ({
  body,
  headers: { ...headers, ...(type !== '' && { 'content-type': type }) },
});
/** As a Buffer, so that fetch adds no type of its own. */
const untyped = (body: string, headers: Record<string, string> = {}) => ({
  body: Buffer.from(body),
  headers,
});
const both = { 'x-title': 'T', 'x-message': 'M' };
const json = '{"title":"Backup","message":"done"}';

describe('the body’s type', () => {
  it.each([
    'application/json',
    'application/json; charset=utf-8',
    'Application/JSON',
    'application/cloudevents+json',
  ])('%s: one JSON object', async (type) => {
    expect(await desk.accepted(typed(type, json))).toMatchObject({ title: 'Backup', message: 'done' });
  });

  it('application/x-www-form-urlencoded: the same names as form fields', async () => {
    const body =
      'title=Disk+full&message=caf%C3%A9+%26+more&level=ERROR&ttl=5000&ip=%3A%3A1&host=h&key=k&url=http%3A%2F%2Fe.org%2F&x=1';
    expect(await desk.accepted(typed('application/x-www-form-urlencoded', body))).toMatchObject({
      title: 'Disk full',
      message: 'café & more',
      level: 'error',
      ttl: 5000,
      ip: '::1',
      host: 'h',
      key: 'k',
      url: 'http://e.org/',
    });
  });

  it('text/plain: the whole body is the message, the rest comes from headers', async () => {
    const record = await desk.accepted(
      typed('text/plain', ' line 1\n\nline 2\n', {
        'x-title': 'Log',
        'x-level': 'warning',
        'x-message': 'no',
      }),
    );
    expect(record).toMatchObject({ title: 'Log', message: ' line 1\n\nline 2\n', level: 'warning' });
  });

  it('a form without a = is plain text, as curl -d sends it', async () => {
    const sent = typed('application/x-www-form-urlencoded', '100 % done & checked', { 'x-title': 'Backup' });
    expect(await desk.accepted(sent)).toMatchObject({ title: 'Backup', message: '100 % done & checked' });
  });

  it('a form without any field is plain text, too: a message may have a =', async () => {
    const form = 'application/x-www-form-urlencoded';
    const sent = typed(form, 'rsync: 97% of /var, exit code=23 & more', { 'x-title': 'Backup' });
    expect(await desk.accepted(sent)).toMatchObject({ message: 'rsync: 97% of /var, exit code=23 & more' });
    const other = typed(form, 'unknown=1', { 'x-title': 'Backup', 'x-message': 'done' });
    expect(await desk.accepted(other)).toMatchObject({ message: 'done' });
    await desk.refused(400, typed(form, 'title=T&text=x'));
  });

  it.each(['text/plain', 'text/plain;charset=UTF-8', 'application/x-www-form-urlencoded'])(
    'a body that starts with { is JSON under %s',
    async (type) => {
      expect(await desk.accepted(typed(type, `\n ${json}`))).toMatchObject({ title: 'Backup' });
    },
  );

  it('a body that starts with { is JSON under no type at all', async () => {
    expect(await desk.accepted(untyped(json))).toMatchObject({ title: 'Backup', message: 'done' });
  });

  it.each([
    'application/json',
    'text/plain',
    'application/xml',
    'multipart/form-data; boundary=x',
    'image/png',
    'nonsense',
    '/',
    ';',
    '*/*',
  ])('an empty body with headers is valid under the type %s', async (type) => {
    const head = [
      ['X-Title', 'T'],
      ['X-Message', 'M'],
      ['Content-Type', type],
    ] as const;
    const reply = await desk.raw({ headers: head });
    expect(reply.status, reply.body).toBe(200);
  });

  it('an empty body with headers is valid without type, length or coding', async () => {
    expect(await desk.accepted({ headers: both })).toMatchObject({ title: 'T', message: 'M' });
    const connection = await RawConnection.open(desk.server.url);
    await connection.write(
      `POST /api/notify HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${desk.token}\r\nX-Title: T\r\nX-Message: M\r\n\r\n`,
    );
    expect((await connection.next())[0]?.status).toBe(200);
    connection.close();
  });

  it('an empty body in chunks is valid with headers', async () => {
    const head = [
      ['X-Title', 'T'],
      ['X-Message', 'M'],
      ['Transfer-Encoding', 'chunked'],
    ] as const;
    expect((await desk.raw({ headers: head, body: '0\r\n\r\n' })).status).toBe(200);
  });

  it.each([
    'application/xml',
    'text/html',
    'multipart/form-data; boundary=x',
    'application/octet-stream',
    'nonsense',
    'application/jsonp',
  ])('anything else non-empty is a 415: %s', async (type) => {
    expect(await desk.refused(415, typed(type, json, both))).toMatch(
      /content type must be application\/json/,
    );
  });

  it('no type, and no { or [, is text', async () => {
    const title = { 'x-title': 'Backup' };
    for (const message of ['title=a', 'hello', '<b>done</b>'])
      expect(await desk.accepted(untyped(message, title))).toMatchObject({ title: 'Backup', message });
    expect(await desk.refused(400, untyped('[]', both))).toMatch('one JSON object');
  });

  it.each(['gzip', 'deflate', 'br', 'identity', 'unheard-of'])(
    'any Content-Encoding is a 415: %s',
    async (encoding) => {
      expect(
        await desk.refused(415, typed('application/json', json, { 'content-encoding': encoding })),
      ).toMatch(/Content-Encoding/);
      await desk.refused(415, { headers: { ...both, 'content-encoding': encoding } });
    },
  );
});

describe('the body’s text', () => {
  it.each(['application/json', 'text/plain', 'application/x-www-form-urlencoded', ''])(
    'one BOM is allowed under "%s"',
    async (type) => {
      const body = Buffer.from(`\ufeff${json}`);
      expect(await desk.accepted(typed(type, body))).toMatchObject({ title: 'Backup', message: 'done' });
    },
  );

  it('a BOM is no part of a text message or of a form’s first name', async () => {
    expect(
      await desk.accepted(typed('text/plain', Buffer.from('\ufeffM'), { 'x-title': 'T' })),
    ).toMatchObject({ message: 'M' });
    const form = typed('application/x-www-form-urlencoded', Buffer.from('\ufefftitle=T&message=M'));
    expect(await desk.accepted(form)).toMatchObject({ title: 'T' });
  });

  it('ill-formed UTF-8 is a 400 under every type', async () => {
    for (const bytes of [[0xff], [0xc3, 0x28], [0xed, 0xa0, 0x80], [0xf5, 0x80, 0x80, 0x80], [0xc0, 0x80]]) {
      const bad = Buffer.from(bytes);
      await desk.refused(
        400,
        typed(
          'application/json',
          Buffer.concat([Buffer.from('{"title":"T","message":"'), bad, Buffer.from('"}')]),
        ),
      );
      await desk.refused(400, typed('text/plain', bad, { 'x-title': 'T' }));
      await desk.refused(
        400,
        typed('application/x-www-form-urlencoded', Buffer.concat([Buffer.from('title=T&message='), bad])),
      );
    }
    await desk.refused(400, typed('application/x-www-form-urlencoded', 'title=T&message=%FF'));
    await desk.refused(400, typed('application/json', Buffer.from(`\ufeff${json}`, 'utf16le')));
  });

  it('U+0000 is a 400 wherever it hides', async () => {
    for (const options of [
      typed('application/json', '{"title":"T","message":"a\\u0000b"}'),
      typed('application/json', '{"title":"T","message":"a\u0000b"}'),
      typed('text/plain', 'a\u0000b', { 'x-title': 'T' }),
      typed('application/x-www-form-urlencoded', 'title=T&message=a%00b'),
      { headers: { 'x-title': '=?utf-8?Q?a=00b?=', 'x-message': 'M' } },
    ]) {
      await desk.refused(400, options);
    }
  });

  it('lone surrogates are a 400, pairs are not', async () => {
    for (const half of ['\\ud83d', '\\udd14', '\\udd14\\ud83d', 'a\\ud83da']) {
      await desk.refused(400, typed('application/json', `{"title":"T","message":"${half}"}`));
      await desk.refused(400, typed('application/json', `{"title":"${half}","message":"M"}`));
    }
    const pair = typed('application/json', '{"title":"T","message":"\\ud83d\\udd14"}');
    expect(await desk.accepted(pair)).toMatchObject({ message: '🔔' });
  });

  it.each(
    ['{', '[]', '"a"', '17', 'null', 'true', '{"title":"T",}', "{'title':'T'}", ' '].map((body) => [body]),
  )('JSON that is not one valid object is a 400: %s', async (body) => {
    expect(await desk.refused(400, typed('application/json', body, both))).toMatch(
      /^the body (is not valid JSON|must be one JSON object)/,
    );
  });

  it.each([
    ['{"title":"T","message":', 'it ends too early'],
    ['hello', 'unexpected text'],
    ['{"title":"T",}', 'a field name in double quotes is expected, and no comma before } at position 13'],
    ["{'title':'T'}", 'a field name in double quotes is expected'],
    ['{"title":"T" "message":"M"}', 'a comma or a closing bracket is missing at position 13'],
    ['{"title":"T","message":"one\ntwo"}', 'a line break or tab in a text must be written as \\\\n or \\\\t'],
    ['{"title":"T","message":"C:\\Users"}', 'a backslash in a text must be written twice'],
    ['{"title":hello}', 'unexpected text'],
    [`'{"title":"T"}'`, 'unexpected text'],
  ])('JSON that ends too early is distinguished from text that is no JSON: %s', async (body, problem) => {
    expect(await desk.refused(400, typed('application/json', body))).toMatch(
      new RegExp(`^the body is not valid JSON: ${problem}`),
    );
  });
});

describe('the body’s size', () => {
  const filled = (bytes: number) => `{"title":"T","message":"M","x":"${'x'.repeat(bytes - 34)}"}`;

  it('64 KiB are taken, one byte more is a 413', async () => {
    const whole = filled(65_536);
    expect(Buffer.byteLength(whole)).toBe(65_536);
    expect(await desk.accepted(typed('application/json', whole))).toMatchObject({ title: 'T' });
    await desk.refused(413, typed('application/json', filled(65_537)));
  });

  it('a message of 16,384 characters fits, however many bytes each takes', async () => {
    const message = '🔔'.repeat(16_380);
    expect((await desk.accepted(typed('text/plain', message, { 'x-title': 'T' }))).message).toBe(message);
  });

  it('a client that is still sending a body too large reads the limit in the answer', async () => {
    for (const framing of ['content-length', 'transfer-encoding']) {
      const body = Buffer.alloc(4 * 1024 * 1024, 'x');
      const sending = request(`${desk.server.url}/api/notify`, {
        method: 'POST',
        headers: {
          authorization: `Bearer ${desk.token}`,
          'content-type': 'application/json',
          ...(framing === 'content-length' ? { [framing]: body.length } : { [framing]: 'chunked' }),
        },
      });
      const sent = new Promise((resolve) => sending.end(body, () => resolve(true)));
      const [response] = (await once(sending, 'response')) as [IncomingMessage];
      expect([framing, response.statusCode, await readText(response)]).toEqual([
        framing,
        413,
        '{"error":"the body is too large: at most 64 KiB"}',
      ]);
      expect(await sent).toBe(true);
    }
  });

  it('by Content-Length, a body too large is refused before a byte of it was sent', async () => {
    const connection = await RawConnection.open(desk.server.url);
    const headers = [
      ['Authorization', `Bearer ${desk.token}`],
      ['Content-Length', '65537'],
      ['Content-Type', 'application/json'],
    ] as const;
    await connection.write(rawRequest({ headers }));
    const [answer] = await connection.next();
    expectError(answer ?? { status: 0, body: '' }, 413);
    expect(answer?.headers.connection).toBe('close');
    await connection.all();
  });

  it('in chunks, a body too large is refused before it was sent in full', async () => {
    const before = await desk.head();
    const connection = await RawConnection.open(desk.server.url);
    const headers = [
      ['Authorization', `Bearer ${desk.token}`],
      ['Transfer-Encoding', 'chunked'],
      ['Content-Type', 'application/json'],
    ] as const;
    await connection.write(rawRequest({ headers }));
    for (let i = 0; i < 65 && connection.answers.length === 0; i++)
      await connection.write(`400\r\n${'x'.repeat(1_024)}\r\n`);
    const [answer] = await connection.next();
    expectError(answer ?? { status: 0, body: '' }, 413);
    connection.close();
    expect(await desk.head()).toBe(before);
  });

  it('a length of many gigabytes is refused at once', async () => {
    for (const length of ['9007199254740993', '18446744073709551615', '99999999999999999999999']) {
      expectError(
        await desk.raw({
          headers: [
            ['Content-Length', length],
            ['Content-Type', 'application/json'],
          ],
        }),
        400,
        413,
      );
    }
  });
});
