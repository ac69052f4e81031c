/** What people silence in Alertmanager. It is a real one, with amtool. */
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { Alertmanager, missingAlertmanager } from '../support/alertmanager.ts';
import { createAnswersLab } from '../support/answers-lab.ts';
import { eventually } from '../support/eventually.ts';
import { limitMs } from '../support/patience.ts';
import { TestServer } from '../support/server.ts';
import { skipReason } from '../support/skip-reason.ts';

describe.skipIf(skipReason(missingAlertmanager()))('silences of Alertmanager', () => {
  const env = { BELFRY_OUTBOUND_ALLOW: '127.0.0.1' };
  let manager: Alertmanager;
  let server: TestServer;
  beforeAll(async () => {
    manager = await Alertmanager.start();
    server = await TestServer.start(env);
  });
  afterAll(async () => {
    await server.stop();
    await manager.stop();
  });

  const within = { timeout: limitMs(2_000) };
  const lab = createAnswersLab('silences', () => server);
  const { call, alarm: notify, alarmOf: found } = lab;
  /** A channel named am, to which all notifications go. */
  const channel = (settings: object = {}) =>
    lab.usedChannel('am', { kind: 'alertmanager', settings: { url: manager.url, ...settings } });
  const alertOf = async (alarm: string) =>
    (await manager.alerts()).find(({ labels }) => labels.tenant === lab.tenant && labels.alarm === alarm);
  const delivered = (alarm: string) => eventually(async () => expect(await alertOf(alarm)).toBeDefined());
  const matchers = (alarm = 'disk') => [`tenant=${lab.tenant}`, `alarm=${alarm}`];
  const silence = (over: Parameters<Alertmanager['silence']>[1] = {}) => manager.silence(matchers(), over);
  const expire = (id: string) => manager.amtool('silence', 'expire', id);
  const shelved = (id: string, over: object = {}) =>
    eventually(
      async () =>
        expect(await found(id)).toMatchObject({ state: 'shelved', shelved: { by: 'Ann (am)', ...over } }),
      within,
    );
  const open = (id: string) => eventually(async () => expect((await found(id)).state).toBe('open'), within);
  /** Oldest first. */
  const events = async (id: string) =>
    (await found(id)).events.map(({ event, by }) => `${event} by ${by}`).toReversed();
  /** Resolves after a further poll: by then a silence of this new alarm has been followed. */
  const polled = async () => {
    const last = `last-${crypto.randomUUID()}`;
    const id = await notify({ key: last, title: 'Last' });
    await delivered(last);
    await manager.silence(`alarm=${last}`);
    await shelved(id);
  };

  test('an alarm is shelved while its alert is silenced, and comes back when the silence is expired, each within two seconds', async () => {
    await channel();
    const id = await notify();
    await delivered('disk');
    const own = await silence({ comment: 'new\tdisk' });
    await shelved(id, { note: 'new disk' });
    const { shelved: shelf } = await found(id);
    const twoHours = Date.parse(shelf?.until ?? '') - Date.parse(shelf?.at ?? '');
    expect(Math.abs(twoHours - 7_200_000)).toBeLessThan(60_000);
    await expire(own);
    await open(id);
    await polled();
    expect(await events(id)).toEqual(['shelve by Ann (am)', 'unshelve by am']);
    const { entries } = (await call('GET', '/api/audit?action=alarm.shelve')).json;
    expect(
      entries.some(({ by, subject }: { by: string; subject: string }) => by === 'Ann (am)' && subject === id),
    ).toBe(true);
  });

  test('an alarm is one alert until it ends, and what happens to it is an annotation', async () => {
    const out = await channel({ labels: 'team=ops' });
    const id = await notify({ labels: { env: 'prod' } });
    await delivered('disk');
    const labels = { alertname: 'Belfry', team: 'ops', tenant: lab.tenant, alarm: 'disk' };
    const first = await alertOf('disk');
    expect(first).toMatchObject({ labels, annotations: { summary: 'Disk full', labels: 'env=prod' } });
    await call('POST', `/api/alarms/${id}/acknowledge`, { note: 'on my way' });
    await eventually(
      async () =>
        expect((await alertOf('disk'))?.annotations?.state).toMatch(/^Acknowledged by .+: on my way$/),
      within,
    );
    // An earlier end than before.
    await notify({ level: 'warning', ttl: 60_000 });
    await eventually(async () =>
      expect(Date.parse((await alertOf('disk'))?.endsAt ?? '') - Date.now()).toBeLessThan(60_000),
    );
    expect(await alertOf('disk')).toMatchObject({ labels, fingerprint: first?.fingerprint });
    await notify({ level: 'success' });
    await eventually(async () => expect(await alertOf('disk')).toBeUndefined());
    const next = await notify();
    await delivered('disk');
    await call('POST', `/api/alarms/${next}/clear`, {});
    await eventually(async () => expect(await alertOf('disk')).toBeUndefined(), within);
    expect((await call('POST', `/api/channels/${out}/test`, {})).json).toMatchObject({ ok: true });
    const tests = (await manager.alerts()).filter((each) => each.labels.tenant === lab.tenant);
    expect(tests).toHaveLength(1);
    expect(Date.parse(tests[0]?.endsAt ?? '') - Date.now()).toBeLessThan(300_000);
  });

  test('an alarm that came from Alertmanager follows its silences, and is not sent back', async () => {
    const from = await Alertmanager.start({
      url: `${server.url}/api/integrations/alertmanager`,
      token: lab.token,
    });
    onTestFinished(() => from.stop());
    const out = await channel({ url: from.url });
    const alert = { labels: { alertname: 'DiskFull', instance: 'db-1' }, endsAt: '2036-01-01T00:00:00Z' };
    await from.post(alert);
    let id = '';
    await eventually(async () => {
      const { alarms } = (await call('GET', '/api/alarms')).json;
      expect(alarms).toMatchObject([{ title: 'DiskFull' }]);
      id = alarms[0].id;
    });
    await eventually(async () => {
      const { deliveries } = (await call('GET', `/api/channels/${out}/deliveries`)).json;
      expect(deliveries).toMatchObject([
        { state: 'delivered', answer: 'not sent: the alarm comes from an Alertmanager, which has it' },
      ]);
    });
    const own = await from.silence('instance=db-1');
    await shelved(id);
    await from.amtool('silence', 'expire', own);
    await open(id);
    expect(await events(id)).toEqual(['shelve by Ann (am)', 'unshelve by am']);
    expect(await from.alerts()).toHaveLength(1);
  });

  test('the end and the comment of the shelf follow those of the silence, and of several the one that ends last counts', async () => {
    await channel();
    const id = await notify();
    await delivered('disk');
    const first = await silence({ duration: '1h' });
    await shelved(id);
    await manager.amtool('silence', 'update', '-d', '3h', '-c', 'longer', first);
    await shelved(id, { note: 'longer' });
    const second = await silence({ author: 'Bob', duration: '9h', comment: 'much longer' });
    await shelved(id, { by: 'Bob (am)', note: 'much longer' });
    await silence({ author: 'Eve', duration: '30m' });
    await polled();
    expect((await found(id)).shelved?.by).toBe('Bob (am)');
    await expire(second);
    await shelved(id, { by: 'Ann (am)', note: 'longer' });
  });

  test('an alarm that a person takes back from the shelf stays back, also after a repeat and a restart, until the silence is another', async () => {
    await channel();
    const id = await notify();
    await delivered('disk');
    const own = await silence();
    await shelved(id);
    expect((await call('DELETE', `/api/alarms/${id}/shelve`)).status).toBe(200);
    await polled();
    expect((await found(id)).state).toBe('open');
    const repeat = await notify();
    await server.stop({ keep: true });
    server = await TestServer.start(env, server.folder);
    await polled();
    expect((await found(repeat)).state).toBe('open');
    await manager.amtool('silence', 'update', '-c', 'really', own);
    await shelved(repeat, { note: 'really' });
  });

  test('a shelf that a person made stays as it is', async () => {
    await channel();
    const id = await notify();
    await delivered('disk');
    const own = await silence();
    await shelved(id);
    await call('POST', `/api/alarms/${id}/shelve`, { forMs: 60_000_000, note: 'mine' });
    await manager.amtool('silence', 'update', '-c', 'other', own);
    await polled();
    await expire(own);
    await polled();
    expect((await found(id)).shelved).toMatchObject({ note: 'mine' });
  });

  test('an alert that ends while it is silenced leaves its alarm on the shelf until the silence ends', async () => {
    const from = await Alertmanager.start({
      url: `${server.url}/api/integrations/alertmanager`,
      token: lab.token,
    });
    onTestFinished(() => from.stop());
    await channel({ url: from.url });
    const alert = { labels: { alertname: 'Gone' }, startsAt: '2026-01-01T00:00:00Z' };
    await from.post({ ...alert, endsAt: '2036-01-01T00:00:00Z' });
    await eventually(async () => expect((await call('GET', '/api/alarms')).json.alarms).toHaveLength(1));
    const [{ id }] = (await call('GET', '/api/alarms')).json.alarms;
    const own = await from.silence('alertname=Gone');
    await shelved(id);
    await from.post({ ...alert, endsAt: new Date(Date.now() - 1_000).toISOString() });
    // It is covered after that alert has left the list.
    await from.post({ labels: { alertname: 'Next' }, endsAt: '2036-01-01T00:00:00Z' });
    let next = '';
    await eventually(async () => {
      const { alarms } = (await call('GET', '/api/alarms')).json;
      next = alarms.find(({ title }: { title: string }) => title === 'Next')?.id ?? '';
      expect(next).not.toBe('');
    });
    await from.silence('alertname=Next');
    await shelved(next);
    expect((await found(id)).state).toBe('shelved');
    await from.amtool('silence', 'expire', own);
    await open(id);
    expect(await events(id)).toEqual(['shelve by Ann (am)', 'unshelve by am']);
  });

  test('what ended while Belfry was stopped ends after its start, and nothing is done twice', async () => {
    await channel();
    const [id, other] = [await notify(), await notify({ key: 'other' })];
    await delivered('disk');
    await delivered('other');
    const own = await silence();
    const kept = await manager.silence(matchers('other'), {
      duration: '5h',
      author: 'Bob',
    });
    await shelved(id);
    await shelved(other, { by: 'Bob (am)' });
    const before = await events(other);
    await server.stop({ keep: true });
    await expire(own);
    server = await TestServer.start(env, server.folder);
    await eventually(async () => expect((await found(id)).state).toBe('open'));
    await polled();
    expect([await events(id), await events(other)]).toEqual([
      ['shelve by Ann (am)', 'unshelve by am'],
      before,
    ]);
    await expire(kept);
    await open(other);
  });

  test('while Alertmanager cannot be reached, the shelf stays, and what was done meanwhile follows', async () => {
    const away = await Alertmanager.start();
    onTestFinished(() => away.stop());
    await channel({ url: away.url });
    const id = await notify();
    await eventually(async () => expect(await away.alerts()).toHaveLength(1));
    const own = await away.silence(matchers());
    await shelved(id);
    await away.end();
    await notify({ title: 'later' });
    expect((await found(id)).state).toBe('shelved');
    await away.begin();
    await away.amtool('silence', 'expire', own);
    await eventually(async () => expect((await found(id)).state).toBe('open'));
  });

  test('a silence that begins later holds from then on, and one without an end is a shelf of a year', async () => {
    await channel();
    const id = await notify();
    await delivered('disk');
    const start = new Date(Date.now() + 3_000).toISOString();
    await manager.amtool(
      'silence',
      'add',
      '-a',
      'Ann',
      '-c',
      'x',
      '--start',
      start,
      '--end',
      '9999-01-01T00:00:00Z',
      ...matchers(),
    );
    await eventually(async () => expect((await found(id)).state).toBe('shelved'));
    await polled();
    expect(await events(id)).toEqual(['shelve by Ann (am)']);
    const { at, until } = (await found(id)).shelved ?? { at: '', until: '' };
    expect(Date.parse(at)).toBeGreaterThanOrEqual(Date.parse(start));
    expect(Date.parse(until) - Date.parse(at)).toBe(366 * 86_400_000);
  });

  test('alarms of another tenant, and of a channel that is disabled, set to off or deleted, are not shelved', async () => {
    await channel();
    const others = await server.key('admin', `${lab.tenant}-other`);
    const foreign = (
      await server.notify(await server.token({ tenant: `${lab.tenant}-other` }), {
        ...{ title: 'x', message: 'y', level: 'error', key: 'disk' },
      })
    ).json.id;
    const id = await notify();
    await delivered('disk');
    const other = await server.call('POST', '/api/channels', {
      token: others,
      json: { name: 'am', kind: 'alertmanager', settings: { url: manager.url } },
    });
    expect(other.status).toBe(201);
    const own = await silence();
    await shelved(id);
    await expire(own);
    await open(id);
    const { channels } = (await call('GET', '/api/channels')).json;
    const path = `/api/channels/${channels[0].id}`;
    const settings = { url: manager.url };
    for (const [off, on] of [
      [{ enabled: false }, { enabled: true }],
      [{ settings: { ...settings, silences: 'off' } }, { settings }],
    ]) {
      expect((await call('PATCH', path, off)).status).toBe(200);
      const again = await silence({ comment: 'again' });
      await manager.amtool('silence', 'expire', again);
      expect((await call('PATCH', path, on)).status).toBe(200);
      await polled();
    }
    expect((await events(id)).length).toBe(2);
    await silence({ comment: 'last' });
    await shelved(id);
    expect((await call('DELETE', path)).status).toBe(204);
    expect((await found(id)).state).toBe('shelved');
    const seen = await server.call('GET', `/api/alarms/${foreign}`, { token: others });
    expect(seen.json).toMatchObject({ state: 'open', events: [] });
  });

  test('while the tenant is suspended, nothing is shelved', async () => {
    await channel();
    const id = await notify();
    await delivered('disk');
    const { tenants: records } = server.running.directory;
    const own = await server.tenant(lab.tenant);
    await records.setState(own, 'suspended', 'test', Date.now());
    const meanwhile = await silence({ comment: 'meanwhile' });
    // A channel of another tenant has followed a later silence.
    const { tenant, key, token } = lab;
    await lab.enter(`${tenant}-active`);
    await channel();
    await polled();
    await expire(meanwhile);
    await polled();
    await records.setState(own, 'active', 'test', Date.now());
    Object.assign(lab, { tenant, key, token });
    await polled();
    expect((await found(id)).events).toEqual([]);
    await silence();
    await shelved(id);
  });
});
