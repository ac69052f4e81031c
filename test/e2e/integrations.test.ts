import { createHmac } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { Intake } from '#core/intake/intake.ts';
import { IntakeGate } from '#http/intake/overload.ts';
import { webhookNames } from '#integrations/formats.ts';
import { eventually } from '../support/eventually.ts';
import { IntakeDesk, uuidv7 } from '../support/intake.ts';
import type { Answer, CallOptions } from '../support/server.ts';

let desk: IntakeDesk;
beforeAll(async () => {
  vi.useFakeTimers({ toFake: ['Date'] });
  desk = await IntakeDesk.open({ BELFRY_RATE_AUTH: 'off', BELFRY_RATE_TENANT: 'off' });
});
afterAll(async () => {
  await desk.close();
  vi.useRealTimers();
});

const path = '/api/integrations/alertmanager';
const post = (options: CallOptions, to = path): Promise<Answer> =>
  desk.server.call('POST', to, { token: desk.token, ...options });

let groups = 0;
/** A group of `count` alerts that nobody has sent before. */
function alerts(count: number, status = 'firing', severity = 'warning', group = ++groups) {
  return {
    receiver: 'belfry',
    alerts: Array.from({ length: count }, (_, i) => ({
      status,
      labels: { alertname: `A${i}`, instance: `db-${i}:9100`, severity },
      annotations: {},
      startsAt: '2026-11-22T20:00:00Z',
      fingerprint: `${group}-${i}`,
    })),
  };
}
/** The newest notification with this key. */
async function newest(key: string) {
  const { json } = await desk.server.call(
    'GET',
    `/api/history?limit=1&q=${encodeURIComponent(`key:"${key.replace('*', '\\*')}"`)}`,
    { token: desk.key },
  );
  return json.notifications[0];
}
const ids = ({ json }: Answer) => json.items.map(({ id }: { id: string }) => id);

describe('a group of alerts', () => {
  it('is a notification for each, and the answer names each', async () => {
    const answer = await post({ json: alerts(3) });
    expect([answer.status, answer.json]).toEqual([
      200,
      { ok: true, items: Array(3).fill({ id: expect.stringMatching(uuidv7) }) },
    ]);
    const stored = await Promise.all(ids(answer).map((id: string) => desk.find(id)));
    expect(stored.map(({ title, host, level, position }) => [title, host, level, position])).toEqual([
      ['A0', 'db-0', 'warning', stored[0].position],
      ['A1', 'db-1', 'warning', stored[0].position + 1],
      ['A2', 'db-2', 'warning', stored[0].position + 2],
    ]);
  });

  it('without any is answered, and stores nothing', async () => {
    const head = await desk.head();
    expect((await post({ json: alerts(0) })).json).toEqual({ ok: true, items: [] });
    expect(await desk.head()).toBe(head);
  });

  it('on a panel, each alert is replaced by its resolve', async () => {
    const token = await desk.server.token({ tenant: 'wall' });
    const panel = await desk.server.panel(token, 'lobby');
    await post({ token, json: alerts(2, 'firing', 'critical', 7_001) });
    await post({ token, json: alerts(1, 'resolved', 'critical', 7_001) });
    const { messages, next, close } = panel.stream;
    await next(({ data }) => data.title === 'Resolved: A0');
    const events = messages
      .filter(({ event }) => event === 'notification' || event === 'clear')
      .map(({ event, data }) => [event, data.title ?? data.reason, data.level ?? '']);
    expect(events).toEqual([
      ['notification', 'A0', 'critical'],
      ['notification', 'A1', 'critical'],
      ['clear', 'replaced', ''],
      ['notification', 'Resolved: A0', 'success'],
    ]);
    close();
  });

  it('sent again stores nothing, answers the same, and new alerts among the old are stored', async () => {
    const group = alerts(2);
    const first = await post({ json: group });
    const head = await desk.head();
    expect(ids(await post({ json: group }))).toEqual(ids(first));
    expect(await desk.head()).toBe(head);
    const grown = { ...group, alerts: [...group.alerts, ...alerts(1).alerts] };
    expect(ids(await post({ json: grown })).slice(0, 2)).toEqual(ids(first));
    expect(await desk.head()).toBe(head + 1);
  });

  it('takes levels from the query, and makes them the tenant’s own', async () => {
    const answer = await post({ json: alerts(1, 'firing', 'critical') }, `${path}?level=critical:alarm`);
    expect(await desk.find(ids(answer)[0])).toMatchObject({ level: 'alarm' });
    expect((await post({ json: alerts(1) }, `${path}?level=critical`)).status).toBe(200);
    const refused = await post({ json: alerts(1) }, `${path}?level=critical:!`);
    expect([refused.status, refused.headers.get('belfry-error')]).toEqual([
      400,
      'bad-request; parameter="level"',
    ]);
  });

  it('has the time on panels of the address or of a header, but its end has that of its level', async () => {
    const group = ++groups;
    const ttlOf = async (answer: Answer) => (await desk.find(ids(answer)[0])).ttl;
    expect(await ttlOf(await post({ json: alerts(1) }))).toBe(0);
    expect(await ttlOf(await post({ json: alerts(1, 'firing', 'error', group) }, `${path}?ttl=600000`))).toBe(
      600_000,
    );
    expect(await ttlOf(await post({ json: alerts(1), headers: { 'X-TTL': '700000' } }))).toBe(700_000);
    const end = await post({ json: alerts(1, 'resolved', 'error', group) }, `${path}?ttl=600000`);
    expect(await desk.find(ids(end)[0])).toMatchObject({ level: 'success', ttl: 15_000 });
    const refused = await post({ json: alerts(1) }, `${path}?ttl=5m`);
    expect([refused.status, refused.json.error]).toEqual([400, expect.stringContaining('milliseconds')]);
  });

  it('of which one cannot be stored answers it by itself', async () => {
    const tenant = 'levels';
    const token = await desk.server.token({ tenant });
    const { levels } = desk.server.running.directory;
    const id = await desk.server.tenant(tenant);
    for (let i = 0; i < 200; i++) await levels.register(id, `own-${i}`, 'test', Date.now());
    const group = { alerts: [...alerts(1).alerts, ...alerts(1, 'firing', 'odd').alerts] };
    const { status, json } = await post({ token, json: group }, `${path}?level=odd:one-too-many`);
    expect([status, json]).toEqual([
      200,
      { ok: false, items: [{ id: expect.any(String) }, { error: expect.stringContaining('custom levels') }] },
    ]);
    const alone = await post(
      { token, json: { alerts: group.alerts.slice(1) } },
      `${path}?level=odd:one-too-many`,
    );
    expect([alone.status, alone.json.error]).toEqual([400, expect.stringContaining('custom levels')]);
  });
});

