import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { noTexts } from '#contract/history/fields.ts';
import { IntakeDesk, uuidv7 } from '../support/intake.ts';

let desk: IntakeDesk;
beforeAll(async () => {
  desk = await IntakeDesk.open();
});
afterAll(() => desk.close());

const sent = { title: 'Backup', message: 'done' };

describe('an accepted notification', () => {
  it('is answered with ok and the id it has in history, a UUIDv7 of the time of its arrival', async () => {
    const before = Date.now();
    const { status, json, headers } = await desk.post({ json: sent });
    expect(status).toBe(200);
    expect(json).toEqual({ ok: true, id: expect.stringMatching(uuidv7) });
    expect(headers.get('content-type')).toMatch(/^application\/json/);
    const at = Number.parseInt(json.id.replaceAll('-', '').slice(0, 12), 16);
    expect(at).toBeGreaterThanOrEqual(before);
    expect(at).toBeLessThanOrEqual(Date.now());
  });

  it('is in history, with Source IP, token and routing, the moment it is answered', async () => {
    const { json } = await desk.post({ json: sent });
    const page = await desk.server.call('GET', '/api/history?limit=1', { token: desk.key });
    expect(page.json.notifications[0]).toMatchObject({
      ...sent,
      id: json.id,
      level: 'info',
      sourceIp: '127.0.0.1',
      token: { name: 'ci' },
      rules: [],
      target: { all: true, ids: [], tags: [] },
    });
  });

  it('can be read by its id with the token that sent it, and with no other token', async () => {
    const { json } = await desk.post({ json: sent });
    const path = `/api/notifications/${json.id}`;
    expect((await desk.server.call('GET', path, { token: desk.token })).json.title).toBe('Backup');
    const other = await desk.server.token({ name: 'other' });
    expect((await desk.server.call('GET', path, { token: other })).status).toBe(404);
  });

  it('takes the next position of its tenant’s log', async () => {
    const head = await desk.head();
    for (let i = 1; i <= 3; i++) expect((await desk.accepted({ json: sent })).position).toBe(head + i);
  });

  it('of another tenant is in another log', async () => {
    const head = await desk.head();
    const token = await desk.server.token({ tenant: 'acme' });
    const key = await desk.server.key('admin', 'acme');
    const { json } = await desk.post({ token, json: sent });
    expect(await desk.head()).toBe(head);
    const found = await desk.server.call('GET', `/api/notifications/${json.id}`, { token: key });
    expect(found.json.position).toBe(1);
    expect((await desk.server.call('GET', `/api/notifications/${json.id}`, { token: desk.key })).status).toBe(
      404,
    );
  });

  it('reaches a panel’s stream with all of its fields', async () => {
    const panel = await desk.server.panel(desk.token, 'lobby');
    const fields = {
      ...sent,
      level: 'warning',
      ttl: 5000,
      ip: '10.0.0.5',
      host: 'db-01',
      key: 'disk',
      url: 'https://example.org/',
    };
    const { json } = await desk.post({ json: fields });
    const { data } = await panel.stream.next(({ data: { id } }) => id === json.id);
    expect(data).toMatchObject({ ...fields, id: json.id, rank: 30, sourceIp: '127.0.0.1' });
    panel.stream.close();
  });
});

describe('what a field is for', () => {
  const found = async (q: string): Promise<string[]> => {
    const { json } = await desk.server.call('GET', `/api/history?q=${encodeURIComponent(q)}`, {
      token: desk.key,
    });
    return json.notifications.map(({ id }: { id: string }) => id);
  };

  it('ip is found by ip:, in whatever form it was sent', async () => {
    const { id } = await desk.accepted({ json: { ...sent, ip: '::ffff:192.0.2.9' } });
    for (const q of ['ip:192.0.2.9', 'ip:192.0.2.0/24', 'ip:192.0.2.1-192.0.2.20'])
      expect(await found(q)).toEqual([id]);
  });

  it('host is found by host:, without regard to case', async () => {
    const { id } = await desk.accepted({ json: { ...sent, host: 'Web-07.Example' } });
    for (const q of ['host:web-07.example', 'host:WEB-07.EXAMPLE', 'host:wEb-*'])
      expect(await found(q)).toEqual([id]);
  });

  it('a later notification with the same key replaces the first on panels, and history keeps both', async () => {
    const panel = await desk.server.panel(desk.token, 'keyed');
    const [down, up] = [
      await desk.accepted({ json: { ...sent, level: 'error', key: 'web-07' } }),
      await desk.accepted({ json: { ...sent, level: 'success', key: 'web-07' } }),
    ];
    const { data } = await panel.stream.next(({ event }) => event === 'clear');
    expect(data).toMatchObject({ id: down.id, reason: 'replaced' });
    await panel.stream.next(({ data: { id } }) => id === up.id);
    expect(await found('key:web-07')).toEqual([up.id, down.id]);
    expect((await desk.find(down.id)).state).toBe('cleared');
    panel.stream.close();
  });

  it('the key of another tenant replaces nothing', async () => {
    const { id } = await desk.accepted({ json: { ...sent, level: 'error', key: 'shared' } });
    const token = await desk.server.token({ tenant: 'acme' });
    await desk.post({ token, json: { ...sent, level: 'success', key: 'shared' } });
    expect((await desk.find(id)).state).toBe('live');
  });
});

