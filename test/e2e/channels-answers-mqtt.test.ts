/** What a home automation or a control room does about alarms over MQTT. The broker is a real one. */
import { createHash } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { createAnswersLab } from '../support/answers-lab.ts';
import { eventually } from '../support/eventually.ts';
import { Mosquitto, missingMosquitto } from '../support/mosquitto.ts';
import { limitMs } from '../support/patience.ts';
import { Receiver } from '../support/receiver.ts';
import { TestServer } from '../support/server.ts';
import { skipReason } from '../support/skip-reason.ts';

describe.skipIf(skipReason(missingMosquitto()))('commands over MQTT', () => {
  let broker: Mosquitto;
  let server: TestServer;
  beforeAll(async () => {
    broker = await Mosquitto.start();
    server = await TestServer.start({ BELFRY_OUTBOUND_ALLOW: '127.0.0.1', BELFRY_LOG_LEVEL: 'info' });
  });
  afterAll(async () => {
    await server.stop();
    await broker.stop();
  });

  const lab = createAnswersLab('commands', () => server);
  const { call, alarm, notificationOf: found } = lab;
  const topicOf = (alarm: string) => `${lab.tenant}/alarms/${alarm}`;
  const settings = (over: object = {}) => ({
    ...{ url: `mqtt://127.0.0.1:${broker.port}`, user: 'belfry', topic: `${lab.tenant}/alerts` },
    ...{ stateTopic: '{tenant}/alarms/{alarm}', commands: 'on', ...over },
  });
  const subscribed = (times = 1) =>
    eventually(() => {
      const found = [...broker.log.matchAll(/\n\d+: (?:\t| +)(\S+) \(QoS 1\)/g)].filter(
        ([, filter]) => filter === `${lab.tenant}/alarms/+/set`,
      );
      expect(found).toHaveLength(times);
    });
  const channel = ({ name = 'home', ...over }: { name?: string; commands?: string } = {}) =>
    lab.usedChannel(name, { kind: 'mqtt', settings: settings(over), secrets: { password: 'se:cret' } });
  const command = (name: string, payload: string | object, ...args: string[]) =>
    broker.publish(
      `${topicOf(name)}/set`,
      typeof payload === 'string' ? payload : JSON.stringify(payload),
      ...args,
    );
  const within = { timeout: limitMs(2_000) };

  test('each command holds within two seconds, names the person, and the state that the broker keeps follows', async () => {
    await channel();
    await subscribed();
    const states = await broker.subscribe(topicOf('disk'), '%p');
    onTestFinished(() => states.stop());
    const last = () => JSON.parse(states.lines().at(-1) ?? '{}') as object;
    const id = await alarm();
    await command('disk', 'acknowledge');
    await eventually(
      async () => expect(await found(id)).toMatchObject({ acknowledged: { by: 'home', note: null } }),
      within,
    );
    await eventually(() => expect(last()).toMatchObject({ state: 'acknowledged', by: 'home' }), within);
    await command('disk', 'unacknowledge');
    await eventually(() => expect(last()).toMatchObject({ state: 'open', by: 'home' }), within);
    await command('disk', { action: 'acknowledge', by: 'Ann', note: 'on my way' });
    await eventually(
      () => expect(last()).toMatchObject({ state: 'acknowledged', by: 'Ann (home)', note: 'on my way' }),
      within,
    );
    await command('disk', { action: 'shelve', by: 'Ann' });
    await eventually(() => expect(last()).toMatchObject({ state: 'shelved', by: 'Ann (home)' }), within);
    await command('disk', 'unshelve');
    await eventually(() => expect(last()).toMatchObject({ state: 'open', by: 'home' }), within);
    await command('disk', { action: 'shelve', by: 'Ann' });
    await eventually(() => expect(last()).toMatchObject({ state: 'shelved', by: 'Ann (home)' }), within);
    await command('disk', { action: 'clear', by: 'Bob', note: 'replaced' });
    await eventually(
      () => expect(last()).toMatchObject({ state: 'ended', by: 'Bob (home)', note: 'replaced' }),
      within,
    );
  });

  test('other channels of the alarm get what was done', async () => {
    const receiver = await Receiver.start();
    onTestFinished(() => receiver.close());
    await channel();
    const made = await call('POST', '/api/channels', {
      ...{ name: 'hook', kind: 'webhook', settings: { url: receiver.url, updates: 'all' } },
    });
    expect(made.text).toContain('"id"');
    await call('POST', '/api/rules', { name: 'hook', then: { channels: ['hook'] } });
    await subscribed();
    await alarm();
    await command('disk', 'acknowledge');
    await eventually(() =>
      expect(receiver.received.map(({ json }) => json)).toMatchObject([
        {},
        { type: 'alarm.acknowledged', data: { by: 'home' } },
      ]),
    );
  });

  test('two channels with the same topic act once on an acknowledgement', async () => {
    const receiver = await Receiver.start();
    onTestFinished(() => receiver.close());
    await channel();
    await channel({ name: 'second' });
    await call('POST', '/api/channels', {
      ...{ name: 'hook', kind: 'webhook', settings: { url: receiver.url, updates: 'all' } },
    });
    await call('POST', '/api/rules', { name: 'hook', then: { channels: ['hook'] } });
    await subscribed(2);
    const id = await alarm();
    await command('disk', 'acknowledge');
    await eventually(async () => expect((await found(id)).acknowledged).not.toBeNull(), within);
    await command('disk', 'clear');
    await eventually(() => expect(receiver.received).toHaveLength(3));
    const types = receiver.received.map(({ json }) => (json as { type?: string }).type);
    expect(types.slice(1)).toEqual(['alarm.acknowledged', 'alarm.ended']);
  });

  test('alarms are found by a key that is no name of a topic, and without a key', async () => {
    await channel();
    await subscribed();
    const hash = createHash('sha256').update('Disk/1 *?').digest('hex').slice(0, 8);
    const [odd, none] = [await alarm({ key: 'Disk/1 *?' }), await alarm({ key: undefined })];
    await command(`Disk_1 *?-${hash}`, 'acknowledge');
    await command(none, 'acknowledge');
    for (const id of [odd, none])
      await eventually(async () => expect((await found(id)).acknowledged?.by).toBe('home'), within);
  });

  test('retained, unknown and too long messages, and alarms that the channel was not sent, do nothing', async () => {
    await channel();
    await subscribed();
    const [id, last] = [await alarm(), await alarm({ key: 'last' })];
    const other = await server.key('admin', `${lab.tenant}-other`);
    const foreign = (
      await server.notify(await server.token({ tenant: `${lab.tenant}-other` }), {
        title: 'x',
        message: 'y',
        level: 'error',
        key: 'far',
      })
    ).json.id;
    for (const payload of [
      ...['ack!', '{', '[]', 'null', '{"action":["acknowledge"]}', '{"action":"delete"}', '\u0000'],
      JSON.stringify({ action: 'acknowledge', note: 'x'.repeat(5_000) }),
    ])
      await command('disk', payload);
    for (const topic of ['far', foreign, 'none']) await command(topic, 'acknowledge');
    await broker.publish(topicOf('disk'), 'acknowledge');
    await command('last', 'acknowledge');
    await eventually(async () => expect((await found(last)).acknowledged).not.toBeNull(), within);
    expect((await found(id)).acknowledged).toBeNull();
    const far = await server.call('GET', `/api/notifications/${foreign}`, { token: other });
    expect(far.json.acknowledged).toBeNull();
  });

  test.each([
    [
      'disk',
      'bogus',
      'it is none of acknowledge, unacknowledge, shelve, unshelve, clear, or has more than 4 KiB',
    ],
    ['disk', 'acknowledge', 'it has ended'],
    ['none', 'acknowledge', 'no alarm that the channel was sent has this name'],
  ])(
    'a command that does nothing is in the log, once in ten seconds: %s %s',
    async (name, payload, reason) => {
      await channel();
      await subscribed();
      const [id, last] = [await alarm({ key: 'disk' }), await alarm({ key: 'last' })];
      await call('POST', `/api/alarms/${id}/clear`, {});
      const topic = name === 'disk' && payload === 'acknowledge' ? id : name;
      for (let i = 0; i < 3; i++) await command(topic, payload);
      await command('last', 'acknowledge');
      await eventually(async () => expect((await found(last)).acknowledged).not.toBeNull(), within);
      const refused = server.log
        .map((line) => JSON.parse(line) as { msg: string; tenant?: string })
        .filter(
          ({ msg, ...of }) => msg === 'a command about an alarm did nothing' && of.tenant === lab.tenant,
        );
      expect(refused).toMatchObject([{ level: expect.anything(), channel: 'home', alarm: topic, reason }]);
    },
  );

  test('what the broker keeps is not done again after a reconnect', async () => {
    await channel();
    await subscribed();
    const [id, last] = [await alarm(), await alarm({ key: 'last' })];
    await broker.end();
    await broker.begin();
    await subscribed();
    await command('last', 'acknowledge');
    await eventually(async () => expect((await found(last)).acknowledged).not.toBeNull());
    expect((await found(id)).acknowledged).toBeNull();
  });

  test('a broker that is away is shown with the channel, until commands come again', async () => {
    const out = await channel();
    await subscribed();
    const stateOf = async () =>
      (await call('GET', '/api/channels')).json.channels.find(({ id }: { id: string }) => id === out).state;
    expect(await stateOf()).toMatchObject({ answersFailingSince: null, answersError: null });
    await broker.end();
    await eventually(async () =>
      expect(await stateOf()).toMatchObject({
        ...{ answersFailingSince: expect.any(String), failingSince: null },
        answersError: expect.stringMatching(/connection/),
      }),
    );
    await broker.begin();
    await subscribed();
    await eventually(async () => expect(await stateOf()).toMatchObject({ answersError: null }));
  });

  test('a channel that is disabled, or set to no commands, takes none at once, and its subscription ends within two seconds', async () => {
    const out = await channel();
    await subscribed();
    const id = await alarm();
    const ended = () => [...broker.log.matchAll(/Received DISCONNECT from belfry-/g)].length;
    const changes = [
      [{ enabled: false }, { enabled: true }],
      [{ settings: settings({ commands: 'off' }) }, { settings: settings() }],
    ];
    for (const [i, [off, on]] of changes.entries()) {
      const before = ended();
      expect((await call('PATCH', `/api/channels/${out}`, off)).status).toBe(200);
      await command('disk', 'acknowledge');
      await eventually(() => expect(ended()).toBeGreaterThan(before), within);
      expect((await found(id)).acknowledged).toBeNull();
      expect((await call('PATCH', `/api/channels/${out}`, on)).status).toBe(200);
      await subscribed(i + 2);
    }
    await command('disk', 'acknowledge');
    await eventually(async () => expect((await found(id)).acknowledged).not.toBeNull(), within);
  });

  test('a deleted channel ends its subscription within two seconds, and names have no control characters', async () => {
    const out = await channel();
    await subscribed();
    const id = await alarm();
    await command('disk', { action: 'acknowledge', by: 'belfry:cron\n\u202e' });
    await eventually(
      async () => expect((await found(id)).acknowledged?.by).toBe('belfry:cron (home)'),
      within,
    );
    const ended = () => [...broker.log.matchAll(/Received DISCONNECT from belfry-/g)].length;
    const before = ended();
    expect((await call('DELETE', `/api/channels/${out}`)).status).toBe(204);
    await eventually(() => expect(ended()).toBeGreaterThan(before), within);
  });

  test('commands need a topic for states', async () => {
    const { stateTopic: _, ...others } = settings();
    const answer = await call('POST', '/api/channels', { name: 'x', kind: 'mqtt', settings: others });
    expect(answer).toMatchObject({ status: 400, text: expect.stringContaining('settings.stateTopic') });
  });
});