describe('an alert that fires again', () => {
  const send = async (status: string, startsAt = '2026-11-22T20:00:00Z', severity = 'warning') => {
    const [alert] = alerts(1, status, severity, 8_001).alerts;
    return ids(await post({ json: { alerts: [{ ...alert, startsAt }] } }))[0];
  };

  it('is stored again after its resolve, and each state is stored once when it is sent again', async () => {
    const sent = [];
    for (const status of ['firing', 'firing', 'resolved', 'resolved', 'firing', 'firing'])
      sent.push(await send(status));
    const [first, , resolved, , again] = sent;
    expect(sent).toEqual([first, first, resolved, resolved, again, again]);
    expect(new Set(sent).size).toBe(3);
  });

  it('is stored again when its notification has expired', async () => {
    const sendInfo = () => send('firing', '2026-11-22T21:00:00Z', 'info');
    const first = await sendInfo();
    const { ttl } = await desk.find(first);
    vi.setSystemTime(Date.now() + ttl - 1);
    expect(await sendInfo()).toBe(first);
    vi.setSystemTime(Date.now() + 1);
    expect(await sendInfo()).not.toBe(first);
  });

  it('is live as long as it fires, and is stored again when it is repeated after an hour', async () => {
    const sendWarning = () => send('firing', '2026-11-22T22:00:00Z');
    const isLive = async (id: string) => {
      const { json } = await desk.server.call('GET', '/api/history?q=is:live&limit=200', { token: desk.key });
      return json.notifications.some((each: { id: string }) => each.id === id);
    };
    const first = await sendWarning();
    vi.setSystemTime(Date.now() + 59 * 60_000);
    expect([await sendWarning(), await isLive(first)]).toEqual([first, true]);
    vi.setSystemTime(Date.now() + 3 * 3_600_000);
    const again = await sendWarning();
    expect([again === first, await isLive(first), await isLive(again)]).toEqual([false, false, true]);
    const resolved = await send('resolved', '2026-11-22T22:00:00Z');
    expect([await isLive(again), (await desk.find(resolved)).level]).toEqual([false, 'success']);
  });
});

