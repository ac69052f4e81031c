import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { bytesOf, expectError, IntakeDesk } from '../support/intake.ts';

let desk: IntakeDesk;
beforeAll(async () => {
  desk = await IntakeDesk.open();
});
afterAll(() => desk.close());

const both = { 'x-title': 'T', 'x-message': 'M' };

describe('each header stands for its field', () => {
  it.each([
    ['X-Title', 'Disk full', { title: 'Disk full' }],
    ['X-Message', 'on db-01', { message: 'on db-01' }],
    ['X-Level', ' Critical ', { level: 'critical', rank: 50 }],
    ['X-TTL', '5000', { ttl: 5000 }],
    ['X-TTL', '0', { ttl: 0, expiresAt: null }],
    ['X-TTL', '604800000', { ttl: 604_800_000 }],
    ['X-TTL', '007', { ttl: 7 }],
    ['X-IP', '2001:DB8::0:1', { ip: '2001:db8::1' }],
    ['X-IP', '::ffff:10.0.0.5', { ip: '10.0.0.5' }],
    ['X-Host', 'DB-01', { host: 'DB-01' }],
    ['X-Key', 'disk /dev/sda', { key: 'disk /dev/sda' }],
    [
      'X-Labels',
      'env=prod, site=plant 2, __proto__=',
      { labels: JSON.parse('{"env":"prod","site":"plant 2","__proto__":""}') },
    ],
    ['X-URL', 'https://example.org/?a=b#c', { url: 'https://example.org/?a=b#c' }],
  ])('%s: %s', async (name, value, stored) => {
    expect(await desk.accepted({ headers: { ...both, [name.toLowerCase()]: value } })).toMatchObject(stored);
  });

  it('names are read without regard to case', async () => {
    const reply = await desk.raw({
      headers: [
        ['x-TiTlE', 'T'],
        ['X-MESSAGE', 'M'],
        ['x-host', 'h'],
      ],
    });
    expect(await desk.find(JSON.parse(reply.body).id)).toMatchObject({ title: 'T', message: 'M', host: 'h' });
  });

  it('headers alone are a whole notification: no body, no level, and it is info', async () => {
    expect(await desk.accepted({ headers: both })).toMatchObject({ title: 'T', message: 'M', level: 'info' });
  });

  it('other headers with X- are ignored', async () => {
    expect(
      await desk.accepted({ headers: { ...both, 'x-priority': '5', 'x-sourceip': '1.2.3.4', 'x-id': 'x' } }),
    ).toMatchObject({
      sourceIp: '127.0.0.1',
    });
  });
});

describe('a header’s text', () => {
  it('raw UTF-8 bytes are honoured', async () => {
    const headers = {
      'x-title': bytesOf('Žluťoučký 🔔'),
      'x-message': bytesOf('日本語'),
      'x-host': bytesOf('bücher.example'),
    };
    expect(await desk.accepted({ headers })).toMatchObject({
      title: 'Žluťoučký 🔔',
      message: '日本語',
      host: 'bücher.example',
    });
  });

  it('RFC 2047 encoded words are decoded', async () => {
    const headers = {
      'x-title': '=?UTF-8?B?8J+UlCBCYWNrdXA=?= of =?utf-8?Q?caf=C3=A9?=',
      'x-message': '=?utf-8?Q?one?= =?iso-8859-1?q?_caf=E9?=',
    };
    expect(await desk.accepted({ headers })).toMatchObject({
      title: '🔔 Backup of café',
      message: 'one café',
    });
  });

  it('limits count what was decoded', async () => {
    const title = (count: number) => `=?utf-8?B?${Buffer.from('é'.repeat(count)).toString('base64')}?=`;
    expect(await desk.accepted({ headers: { ...both, 'x-title': title(250) } })).toMatchObject({
      title: 'é'.repeat(250),
    });
    expect(await desk.refused(400, { headers: { ...both, 'x-title': title(251) } })).toMatch(/^title /);
    expect(await desk.refused(400, { headers: { ...both, 'x-host': '=?utf-8?Q?a=0Ab?=' } })).toMatch(
      /^host /,
    );
  });

  it('bytes that are no UTF-8 are Latin-1, in which many libraries send headers', async () => {
    for (const bytes of [[0xe9], [0xff, 0xfe], [0xed, 0xa0, 0x80]]) {
      const title = Buffer.from(bytes);
      const reply = await desk.raw({
        headers: [
          ['X-Title', title],
          ['X-Message', 'M'],
          ['Idempotency-Key', Buffer.from([...bytes, 0x21])],
        ],
      });
      expect(reply.status, reply.body).toBe(200);
      const { id } = JSON.parse(reply.body) as { id: string };
      expect((await desk.find(id)).title).toBe(title.toString('latin1'));
    }
  });

  it.each(['=?utf-8?Q?=FF?=', '=?utf-8?B?/w==?=', '=?klingon?Q?a?='])(
    'an encoded word that cannot be read is a 400: %s',
    async (title) => {
      expect(await desk.refused(400, { headers: { ...both, 'x-title': title } })).toContain('x-title');
    },
  );
});

describe('a refused header', () => {
  it.each([
    ['x-title', ' ', 'title is required'],
    ['x-message', '', 'message is required'],
    ['x-title', 'x'.repeat(251), /^title /],
    ['x-level', '', /^level /],
    ['x-level', 'not ok', /^level /],
    ['x-ip', 'db-01', /^ip /],
    ['x-host', 'a b', /^host /],
    ['x-key', '', /^key /],
    ['x-url', 'example.org', /^url /],
  ])('%s: "%s" is a 400', async (name, value, text) => {
    expect(await desk.refused(400, { headers: { ...both, [name]: value } })).toMatch(text);
  });

  it.each(['5s', '-1', '+5', '5.0', '0x10', '1e3', '', '5 000', '604800001', '99999999999999999999'])(
    'X-TTL is decimal digits within the limit: "%s" is a 400',
    async (ttl) => {
      expect(await desk.refused(400, { headers: { ...both, 'x-ttl': ttl } })).toMatch(
        /^ttl must be a whole number of milliseconds/,
      );
    },
  );

  it.each([
    'X-Title',
    'X-Message',
    'X-Level',
    'X-TTL',
    'X-IP',
    'X-Host',
    'X-Key',
    'X-URL',
    'Idempotency-Key',
  ])('%s given twice is a 400 that names it, even if JSON has the field', async (name) => {
    const before = await desk.head();
    const value =
      name === 'X-TTL' ? '5' : name === 'X-IP' ? '10.0.0.1' : name === 'X-URL' ? 'http://a/' : 'info';
    const headers = [
      [name, value],
      [name.toLowerCase(), value],
      ['Content-Type', 'application/json'],
    ] as const;
    const reply = await desk.raw({
      headers,
      body: '{"title":"T","message":"M","level":"info","ttl":1,"ip":"::1","host":"h","key":"k"}',
    });
    expect(expectError(reply, 400).toLowerCase()).toContain(`${name.toLowerCase()} is given twice`);
    expect(await desk.head()).toBe(before);
  });
});
