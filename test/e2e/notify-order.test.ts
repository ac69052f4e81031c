import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { mintSecret } from '#core/people/secrets.ts';
import { expectError, IntakeDesk } from '../support/intake.ts';
import { RawConnection, rawRequest } from '../support/raw-http.ts';

let desk: IntakeDesk;
beforeAll(async () => {
  desk = await IntakeDesk.open({ BELFRY_RATE_AUTH: 'off' });
});
afterAll(() => desk.close());

/** Wrong in everything that is looked at after the path, method and token. */
const wrong = {
  body: Buffer.alloc(70_000, 0xff),
  headers: { 'content-type': 'application/xml', 'x-ttl': 'soon', 'content-encoding': 'br' },
};
const wrongJson = { body: '{"title":', headers: { 'content-type': 'application/json' } };

describe('first, method and path', () => {
  it.each(['/api/nothing', '/api/notify/x', '/API/notify'])('POST %s is a 404', async (path) => {
    for (const options of [wrong, wrongJson, {}]) {
      expect((await desk.server.call('POST', path, options)).status).toBe(404);
      expect((await desk.server.call('POST', path, { token: desk.token, ...options })).status).toBe(404);
    }
  });

  it.each(['/api/notify/', '/api//notify', '//api/notify', '//api//notify//?x=1'])(
    'POST %s is a notification: slashes too many do not matter',
    async (path) => {
      const json = { title: 'T', message: 'M' };
      expect((await desk.server.call('POST', path, { token: desk.token, json })).status).toBe(200);
      expect((await desk.server.call('GET', path)).status).toBe(405);
    },
  );

  it('a 404 below a known path names it', async () => {
    const messageAt = async (path: string) => (await desk.server.call('POST', path)).json.error;
    expect(await messageAt('/api/notify/x')).toBe(
      'there is nothing at this path; did you mean /api/notify? /docs/api/ lists all paths',
    );
    expect(await messageAt('/gotify/message/x/y')).toContain('did you mean /gotify/message?');
    expect(await messageAt('/api/integrations/slack/a/b')).toContain('did you mean /api/integrations/slack?');
    expect(await messageAt('/gotify')).toContain('did you mean /gotify/message?');
    expect(await messageAt('/gotify/messages')).toContain('did you mean /gotify/message?');
    expect(await messageAt('/api/integrations/opsgenie/v1/alerts')).toContain(
      'did you mean /api/integrations/opsgenie/v2/alerts?',
    );
    expect(await messageAt('/api/nothing')).not.toContain('did you mean');
  });

  it.each(['GET', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'])(
    '%s /api/notify is a 405 with Allow, whoever asks',
    async (method) => {
      const bodies = method === 'GET' ? [{}] : [{}, wrong, wrongJson];
      for (const options of bodies) {
        const answer = await desk.server.call(method, '/api/notify', options);
        expect(answer.status).toBe(405);
        expect(answer.headers.get('allow')).toBe('POST');
      }
    },
  );

  it('HEAD /api/notify is a 405 with Allow and no body', async () => {
    const connection = await RawConnection.open(desk.server.url);
    await connection.write('HEAD /api/notify HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n');
    await connection.closed;
    expect(connection.unread).toMatch(/^HTTP\/1\.1 405 [\s\S]*\r\nallow: POST\r\n[\s\S]*\r\n\r\n$/i);
  });

  it('a query does not change the path', async () => {
    const { status } = await desk.server.call('POST', '/api/notify?x=1', {
      token: desk.token,
      json: { title: 'T', message: 'M' },
    });
    expect(status).toBe(200);
  });
});

describe('second, the token', () => {
  it.each([
    ['none', undefined],
    ['an empty one', ''],
    ['Bearer alone', 'Bearer'],
    ['Bearer and a space', 'Bearer '],
    ['one of another kind', 'Basic dXNlcjpwYXNz'],
    ['nonsense', 'Bearer nonsense'],
    ['an unknown one', `Bearer ${mintSecret('token').text}`],
    ['two', `Bearer ${mintSecret('token').text} ${mintSecret('token').text}`],
  ])('%s: 401 unauthorized with WWW-Authenticate, whatever else is wrong', async (_, authorization) => {
    for (const options of [wrong, wrongJson, { json: { title: 'T', message: 'M' } }]) {
      const headers = {
        ...('headers' in options && options.headers),
        ...(authorization !== undefined && { authorization }),
      };
      const answer = await desk.server.call('POST', '/api/notify', { ...options, headers });
      expect(answer.status).toBe(401);
      expect(answer.json).toEqual({ error: 'unauthorized' });
      expect(answer.headers.get('www-authenticate')).toBe('Bearer');
    }
  });

  it('an unauthenticated caller is answered before its body was sent', async () => {
    const connection = await RawConnection.open(desk.server.url);
    await connection.write(
      rawRequest({
        headers: [
          ['Content-Length', '60000'],
          ['Content-Type', 'application/json'],
        ],
      }),
    );
    expectError((await connection.next())[0] ?? { status: 0, body: '' }, 401);
    connection.close();
  });
});

describe('third, the scope', () => {
  it('a token without notify: 403 forbidden, whatever else is wrong', async () => {
    const token = await desk.server.token({ scopes: ['panel', 'metrics'] });
    for (const options of [wrong, wrongJson, {}]) {
      const answer = await desk.post({ token, ...options });
      expect(answer.status).toBe(403);
      expect(answer.json).toEqual({ error: 'forbidden' });
    }
  });
});

describe('fourth, the rate', () => {
  it('a token with nothing left: 429, whatever else is wrong', async () => {
    const token = await desk.server.token({ rate: { perSecond: 0.001, burst: 1 } });
    expect((await desk.post({ token, json: { title: 'T', message: 'M' } })).status).toBe(200);
    const critical = { ...wrongJson, headers: { ...wrongJson.headers, 'x-level': 'critical' } };
    for (const options of [wrong, wrongJson, critical, {}, { json: { title: 'T', message: 'M' } }]) {
      const answer = await desk.post({ token, ...options });
      expect(answer.status).toBe(429);
      expect(answer.json).toEqual({ error: 'rate limit exceeded' });
    }
  });
});

describe('fifth, size and type', () => {
  it('a body too large is a 413 before its type or text is looked at', async () => {
    await desk.refused(413, wrong);
  });

  it('a type that is not taken is a 415 before its text is looked at', async () => {
    await desk.refused(415, {
      body: Buffer.from([0xff, 0xfe]),
      headers: { 'content-type': 'application/xml', 'x-ttl': 'soon' },
    });
    await desk.refused(415, {
      body: '{"title":',
      headers: { 'content-type': 'application/json', 'content-encoding': 'gzip' },
    });
  });

  it('a 415 goes before what is wrong in the headers', async () => {
    const reply = await desk.raw({
      headers: [
        ['X-Title', 'a'],
        ['X-Title', 'b'],
        ['Content-Type', 'application/xml'],
      ],
      body: '<a/>',
    });
    expectError(reply, 415);
  });
});

describe('last, the fields', () => {
  it('title is looked at before message, and that before the others', async () => {
    expect(await desk.refused(400, { json: { ttl: 'soon', level: '!', ip: 'x' } })).toBe('title is required');
    expect(await desk.refused(400, { json: { title: 'T', ttl: 'soon', level: '!', ip: 'x' } })).toBe(
      'message is required',
    );
    expect(await desk.refused(400, { json: { title: 'T', message: 'M', ttl: 'soon', level: '!' } })).toMatch(
      /^level /,
    );
  });
});

describe('every refusal', () => {
  it('is JSON with one field, and so is what the parser and the framework refuse', async () => {
    const { token } = desk;
    const requests: [status: number, bytes: string][] = [
      [400, 'nonsense\r\n\r\n'],
      [400, 'POST /api/notify HTTP/1.1\r\n\r\n'],
      [400, `POST /%zz HTTP/1.1\r\nHost: x\r\n\r\n`],
      [404, 'GET /nothing HTTP/1.1\r\nHost: x\r\n\r\n'],
      [405, 'DELETE /api/notify HTTP/1.1\r\nHost: x\r\n\r\n'],
      [401, 'POST /api/notify HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n'],
      [417, `POST /api/notify HTTP/1.1\r\nHost: x\r\nExpect: tea\r\nContent-Length: 0\r\n\r\n`],
      [431, `GET / HTTP/1.1\r\nHost: x\r\nA: ${'a'.repeat(70_000)}\r\n\r\n`],
      [
        400,
        `POST /api/notify HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${token}\r\nContent-Length: 0\r\n\r\n`,
      ],
    ];
    for (const [status, bytes] of requests) {
      const connection = await RawConnection.open(desk.server.url);
      await connection.write(bytes);
      const [answer] = await connection.next();
      expect(answer?.headers['content-type'], bytes.slice(0, 60)).toMatch(/^application\/json/);
      expectError(answer ?? { status: 0, body: '' }, status);
      connection.close();
    }
  });
});