describe('beyond the rate', () => {
  it('a payload that stores nothing costs one, as one that is too large does', async () => {
    for (const options of [
      { json: { alerts: [] } },
      { body: `"${'x'.repeat(4 * 1024 * 1024)}"`, headers: { 'content-type': 'application/json' } },
    ]) {
      const token = await desk.server.token({ rate: { perSecond: 0.1, burst: 2 } });
      const first = await post({ token, ...options });
      expect(first.headers.get('ratelimit')).toContain('"token";r=1');
      await post({ token, ...options });
      expect((await post({ token, ...options })).status).toBe(503);
    }
  });

  it('what cannot be critical is not parsed, and what can be is', async () => {
    const token = await desk.server.token({ rate: { perSecond: 0.01, burst: 1 } });
    const kuma = '/api/integrations/uptime-kuma';
    await post({ token, json: { msg: 'Testing' } }, kuma);
    const parse = vi.spyOn(JSON, 'parse');
    const parsed = async (options: CallOptions, to: string) => {
      const before = parse.mock.calls.filter(([text]) => text.includes('mark-4711')).length;
      expect([429, 503]).toContain((await post({ token, ...options }, to)).status);
      return parse.mock.calls.filter(([text]) => text.includes('mark-4711')).length - before;
    };
    const json = { alerts: alerts(1).alerts, note: 'mark-4711' };
    try {
      expect(await parsed({ json }, path)).toBe(0);
      expect(await parsed({ json: { msg: 'mark-4711' } }, `${kuma}?level=up:info`)).toBe(0);
      expect(await parsed({ json: { msg: 'mark-4711' } }, `${kuma}?level=critical:warning`)).toBe(1);
      expect(await parsed({ json: { ...json, more: 'Disaster' } }, path)).toBe(1);
      expect(await parsed({ json: { event_nseverity: 5, x: 'mark-4711' } }, '/api/integrations/zabbix')).toBe(
        1,
      );
      expect(await parsed({ json: { event_nseverity: 4, x: 'mark-4711' } }, '/api/integrations/zabbix')).toBe(
        0,
      );
    } finally {
      parse.mockRestore();
    }
  });

  it('each item of a payload counts as under way', async () => {
    const enter = vi.spyOn(IntakeGate.prototype, 'enter');
    await post({ json: alerts(3) });
    expect(enter).toHaveBeenCalledTimes(3);
    enter.mockRestore();
  });

  it('a group that is refused whole is not looked up', async () => {
    const token = await desk.server.token({ rate: { perSecond: 0.1, burst: 1 } });
    const group = alerts(3);
    await post({ token, json: { alerts: group.alerts.slice(0, 1) } });
    const findEarlier = vi.spyOn(Intake.prototype, 'findEarlier');
    expect((await post({ token, json: group })).status).toBe(503);
    expect(findEarlier).not.toHaveBeenCalled();
    findEarlier.mockRestore();
  });

  it('a group is stored as far as it goes, and sending it again stores the rest once', async () => {
    const token = await desk.server.token({ tenant: 'rate', rate: { perSecond: 1, burst: 4 } });
    const key = await desk.server.key('admin', 'rate');
    const stored = async () =>
      (await desk.server.call('GET', '/api/history?limit=200', { token: key })).json.notifications.length;
    const group = { token, json: alerts(10) };
    const first = await post(group);
    expect([first.status, first.json]).toEqual([
      503,
      {
        error: expect.stringMatching(
          /^6 of 10 were not stored \(rate limit exceeded\): send all of them again/,
        ),
      },
    ]);
    expect(first.headers.get('retry-after')).toBe('1');
    expect(await stored()).toBe(4);
    vi.setSystemTime(Date.now() + 4_000);
    expect((await post(group)).status).toBe(503);
    expect(await stored()).toBe(8);
    vi.setSystemTime(Date.now() + 4_000);
    const last = await post(group);
    expect([last.status, ids(last).length, new Set(ids(last)).size, await stored()]).toEqual([
      200, 10, 10, 10,
    ]);
  });

  it('a sender that retries only on 5xx gets 503, any other 429, both with Retry-After and the limits', async () => {
    const token = await desk.server.token({ rate: { perSecond: 0.1, burst: 1 } });
    const kuma = { msg: 'Testing' };
    await post({ token, json: kuma }, '/api/integrations/uptime-kuma');
    for (const [name, status, json] of [
      ['alertmanager', 503, alerts(1)],
      ['uptime-kuma', 429, kuma],
    ] as const) {
      const answer = await post({ token, json }, `/api/integrations/${name}`);
      expect([answer.status, answer.json, answer.headers.get('retry-after')]).toEqual([
        status,
        { error: 'rate limit exceeded' },
        '10',
      ]);
      expect(answer.headers.get('ratelimit')).toContain('"token";r=0');
    }
  });

  it('what is critical has a bucket of its own', async () => {
    const token = await desk.server.token({ rate: { perSecond: 0.1, burst: 1 } });
    expect((await post({ token, json: alerts(1) })).status).toBe(200);
    expect((await post({ token, json: alerts(1) })).status).toBe(503);
    expect((await post({ token, json: alerts(1, 'firing', 'critical') })).status).toBe(200);
  });
});

