import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { IntakeDesk } from '../support/intake.ts';

const json = { title: 'T', message: 'M', ip: '10.99.0.1' };

describe('Source IP without trusted proxies', () => {
  let desk: IntakeDesk;
  beforeAll(async () => {
    desk = await IntakeDesk.open();
  });
  afterAll(() => desk.close());

  it.each([
    { 'x-forwarded-for': '198.51.100.7' },
    { forwarded: 'for=198.51.100.7' },
    { 'x-real-ip': '198.51.100.7', 'cf-connecting-ip': '198.51.100.7', 'true-client-ip': '198.51.100.7' },
    { 'x-ip': '198.51.100.7' },
  ])('is the connection’s address, whatever the headers say: %j', async (headers) => {
    expect(await desk.accepted({ json, headers })).toMatchObject({ sourceIp: '127.0.0.1', ip: '10.99.0.1' });
  });

  it('is found by source:, and the sender’s ip by ip:', async () => {
    const { id } = await desk.accepted({ json: { ...json, ip: '192.0.2.77' } });
    const found = async (q: string) => {
      const page = await desk.server.call('GET', `/api/history?q=${encodeURIComponent(q)}`, {
        token: desk.key,
      });
      return page.json.notifications.some((each: { id: string }) => each.id === id);
    };
    expect(await found('source:127.0.0.1')).toBe(true);
    expect(await found('ip:127.0.0.1')).toBe(false);
    expect(await found('ip:192.0.2.77')).toBe(true);
    expect(await found('source:192.0.2.77')).toBe(false);
  });
});

describe('Source IP behind trusted proxies', () => {
  let desk: IntakeDesk;
  beforeAll(async () => {
    desk = await IntakeDesk.open({
      BELFRY_TRUSTED_PROXIES: '127.0.0.1, 10.0.0.0/8, 2001:db8:f::/48',
      BELFRY_RATE_AUTH: '0.01:3',
    });
  });
  afterAll(() => desk.close());

  const sourceOf = async (headers: Record<string, string>) =>
    (await desk.accepted({ json, headers })).sourceIp;

  it.each([
    ['198.51.100.7', '198.51.100.7'],
    ['198.51.100.7, 10.1.1.1', '198.51.100.7'],
    ['1.1.1.1, 198.51.100.7, 10.1.1.1, 2001:db8:f::2', '198.51.100.7'],
    ['127.0.0.1, 198.51.100.7', '198.51.100.7'],
    ['nonsense, "<script>", 198.51.100.7', '198.51.100.7'],
    ['198.51.100.7:52000', '198.51.100.7'],
    ['2001:DB8::5', '2001:db8::5'],
    ['[2001:db8::5]:443', '2001:db8::5'],
    ['::ffff:198.51.100.7', '198.51.100.7'],
    ['10.2.2.2', '10.2.2.2'],
    ['unknown', '127.0.0.1'],
    ['', '127.0.0.1'],
  ])('X-Forwarded-For: %s is %s', async (list, source) => {
    expect(await sourceOf({ 'x-forwarded-for': list })).toBe(source);
  });

  it.each([
    ['for=198.51.100.7', '198.51.100.7'],
    ['for=1.1.1.1, for=198.51.100.7;proto=https, for="[2001:db8:f::9]:80"', '198.51.100.7'],
    ['For="[2001:db8::5]:443";by=10.0.0.1', '2001:db8::5'],
    ['for=_secret', '127.0.0.1'],
  ])('Forwarded: %s is %s', async (forwarded, source) => {
    expect(await sourceOf({ forwarded })).toBe(source);
  });

  it('given on two lines counts as one list', async () => {
    const reply = await desk.raw({
      headers: [
        ['X-Title', 'T'],
        ['X-Message', 'M'],
        ['X-Forwarded-For', '1.1.1.1'],
        ['X-Forwarded-For', '198.51.100.7, 10.1.1.1'],
      ],
    });
    expect((await desk.find(JSON.parse(reply.body).id)).sourceIp).toBe('198.51.100.7');
  });

  it('is what a token’s allow-list is held against', async () => {
    const token = await desk.server.token({ allowFrom: ['198.51.100.0/24'] });
    const from = (list: string) => desk.post({ token, json, headers: { 'x-forwarded-for': list } });
    expect((await from('198.51.100.7')).status).toBe(200);
    expect((await from('203.0.113.7')).status).toBe(401);
    expect((await from('198.51.100.7, 203.0.113.7')).status).toBe(401);
  });

  it('is what failed authentications are counted by', async () => {
    const fail = (list: string) =>
      desk.post({ token: 'nonsense', json, headers: { 'x-forwarded-for': list } });
    const seen: number[] = [];
    for (let i = 0; i < 5; i++) seen.push((await fail(`1.1.1.${i}, 192.0.2.1`)).status);
    expect(seen).toEqual([401, 401, 401, 429, 429]);
    expect((await fail('192.0.2.2')).status).toBe(401);
  });
});
