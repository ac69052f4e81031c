import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { bytesOf, IntakeDesk, uuidv7 } from '../support/intake.ts';
import type { CallOptions } from '../support/server.ts';

let desk: IntakeDesk;
beforeAll(async () => {
  desk = await IntakeDesk.open({ BELFRY_RATE_AUTH: 'off' });
});
afterAll(() => desk.close());

const basic = (text: string) => ({ authorization: `Basic ${Buffer.from(text).toString('base64')}` });
const send = async (method: string, path: string, options: CallOptions) =>
  desk.server.call(method, path, { token: desk.token, ...options });

describe('publishing as to ntfy', () => {
  it.each([
    // curl -d sends a form's type, curl -T none; a body that looks like JSON is a message like any other.
    ['PUT', { 'content-type': 'application/x-www-form-urlencoded' }, 'a=b&c'],
    ['POST', { 'content-type': 'application/octet-stream' }, 'Backup done'],
    ['POST', { 'content-type': 'application/json' }, '{"a":1}'],
    ['POST', { 'content-type': 'text' }, 'a type that is none'],
  ])('takes any text as the message: %s %j', async (method, headers, body) => {
    const path = '/ntfy/backups?priority=high';
    const { status, json } = await send(method, path, {
      body,
      headers: { ...headers, Title: bytesOf('Žlutý') },
    });
    expect([status, json]).toEqual([
      200,
      {
        id: expect.stringMatching(uuidv7),
        time: expect.any(Number),
        event: 'message',
        topic: 'backups',
        title: 'Žlutý',
        message: body,
      },
    ]);
    expect(await desk.find(json.id)).toMatchObject({ message: body, level: 'warning', host: 'backups' });
  });

  it('takes JSON at its root, with the slash and without it', async () => {
    const body = JSON.stringify({ topic: 'mytopic', title: 'Low disk', message: '5.1 GB', priority: 4 });
    for (const path of ['/ntfy', '/ntfy/']) {
      const type = path === '/ntfy' ? 'application/x-www-form-urlencoded' : 'application/octet-stream';
      const headers = { 'content-type': type };
      const { status, json } = await send('POST', path, { body, headers });
      expect([path, status, json.topic]).toEqual([path, 200, 'mytopic']);
      expect(await desk.find(json.id)).toMatchObject({
        title: 'Low disk',
        host: 'mytopic',
        level: 'warning',
      });
    }
  });

  it('takes the token as ntfy takes its own, but not from the URL', async () => {
    const { token, server } = desk;
    const auth = Buffer.from(`Bearer ${token}`).toString('base64url');
    const publish = (query: string, headers: Record<string, string>) =>
      server.call('POST', `/ntfy/t${query}`, { body: 'x', headers });
    for (const headers of [basic(`:${token}`), basic(`phil:${token}`), { authorization: `Bearer ${token}` }])
      expect((await publish('', headers)).status).toBe(200);
    expect((await publish(`?auth=${auth}`, {})).status).toBe(401);
  });

  it('refuses what it cannot do, and stores nothing', async () => {
    const head = await desk.head();
    const refused: [method: string, path: string, options: CallOptions, status: number][] = [
      ['POST', '/ntfy/t', { body: 'x', headers: { delay: '30min' } }, 400],
      ['POST', '/ntfy/t', { body: 'x', headers: { priority: '9' } }, 400],
      ['POST', '/ntfy/a%20b', { body: 'x' }, 400],
      ['PUT', '/ntfy/t', { body: Buffer.from([0xff, 0xd8]), headers: { filename: 'a.jpg' } }, 400],
      ['PUT', '/ntfy/t', { body: Buffer.alloc(70_000) }, 413],
      ['PUT', '/ntfy/t', { body: 'x', headers: { 'content-encoding': 'gzip' } }, 415],
      ['POST', '/ntfy', { json: { message: 'no topic' } }, 400],
      ['POST', '/ntfy', { json: [] }, 400],
      ['POST', '/ntfy', {}, 400],
      ['GET', '/ntfy/t', {}, 405],
      ['POST', '/ntfy/t/x', { body: 'x' }, 404],
    ];
    for (const [method, path, options, status] of refused) {
      const answer = await send(method, path, options);
      expect([method, path, answer.status, answer.json]).toEqual([
        method,
        path,
        status,
        { error: expect.any(String) },
      ]);
    }
    expect(await desk.head()).toBe(head);
  });
});

describe('sending as to Gotify', () => {
  it.each([
    ['JSON', { json: { title: 'my title', message: 'my message', priority: 5 } }],
    [
      'a form',
      {
        body: 'title=my+title&message=my+message&priority=5',
        headers: { 'content-type': 'application/x-www-form-urlencoded' },
      },
    ],
    [
      'a multipart form, as of curl -F',
      {
        body: ['title', 'message', 'priority']
          .map(
            (name, i) =>
              `--b\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${['my title', 'my message', '5'][i]}\r\n`,
          )
          .concat('--b--\r\n')
          .join(''),
        headers: { 'content-type': 'multipart/form-data; boundary=b' },
      },
    ],
  ])('takes %s, with the token in X-Gotify-Key', async (_, options: CallOptions) => {
    const headers = { ...options.headers, 'x-gotify-key': desk.token };
    const { status, json } = await desk.server.call('POST', '/gotify/message', { ...options, headers });
    expect([status, json]).toEqual([
      200,
      {
        id: expect.any(Number),
        appid: 0,
        title: 'my title',
        message: 'my message',
        priority: 5,
        date: expect.any(String),
        extras: { belfry: { id: expect.any(String) } },
      },
    ]);
    expect(Number.isSafeInteger(json.id)).toBe(true);
    expect(await desk.find(json.extras.belfry.id)).toMatchObject({ title: 'my title', level: 'warning' });
  });

  it('refuses what is none, stores nothing, and does not take the token from the URL', async () => {
    const head = await desk.head();
    const message = { message: 'm' };
    expect(
      (await desk.server.call('POST', `/gotify/message?token=${desk.token}`, { json: message })).status,
    ).toBe(401);
    for (const json of [
      {},
      [],
      { message: '' },
      { ...message, priority: 'high' },
      { ...message, extras: { 'client::notification': 1 } },
    ])
      expect([json, (await send('POST', '/gotify/message', { json })).status]).toEqual([json, 400]);
    expect(
      (await send('POST', '/gotify/message', { body: '<a/>', headers: { 'content-type': 'text/xml' } }))
        .status,
    ).toBe(415);
    expect(await desk.head()).toBe(head);
  });
});