describe('the token', () => {
  const basic = (text: string) => ({ authorization: `Basic ${Buffer.from(text).toString('base64')}` });

  it('may be the password, or stand in a header of its own', async () => {
    const { token } = desk;
    for (const headers of [
      basic(`belfry:${token}`),
      basic(`:${token}`),
      basic(token),
      { 'x-gotify-key': token },
      { 'x-gitlab-token': token },
    ]) {
      const answer = await desk.server.call('POST', path, { json: alerts(1), headers });
      expect([headers, answer.status]).toEqual([headers, 200]);
    }
  });

  it('is not taken from the URL, nor any other way than as Bearer elsewhere', async () => {
    const { token, server } = desk;
    const json = { title: 'T', message: 'M' };
    expect((await server.call('POST', `${path}?token=${token}`, { json: alerts(1) })).status).toBe(401);
    expect((await server.call('POST', '/api/notify', { json, headers: basic(`:${token}`) })).status).toBe(
      401,
    );
    expect(
      (await server.call('POST', '/api/notify', { json, headers: { 'x-gotify-key': token } })).status,
    ).toBe(401);
  });

  it('is asked for as a password, too', async () => {
    const answer = await desk.server.call('POST', path, { json: alerts(1), headers: basic('a:b') });
    expect([answer.status, answer.json]).toEqual([401, { error: 'unauthorized' }]);
    expect(answer.headers.get('www-authenticate')).toBe('Bearer, Basic realm="Belfry"');
  });

  it('that is missing is asked for, and is no failed sign-in', async () => {
    const strict = await IntakeDesk.open({ BELFRY_RATE_AUTH: '0.01:2' });
    try {
      const call = (headers: Record<string, string> = {}) =>
        strict.server.call('POST', path, { json: { alerts: [] }, headers });
      expect((await call(basic(`:${strict.token}`))).status).toBe(200);
      for (let i = 0; i < 5; i++) expect((await call()).status).toBe(401);
      for (const status of [401, 401, 429]) expect((await call(basic('a:b'))).status).toBe(status);
      expect((await call(basic(`:${strict.token}`))).status).toBe(200);
    } finally {
      await strict.close();
    }
  });

  it('goes before everything else', async () => {
    const wrong = { body: Buffer.alloc(5_000_000, 0xff), headers: { 'content-encoding': 'br' } };
    const at = (name: string, token?: string) =>
      desk.server.call('POST', `/api/integrations/${name}`, { ...wrong, token });
    expect((await at('nothing')).status).toBe(401);
    expect((await at('alertmanager', await desk.server.token({ scopes: ['panel'] }))).status).toBe(403);
    const { status, json } = await at('nothing', desk.token);
    expect([status, json.error]).toEqual([404, expect.stringContaining('it is one of alertmanager, ')]);
    expect((await at('alertmanager', desk.token)).status).toBe(413);
  });
});