describe('the fields as JSON', () => {
  it('all arrive as they were sent', async () => {
    const fields = {
      title: 'T',
      message: 'M',
      level: 'error',
      ttl: 1,
      ip: '10.0.0.5',
      host: 'DB-01',
      key: 'k',
      url: 'https://e.org/',
    };
    expect(await desk.accepted({ json: fields })).toMatchObject({
      ...fields,
      sent: { level: 'error', ttl: 1 },
    });
  });

  it('absent: level is info, ttl is the level’s own duration, the others are null', async () => {
    expect(await desk.accepted({ json: sent })).toMatchObject({
      ...noTexts,
      labels: {},
      level: 'info',
      rank: 20,
      ttl: 30_000,
      sent: { level: 'info', ttl: null },
    });
  });

  it('null is absent', async () => {
    const nulls = { level: null, ttl: null, ...noTexts };
    expect(await desk.accepted({ json: { ...sent, ...nulls } })).toMatchObject({
      level: 'info',
    });
    expect(await desk.refused(400, { json: { ...sent, title: null } })).toBe('title is required');
  });

  it('unknown ones are ignored, those that name what the service decides included', async () => {
    const unknown = {
      id: 'x',
      position: 99,
      tenant: 2,
      sourceIp: '1.2.3.4',
      receivedAt: 0,
      rank: 99,
      priority: 5,
      token: 'y',
    };
    const record = await desk.accepted({ json: { ...sent, ...unknown } });
    expect(record).toMatchObject({ sourceIp: '127.0.0.1', rank: 20, token: { name: 'ci' } });
    expect(record.position).not.toBe(99);
  });

  it.each([
    ['success', 10, 15_000],
    ['info', 20, 30_000],
    ['warning', 30, 120_000],
    ['error', 40, 0],
    ['critical', 50, 0],
  ])('level %s has rank %i and stays %i ms when no ttl is given', async (level, rank, ttl) => {
    const record = await desk.accepted({ json: { ...sent, level } });
    expect(record).toMatchObject({ level, rank, ttl });
    expect(record.expiresAt === null ? 0 : Date.parse(record.expiresAt) - Date.parse(record.receivedAt)).toBe(
      ttl,
    );
  });

  it('ttl 0 stays until cleared, whatever the level', async () => {
    expect(await desk.accepted({ json: { ...sent, level: 'success', ttl: 0 } })).toMatchObject({
      ttl: 0,
      expiresAt: null,
    });
  });

  it('text of any language and lengths up to the limits comes back unchanged', async () => {
    const fields = {
      title: '🔔'.repeat(250),
      message: '日本語\n\t‮עברית "\\\' <b>&amp;'.padEnd(16_384, 'é'),
      key: '✓'.repeat(255),
    };
    expect(await desk.accepted({ json: fields })).toMatchObject(fields);
  });
});

describe('a refused field', () => {
  it('title missing or blank: title is required', async () => {
    for (const json of [
      {},
      { message: 'm' },
      { title: '' },
      { title: ' \n', message: 'm' },
      { title: null },
    ]) {
      expect(await desk.refused(400, { json })).toBe('title is required');
    }
  });

  it('message missing or blank: message is required', async () => {
    for (const json of [{ title: 't' }, { title: 't', message: '' }, { title: 't', message: ' \n' }]) {
      expect(await desk.refused(400, { json })).toBe('message is required');
    }
  });

  it.each([
    ['title', ['x'.repeat(251), 5, ['a'], { a: 1 }, true, 'a\u0000', '\ud800']],
    ['message', ['x'.repeat(16_385), 5, 'a\u0000', 'a\udfff']],
    ['level', ['', 'a b', '-x', 'x'.repeat(33), 5, [], 'é', '\u0000']],
    ['ttl', [-1, 604_800_001, 1.5, '5000', true, [], {}, '']],
    ['ip', ['', 'localhost', '10.0.0.256', '10.0.0.0/8', '10.0.0.1:80', 'fe80::1%eth0', 5]],
    ['host', ['', 'a b', 'a\nb', 'x'.repeat(254), 5]],
    ['key', ['', ' ', 'x'.repeat(256), 5]],
    [
      'url',
      ['', '/x', 'javascript:alert(1)', 'ftp://e.org', 'http://', `https://e.org/${'x'.repeat(2_048)}`, 5],
    ],
  ])('%s: named first in a 400 that stores nothing', async (field, values: unknown[]) => {
    for (const value of values) {
      expect(await desk.refused(400, { json: { ...sent, [field]: value } })).toMatch(
        new RegExp(`^${field} `),
      );
    }
  });
});
