import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { bytesOf, IntakeDesk } from '../support/intake.ts';

let desk: IntakeDesk;
beforeAll(async () => {
  vi.useFakeTimers({ toFake: ['Date'] });
  desk = await IntakeDesk.open({ BELFRY_RATE_TENANT: 'off' });
});
afterAll(async () => {
  await desk.close();
  vi.useRealTimers();
});

const sent = { title: 'Backup', message: 'done' };
const hour = 3_600_000;
let keys = 0;
const newKey = () => `retry ${++keys}`;
const withKey = (key: string, json: unknown = sent) => ({ json, headers: { 'idempotency-key': key } });

describe('the same Idempotency-Key', () => {
  it('with the same content answers the first answer again and stores nothing', async () => {
    const key = newKey();
    const first = await desk.post(withKey(key));
    const head = await desk.head();
    for (let i = 0; i < 3; i++) {
      const again = await desk.post(withKey(key));
      expect([again.status, again.text]).toEqual([200, first.text]);
    }
    expect(await desk.head()).toBe(head);
  });

  it('with the same content sent another way is the same content', async () => {
    const key = newKey();
    const { json } = await desk.post(withKey(key, { ...sent, level: 'info', host: null, unknown: 1 }));
    const asHeaders = await desk.post({
      headers: { 'x-title': ' Backup ', 'x-message': 'done', 'x-level': 'INFO', 'idempotency-key': key },
    });
    expect(asHeaders.json).toEqual(json);
  });

  it.each([
    ['title', 'other'],
    ['message', 'other'],
    ['level', 'error'],
    ['ttl', 5],
    ['ip', '10.0.0.1'],
    ['host', 'h'],
    ['key', 'k'],
    ['url', 'http://a/'],
  ])('with another %s is a 409 that stores nothing', async (field, value) => {
    const key = newKey();
    await desk.post(withKey(key));
    expect(await desk.refused(409, withKey(key, { ...sent, [field]: value }))).toContain(key);
    expect((await desk.post(withKey(key))).status).toBe(200);
  });

  it('with other content registers no level: nothing of what is refused stays', async () => {
    const key = newKey();
    await desk.post(withKey(key));
    await desk.refused(409, withKey(key, { ...sent, level: 'never-seen' }));
    const { json } = await desk.server.call('GET', '/api/levels', { token: desk.key });
    expect(json.levels.map(({ name }: { name: string }) => name)).not.toContain('never-seen');
  });

  it('is another tenant’s own', async () => {
    const key = newKey();
    const first = await desk.post(withKey(key));
    const token = await desk.server.token({ tenant: 'acme' });
    const other = await desk.post({ ...withKey(key, { ...sent, title: 'other' }), token });
    expect(other.status).toBe(200);
    expect(other.json.id).not.toBe(first.json.id);
  });

  it('is shared by the tokens of a tenant', async () => {
    const key = newKey();
    const first = await desk.post(withKey(key));
    const again = await desk.post({ ...withKey(key), token: await desk.server.token() });
    expect(again.json).toEqual(first.json);
  });

  it('sent 20 times at once stores one notification, and all answers name that one', async () => {
    const key = newKey();
    const head = await desk.head();
    const answers = await Promise.all(Array.from({ length: 20 }, () => desk.post(withKey(key))));
    expect(new Set(answers.map(({ status, text }) => `${status} ${text}`)).size).toBe(1);
    expect(answers[0]?.status).toBe(200);
    expect(await desk.head()).toBe(head + 1);
  });

  it('sent 20 times at once with 20 contents stores one notification, and the others are 409', async () => {
    const key = newKey();
    const head = await desk.head();
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, i) => desk.post(withKey(key, { ...sent, message: `${i}` }))),
    );
    expect(answers.map(({ status }) => status).sort()).toEqual([200, ...Array<number>(19).fill(409)]);
    expect(await desk.head()).toBe(head + 1);
  });

  it('holds for 24 hours and is free after them', async () => {
    const key = newKey();
    const first = await desk.post(withKey(key));
    vi.setSystemTime(Date.now() + 24 * hour - 1_000);
    expect((await desk.post(withKey(key))).json).toEqual(first.json);
    expect((await desk.post(withKey(key, { ...sent, title: 'other' }))).status).toBe(409);
    vi.setSystemTime(Date.now() + 2_000);
    const fresh = await desk.post(withKey(key, { ...sent, title: 'other' }));
    expect(fresh.status).toBe(200);
    expect(fresh.json.id).not.toBe(first.json.id);
  });

  it('is not used up by what was refused', async () => {
    const key = newKey();
    await desk.refused(400, withKey(key, { title: '' }));
    expect((await desk.post(withKey(key))).status).toBe(200);
  });

  it('does not reach panels twice', async () => {
    const panel = await desk.server.panel(desk.token, 'lobby');
    const key = newKey();
    const { json } = await desk.post(withKey(key));
    await desk.post(withKey(key));
    const last = await desk.post({ json: { ...sent, title: 'after' } });
    await panel.stream.next(({ data }) => data.id === last.json.id);
    expect(
      panel.stream.messages.filter(({ event, data }) => event === 'notification' && data.id === json.id),
    ).toHaveLength(1);
    panel.stream.close();
  });
});

describe('an Idempotency-Key', () => {
  it('has 1 to 255 characters', async () => {
    expect((await desk.post(withKey('x'.repeat(255)))).status).toBe(200);
    expect((await desk.post(withKey(bytesOf('é'.repeat(255))))).status).toBe(200);
    for (const key of ['', ' ', 'x'.repeat(256)]) {
      expect(await desk.refused(400, withKey(key))).toMatch(/Idempotency-Key must have 1 to 255 characters/);
    }
  });

  it('must be a text that can be stored', async () => {
    expect(await desk.refused(400, withKey('=?utf-8?Q?=00?='))).toBe(
      'the header Idempotency-Key must not hold the character U+0000',
    );
  });

  it('differs by case', async () => {
    await desk.post(withKey('Case'));
    expect((await desk.post(withKey('case', { ...sent, title: 'other' }))).status).toBe(200);
  });

  it('that is not there leaves equal notifications apart', async () => {
    const [first, second] = [await desk.post({ json: sent }), await desk.post({ json: sent })];
    expect(second.json.id).not.toBe(first.json.id);
  });
});