describe('a payload that is signed', () => {
  const body = JSON.stringify({ zen: 'Ž', ref: 'refs/heads/main', commits: [{ message: 'm' }] });
  const secretOf = async (id: string, key: string, tenant?: string) => {
    const path = `/api/tokens/${id}/signing-secret`;
    const { status, json } = await desk.server.call('GET', path, {
      token: tenant === undefined ? key : await desk.server.key('admin', tenant),
    });
    return [status, json.signingSecret ?? ''] as const;
  };
  const idOf = (token: string) => token.split('_')[1] ?? '';
  const send = (id: string, secret: string, { sent = body, headers = {}, to = 'github' } = {}) =>
    desk.server.call('POST', `/api/integrations/${to}/${id}`, {
      body: sent,
      headers: {
        'content-type': 'application/json',
        'x-github-event': 'push',
        'x-hub-signature-256': `sha256=${createHmac('sha256', secret).update(body).digest('hex')}`,
        ...headers,
      },
    });

  it('needs no token, and is stored as of the token whose secret signed it', async () => {
    const key = await desk.server.key('admin');
    const token = await desk.server.token({ name: 'octo' });
    const [status, secret] = await secretOf(idOf(token), key);
    expect([status, secret]).toEqual([200, expect.stringMatching(/^whsec_/)]);
    const answer = await send(idOf(token), secret);
    expect(answer.status).toBe(200);
    expect(answer.headers.get('ratelimit')).toBeDefined();
    expect(await desk.find(ids(answer)[0])).toMatchObject({
      title: 'GitHub: 1 commit pushed to main',
      token: { name: 'octo' },
    });
    const form = { 'content-type': 'application/x-www-form-urlencoded' };
    const sent = `payload=${encodeURIComponent(body)}`;
    const signature = `sha256=${createHmac('sha256', secret).update(sent).digest('hex')}`;
    const asForm = await send(idOf(token), secret, {
      sent,
      headers: { ...form, 'x-hub-signature-256': signature },
    });
    expect([asForm.status, ids(asForm).length]).toEqual([200, 1]);
  });

  it('is refused alike, and stores nothing, whatever is wrong with it; each costs a failed sign-in, and no rate of the token', async () => {
    const key = await desk.server.key('admin');
    const [token, other, screen] = [
      await desk.server.token({ name: 'octo2', rate: { perSecond: 0.01, burst: 1 } }),
      await desk.server.token(),
      await desk.server.token({ scopes: ['panel'] }),
    ];
    const [, secret] = await secretOf(idOf(token), key);
    const [, ofScreen] = await secretOf(idOf(screen), key);
    const head = await desk.head();
    const refused: [string, Promise<Answer>, number][] = [
      ['a body that was changed', send(idOf(token), secret, { sent: `${body} ` }), 401],
      ['no body', send(idOf(token), secret, { sent: '' }), 401],
      ['the token instead of its secret', send(idOf(token), token), 401],
      ['the secret of another', send(idOf(other), secret), 401],
      ['an id that was never made', send('0000000000', secret), 401],
      ['an id that is none', send('%00', secret), 404],
      ['no signature', send(idOf(token), secret, { headers: { 'x-hub-signature-256': '' } }), 401],
      [
        'a signature of SHA-1',
        send(idOf(token), secret, { headers: { 'x-hub-signature-256': 'sha1=0' } }),
        401,
      ],
      ['too much', send(idOf(token), secret, { sent: 'x'.repeat(1024 * 1024 + 1) }), 413],
      ['a token without the scope', send(idOf(screen), ofScreen), 403],
      ['a format that is none', send(idOf(token), secret, { to: 'nothing' }), 404],
    ];
    for (const [what, answer, status] of refused)
      expect([what, (await answer).status]).toEqual([what, status]);
    expect(await desk.head()).toBe(head);
    expect((await send(idOf(token), secret)).status).toBe(200);
    expect((await secretOf(idOf(token), key, 'elsewhere'))[0]).toBe(404);
    await desk.server.call('DELETE', `/api/tokens/${idOf(token)}`, { token: key });
    expect((await send(idOf(token), secret)).status).toBe(401);
    expect((await secretOf(idOf(token), key))[0]).toBe(404);
  });

  it('that is wrong too often is refused before it is read', async () => {
    const strict = await IntakeDesk.open({ BELFRY_RATE_AUTH: '0.01:2' });
    try {
      const path = `/api/integrations/github/${idOf(strict.token)}`;
      const wrong = { 'x-hub-signature-256': `sha256=${'0'.repeat(64)}` };
      const call = (headers: Record<string, string>) => strict.server.call('POST', path, { body, headers });
      for (const status of [401, 401, 429]) expect((await call(wrong)).status).toBe(status);
      for (let i = 0; i < 3; i++) expect((await call({})).status).toBe(401);
      const tooMuch = { body: 'x'.repeat(1024 * 1024 + 1), headers: wrong };
      expect((await strict.server.call('POST', path, tooMuch)).status).toBe(429);
    } finally {
      await strict.close();
    }
  });

  it('is taken from where it was genuine before, whatever others send from there', async () => {
    const strict = await IntakeDesk.open({ BELFRY_RATE_AUTH: '0.01:2' });
    try {
      const token = await strict.server.key('admin');
      const signerOf = async (id: string) => {
        const { json } = await strict.server.call('GET', `/api/tokens/${id}/signing-secret`, { token });
        const mac = createHmac('sha256', json.signingSecret).update(body).digest('hex');
        return (signature = `sha256=${mac}`) =>
          strict.server.call('POST', `/api/integrations/github/${id}`, {
            body,
            headers: {
              'content-type': 'application/json',
              'x-github-event': 'push',
              'x-hub-signature-256': signature,
            },
          });
      };
      const wrong = `sha256=${'0'.repeat(64)}`;
      const known = await signerOf(idOf(strict.token));
      const otherToken = await strict.server.token();
      expect((await strict.server.notify(otherToken, { title: 'T', message: 'M' })).status).toBe(200);
      const other = await signerOf(idOf(otherToken));
      expect((await known()).status).toBe(200);
      for (const status of [401, 401, 429, 429]) expect((await known(wrong)).status).toBe(status);
      expect((await known()).status).toBe(200);
      // Nobody signed with this one: it is not locked out by what was signed with the other. It is not looked up for a source
      // that has failed too often, so it has to be in memory: a use of a token that was valid before puts it there, until a change
      // is noticed.
      await eventually(async () => {
        await strict.server.notify(otherToken, { title: 'T', message: 'M' });
        expect((await other()).status).toBe(200);
      });
    } finally {
      await strict.close();
    }
  });
});

it('a message of SNS whose certificate is not at SNS, or of another kind, is refused', async () => {
  const to = '/api/integrations/sns';
  const message = {
    Type: 'Notification',
    MessageId: 'm',
    TopicArn: 'a:b',
    Message: 'x',
    Timestamp: 't',
    SignatureVersion: '1',
    Signature: 'eA==',
    SigningCertURL: `${desk.server.url}/x.pem`,
  };
  const head = await desk.head();
  for (const json of [message, { ...message, Type: 'x' }])
    expect([json, (await post({ json }, to)).status]).toEqual([json, 400]);
  expect(await desk.head()).toBe(head);
});

it('a payload compressed with gzip is read up to the limit, which counts what is unpacked', async () => {
  const headers = { 'content-type': 'application/json', 'content-encoding': 'gzip' };
  const send = (text: string) => post({ body: gzipSync(text), headers });
  const stored = await send(JSON.stringify(alerts(1)));
  expect(await desk.find(ids(stored)[0])).toMatchObject({ title: 'A0' });
  expect((await send(' '.repeat(4 * 1024 * 1024 + 1))).status).toBe(413);
});

it('a sender of CloudEvents needs no token to learn that it may send', async () => {
  const url = `${desk.server.url}/api/integrations/cloudevents`;
  const headers = { 'webhook-request-origin': 'eventgrid.example.net', 'webhook-request-rate': '120' };
  const answer = await fetch(url, { method: 'OPTIONS', headers });
  expect([answer.status, answer.headers.get('webhook-allowed-origin')]).toEqual([
    200,
    'eventgrid.example.net',
  ]);
  expect((await fetch(url, { method: 'POST', headers })).status).toBe(401);
});

it('files in a payload are ignored, the text is stored, and the answer says so', async () => {
  const form = new FormData();
  for (const [name, value] of Object.entries({ title: 'Motion', message: 'Door', type: 'info' }))
    form.set(name, value);
  for (const name of ['file01', 'file02']) form.set(name, new Blob(['x']), 'a.jpg');
  const request = new Request('http://a/', { method: 'POST', body: form });
  const headers = { 'content-type': request.headers.get('content-type') ?? '' };
  const to = '/api/integrations/apprise';
  const ofForm = await post({ body: await request.text(), headers }, to);
  const ofJson = await post(
    { json: { title: 'Motion', message: 'Hall', type: 'info', attachments: [{ base64: 'eA==' }] } },
    to,
  );
  expect([ofForm.json.warning, ofJson.json.warning]).toEqual([
    '2 files were ignored: Belfry keeps no files',
    '1 file was ignored: Belfry keeps no files',
  ]);
  expect(await desk.find(ids(ofForm)[0])).toMatchObject({ title: 'Motion', message: 'Door' });
});

it('software that looks at the answer gets the one it knows', async () => {
  const slack = await post({ json: { text: 'Hello' } }, '/api/integrations/slack');
  expect([slack.status, slack.text, slack.headers.get('content-type')]).toEqual([
    200,
    'ok',
    'text/plain; charset=utf-8',
  ]);
  const form = { 'content-type': 'application/x-www-form-urlencoded' };
  const body = `payload=${encodeURIComponent('{"text":"as a form"}')}`;
  expect((await post({ body, headers: form }, '/api/integrations/slack')).text).toBe('ok');
  const event = { event_action: 'trigger', payload: { summary: 's', source: 'h', severity: 'error' } };
  const pagerduty = await post({ json: event }, '/api/integrations/pagerduty');
  expect([pagerduty.status, pagerduty.json]).toEqual([
    202,
    { status: 'success', message: 'Event processed', dedup_key: expect.stringMatching(/^[0-9a-f]{32}$/) },
  ]);
  const resolve = { event_action: 'resolve', dedup_key: pagerduty.json.dedup_key };
  const resolved = await post({ json: resolve }, '/api/integrations/pagerduty');
  expect(resolved.json.dedup_key).toBe(resolve.dedup_key);
  const key = `pagerduty:${resolve.dedup_key}`;
  const query = `/api/history?q=${encodeURIComponent(`key:"${key}"`)}`;
  const both = await desk.server.call('GET', query, { token: desk.key });
  expect(both.json.notifications.map(({ level }: { level: string }) => level)).toEqual(['success', 'error']);
  const genie = {
    headers: { authorization: `GenieKey ${desk.token}` },
    json: { message: 'm', alias: 'a/b' },
  };
  const opsgenie = await desk.server.call('POST', '/api/integrations/opsgenie/v2/alerts', genie);
  expect([opsgenie.status, opsgenie.json.result]).toEqual([202, 'Request will be processed']);
  const close = '/api/integrations/opsgenie/v2/alerts/a%2Fb/close?identifierType=alias';
  const closed = await desk.server.call('POST', close, { ...genie, json: { source: 'test' } });
  expect(await desk.find(closed.json.requestId)).toMatchObject({ level: 'success', key: 'opsgenie:a/b' });
  // TrueNAS deletes; Alertmanager changes the texts of an alert that it has created again.
  const alert = '/api/integrations/opsgenie/v2/alerts/a%2Fb';
  const { headers } = genie;
  const deleted = await desk.server.call('DELETE', `${alert}?identifierType=alias`, { headers });
  expect(await desk.find(deleted.json.requestId)).toMatchObject({ level: 'success', key: 'opsgenie:a/b' });
  const changed = await desk.server.call('PUT', `${alert}/message`, { headers, json: { message: 'n' } });
  expect([changed.status, changed.json.requestId]).toEqual([202, '']);
  const attributes = {
    'ce-specversion': '1.0',
    'ce-type': 't',
    'ce-source': 's',
    'ce-id': '1',
    'ce-team': 'shop',
  };
  const xml = { body: '<a/>', headers: { ...attributes, 'content-type': 'application/xml' } };
  const withXml = await post(xml, '/api/integrations/cloudevents');
  expect(await desk.find(ids(withXml)[0])).toMatchObject({
    ...{ title: 't', message: '<a/>' },
    labels: { type: 't', source: 's', team: 'shop' },
  });
  const kuma = '--b\r\nContent-Disposition: form-data; name="data"\r\n\r\n{"msg":"Testing"}\r\n--b--\r\n';
  const multipart = { 'content-type': 'multipart/form-data; boundary=b' };
  const answer = await post({ body: kuma, headers: multipart }, '/api/integrations/uptime-kuma');
  expect(await desk.find(ids(answer)[0])).toMatchObject({ title: 'Uptime Kuma', message: 'Testing' });
});

it('an alert is found by its labels, and so is its end', async () => {
  const payload = {
    summary: 'Disk',
    source: 'db-01',
    severity: 'error',
    component: '/data',
    class: 'disk full',
  };
  const trigger = { event_action: 'trigger', dedup_key: 'labelled', payload };
  const resolve = { event_action: 'resolve', dedup_key: 'labelled' };
  for (const json of [trigger, resolve]) await post({ json }, '/api/integrations/pagerduty');
  const query = encodeURIComponent('label:component=/data label:"class=disk full"');
  const { json } = await desk.server.call('GET', `/api/history?q=${query}`, { token: desk.key });
  const labels = { component: '/data', class: 'disk full' };
  expect(json.notifications).toMatchObject([
    { title: 'Resolved: Disk', labels },
    { title: 'Disk', labels },
  ]);
});

describe('the paths that clients append', () => {
  const trigger = {
    event_action: 'trigger',
    payload: { summary: 'Disk full', source: 'db-01', severity: 'critical' },
  };

  it('of PagerDuty are taken, and of version 1 the answer is that of version 1', async () => {
    const second = await post({ json: trigger }, '/api/integrations/pagerduty/v2/enqueue');
    expect([second.status, second.json.status]).toEqual([202, 'success']);
    const first = { service_key: '-', event_type: 'trigger', incident_key: 'netdata-7', description: 'RAM' };
    const path = '/api/integrations/pagerduty/generic/2010-04-15/create_event.json';
    const answer = await post({ json: { ...first, details: { value: '98 %' } } }, path);
    expect([answer.status, answer.json]).toEqual([
      200,
      { status: 'success', message: 'Event processed', incident_key: 'netdata-7' },
    ]);
    expect(await newest('pagerduty:netdata-7')).toMatchObject({
      title: 'RAM',
      message: 'value: 98 %',
      level: 'error',
    });
    await post({ json: { event_type: 'resolve', incident_key: 'netdata-7' } }, path);
    expect(await newest('pagerduty:netdata-7')).toMatchObject({ title: 'Resolved: RAM', level: 'success' });
  });

  it.each(['/v2/alerts/', '//v2/alerts', '//v2//alerts//'])(
    'of Opsgenie with slashes as in %s',
    async (path) => {
      const answer = await post({ json: { message: 'm' } }, `/api/integrations/opsgenie${path}`);
      expect(answer.status).toBe(202);
    },
  );

  it.each(['/api/integrations/slack/', '/api/integrations//slack', '//api/integrations/slack//'])(
    '%s is the address of Slack, with its token and without it',
    async (path) => {
      expect((await post({ json: { text: 'x' } }, path)).status).toBe(200);
      expect((await desk.server.call('POST', path, { json: {} })).status).toBe(401);
    },
  );

  it('that no format has are a 404 with the right address, not a 401', async () => {
    const answer = await post({ json: trigger }, '/api/integrations/pagerduty/v2');
    expect([answer.status, answer.json.error]).toEqual([
      404,
      expect.stringContaining('did you mean /api/integrations/pagerduty?'),
    ]);
  });
});

describe('an event that only names its alert', () => {
  const send = async (json: object) => {
    const answer = await post({ json }, '/api/integrations/pagerduty');
    expect(answer.status).toBe(202);
  };
  const trigger = (key: string) => ({
    event_action: 'trigger',
    dedup_key: key,
    payload: { summary: `Disk full of ${key}`, source: 'h', severity: 'critical' },
  });

  it('acknowledges it, on the notification that stands, once', async () => {
    await send(trigger('ack*1'));
    await send(trigger('ack-1'));
    await send({ event_action: 'acknowledge', dedup_key: 'ack*1' });
    await send({ event_action: 'acknowledge', dedup_key: 'ack*1' });
    expect((await newest('pagerduty:ack*1')).acknowledged).toMatchObject({ by: 'token ci', note: null });
    expect((await newest('pagerduty:ack-1')).acknowledged).toBeNull();
    await send({ event_action: 'acknowledge', dedup_key: 'never sent' });
  });

  it('acknowledges it as in Opsgenie', async () => {
    const alerts = '/api/integrations/opsgenie/v2/alerts';
    await post({ json: { message: 'CPU hot', alias: 'a/2' } }, alerts);
    const answer = await post({ json: { note: 'seen' } }, `${alerts}/a%2F2/acknowledge?identifierType=alias`);
    expect(answer.status).toBe(202);
    expect((await newest('opsgenie:a/2')).acknowledged).toMatchObject({ by: 'token ci' });
  });

  it('acknowledges nothing that has ended', async () => {
    await send(trigger('ack-2'));
    await send({ event_action: 'resolve', dedup_key: 'ack-2' });
    await send({ event_action: 'acknowledge', dedup_key: 'ack-2' });
    expect(await newest('pagerduty:ack-2')).toMatchObject({ level: 'success', acknowledged: null });
  });

  it('ends it under its own title, also when it is sent again', async () => {
    await send(trigger('end-1'));
    for (let i = 0; i < 2; i++) {
      await send({ event_action: 'resolve', dedup_key: 'end-1' });
      expect((await newest('pagerduty:end-1')).title).toBe('Resolved: Disk full of end-1');
    }
    await send({ event_action: 'resolve', dedup_key: 'never sent' });
    expect((await newest('pagerduty:never sent')).title).toBe('Resolved: never sent');
    const alerts = '/api/integrations/opsgenie/v2/alerts';
    await post({ json: { message: 'CPU hot', alias: 'a-1' } }, alerts);
    await desk.server.call('DELETE', `${alerts}/a-1`, { token: desk.token });
    expect(await newest('opsgenie:a-1')).toMatchObject({ title: 'Closed: CPU hot', level: 'success' });
  });
});

describe('every format', () => {
  const hostile: readonly (readonly [string, CallOptions, number])[] = [
    ['nothing', {}, 400],
    ['no JSON', { body: '{', headers: { 'content-type': 'application/json' } }, 400],
    [
      'bytes that are no UTF-8',
      { body: Buffer.from([0x7b, 0xff]), headers: { 'content-type': 'application/json' } },
      400,
    ],
    ['a list', { json: [1] }, 400],
    ['null', { json: null }, 400],
    ['a text', { json: 'x' }, 400],
    ['deep nesting', { body: '['.repeat(50_000), headers: { 'content-type': 'application/json' } }, 400],
    [
      'a file',
      {
        body: '--x\r\nContent-Disposition: form-data; name="a"; filename="b"\r\n\r\nc\r\n--x--\r\n',
        headers: { 'content-type': 'multipart/form-data; boundary=x' },
      },
      400,
    ],
    [
      'a form that is none',
      { body: '--y', headers: { 'content-type': 'multipart/form-data; boundary=x' } },
      400,
    ],
    [
      'a form of many parts, whose boundary comes after another text "boundary="',
      {
        body: `${'--y\r\nContent-Disposition: form-data; name="a"\r\n\r\nb\r\n'.repeat(1_001)}--y--\r\n`,
        headers: { 'content-type': 'multipart/form-data; xboundary=z; boundary="y"' },
      },
      400,
    ],
    ['XML', { body: '<a/>', headers: { 'content-type': 'application/xml' } }, 415],
    ['compression', { body: 'x', headers: { 'content-encoding': 'br' } }, 415],
    ['no gzip', { body: 'x', headers: { 'content-encoding': 'gzip' } }, 400],
    [
      'too much',
      { body: `"${'x'.repeat(4 * 1024 * 1024)}"`, headers: { 'content-type': 'application/json' } },
      413,
    ],
  ];

  it.each(webhookNames)('refuses what is no payload of it, stores nothing, and lives: %s', async (name) => {
    const head = await desk.head();
    for (const [what, options, status] of hostile) {
      const answer = await post(options, `/api/integrations/${name}`);
      // The data of an event may be XML, but this is no event.
      const expected = name === 'cloudevents' && what === 'XML' ? 400 : status;
      expect([what, answer.status, answer.json]).toEqual([
        what,
        expected,
        { error: expect.stringMatching(/\S/) },
      ]);
    }
    expect(await desk.head()).toBe(head);
  });

  it.each(webhookNames)('is for POST alone: %s', async (name) => {
    const hasHandshake = name === 'cloudevents';
    for (const method of ['GET', 'PUT', ...(hasHandshake ? [] : ['OPTIONS']), 'HEAD', 'DELETE']) {
      const answer = await desk.server.call(method, `/api/integrations/${name}`);
      const allow = hasHandshake ? 'OPTIONS, POST' : 'POST';
      expect([answer.status, answer.headers.get('allow')]).toEqual([405, allow]);
    }
  });
});

it('the query is read whole, whatever characters its values have', async () => {
  const answer = await post({ body: 'x' }, '/ntfy/t?title=Why?&priority=5');
  expect(await desk.find(answer.json.id)).toMatchObject({ title: 'Why?', level: 'error' });
});

it('an unknown format is not counted, and a group that is stored in part counts each refusal once', async () => {
  const tenant = 'partial-metrics';
  const token = await desk.server.token({ tenant, rate: { perSecond: 0.1, burst: 2 } });
  expect((await post({ token, json: {} }, '/api/integrations/nothing')).status).toBe(404);
  expect((await post({ token, json: alerts(5) })).status).toBe(503);
  const reader = await desk.server.token({ tenant });
  const { text } = await desk.server.call('GET', '/tenant-metrics', { token: reader });
  expect(text).toContain('belfry_notifications_rejected_total{reason="rate-limited"} 3');
  expect(text).not.toMatch(/reason="(internal|unavailable)"\} [1-9]/);
});

it('refusals are counted by their reason, and an accepted group is timed', async () => {
  const token = await desk.server.token({ tenant: 'metrics' });
  await post({ token, json: alerts(2) });
  await post({ token, json: {} });
  const { text } = await desk.server.call('GET', '/tenant-metrics', { token });
  expect(text).toContain('belfry_notifications_received_total{level="warning"} 2');
  expect(text).toContain('belfry_notifications_rejected_total{reason="invalid"} 1');
  expect(text).toContain('belfry_intake_duration_seconds_count 1');
});
