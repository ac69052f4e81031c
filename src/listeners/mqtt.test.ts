import crypto from 'node:crypto';
import { syncBuiltinESMExports } from 'node:module';
import type { Socket } from 'node:net';
import { type Duplex, duplexPair } from 'node:stream';
import timers from 'node:timers/promises';
import { generate, type Packet, parser } from 'mqtt-packet';
import { beforeEach, expect, it, onTestFinished, vi } from 'vitest';
import { labelsText } from '#contract/history/labels.ts';
import { AppError } from '#core/errors.ts';
import type { CheckedFields } from '#core/intake/notification.ts';
import type { Sender } from '#core/intake/own-sender.ts';
import { fieldsOf, parseLevelMap } from '#integrations/format.ts';
import type { Outbound } from '#outbound/outbound.ts';
import { eventually } from '#test/support/eventually.ts';
import { itemOfMqtt, MqttSubscriber, takesTopic } from './mqtt.ts';

/** Waits and the clock are so much faster. */
const pace = 100;
beforeEach(() => {
  const [sleep, now] = [timers.setTimeout, performance.now.bind(performance)];
  const fast = (ms?: number, value?: unknown, options?: object) => sleep((ms ?? 0) / pace, value, options);
  vi.spyOn(timers, 'setTimeout').mockImplementation(fast as typeof sleep);
  vi.spyOn(performance, 'now').mockImplementation(() => now() * pace);
  // Named imports follow.
  syncBuiltinESMExports();
  return () => {
    vi.restoreAllMocks();
    syncBuiltinESMExports();
  };
});

const version = { protocolVersion: 5 };

/** A broker of one client, that keeps its session. */
class Broker {
  readonly acknowledged: number[] = [];
  connections = 0;
  /** Ends each connection after its subscription. */
  isHasty = false;
  isAway = false;
  #client: Duplex | undefined;
  #side: Duplex | undefined;

  readonly outbound = {
    connect: async () => {
      if (this.isAway) throw new Error('connect ECONNREFUSED');
      const [client, side] = duplexPair();
      const packets = parser(version).on('packet', (packet) => this.#take(packet));
      side.on('data', (bytes) => packets.parse(bytes));
      [this.#client, this.#side] = [client, side];
      return client as Socket;
    },
  } as unknown as Outbound;

  #take(packet: Packet): void {
    if (packet.cmd === 'connect') this.send({ cmd: 'connack', sessionPresent: true, reasonCode: 0 });
    if (packet.cmd === 'puback') this.acknowledged.push(packet.messageId ?? 0);
    if (packet.cmd === 'disconnect') this.cut();
    if (packet.cmd !== 'subscribe') return;
    this.send({ cmd: 'suback', messageId: packet.messageId ?? 0, granted: [1] });
    this.connections += 1;
    if (this.isHasty) setImmediate(() => this.cut());
  }

  send(packet: Packet): void {
    this.#side?.write(generate(packet, version));
  }

  publish(payload: string, messageId: number, dup = false): void {
    this.send({ cmd: 'publish', topic: 'a', payload, qos: 1, retain: false, messageId, dup });
  }

  cut(): void {
    this.#client?.destroy();
  }

  connected(times: number): Promise<void> {
    return eventually(() => expect(this.connections).toBeGreaterThanOrEqual(times), { interval: 5 });
  }
}

function subscribe({ lease }: { lease?: () => Promise<boolean> } = {}) {
  const broker = new Broker();
  const stored: string[] = [];
  const logged: string[] = [];
  const world = {
    ...{ broker, stored, logged },
    /** What cannot be stored now. */
    refuses: (_: CheckedFields): boolean => false,
    refused: 0,
    released: 0,
    sender: async (): Promise<Sender> => ({ id: 'a' }) as Sender,
  };
  const subscriber = new MqttSubscriber(
    { url: 'mqtt://broker', topics: ['a'], token: 't', clientId: 'x' },
    {
      intake: {
        findSender: () => world.sender(),
        admit: async () => undefined,
        accept: async (_sender, _source, fields) => {
          if (world.refuses(fields)) {
            world.refused += 1;
            throw new AppError('rate-limited', 'too much', { retryAfterSeconds: 1 });
          }
          stored.push(fields.message);
          return 'an-id';
        },
        count: () => undefined,
      },
      log: { info: (text) => logged.push(text), warn: (_, text) => logged.push(text) },
      lease: lease && {
        hold: lease,
        release: async () => {
          world.released += 1;
        },
      },
      outbound: broker.outbound,
    },
  );
  onTestFinished(() => subscriber.close());
  return world;
}

const soon = (look: () => void) => eventually(look, { interval: 5 });

it('stores what comes with an id that was acknowledged, whatever it says: it is another message', async () => {
  const { broker, stored } = subscribe();
  await broker.connected(1);
  broker.publish('The door is open', 1);
  await soon(() => expect(broker.acknowledged).toEqual([1]));
  broker.cut();
  await broker.connected(2);
  broker.publish('The door is open', 1, true);
  await soon(() => expect(broker.acknowledged).toEqual([1, 1]));
  expect(stored).toEqual(['The door is open', 'The door is open']);
});

it('acknowledges and does not store again what it stored while there was no connection', async () => {
  const world = subscribe();
  const { broker, stored } = world;
  let release = (_: Sender) => undefined as unknown;
  world.sender = () =>
    new Promise((resolve) => {
      release = resolve;
    });
  await broker.connected(1);
  broker.publish('once', 1);
  await new Promise(setImmediate);
  broker.cut();
  release({ id: 'a' } as Sender);
  await soon(() => expect(stored).toEqual(['once']));
  expect(broker.acknowledged).toEqual([]);
  await broker.connected(2);
  broker.publish('once', 1, true);
  await soon(() => expect(broker.acknowledged).toEqual([1]));
  expect(stored).toEqual(['once']);
});

it.each([
  ['is connected', false],
  ['has no connection', true],
])(
  'a node that loses the lease while it %s forgets what waits, and takes it anew when it has it again',
  async (_, isAway) => {
    let isHeld = true;
    let refusals = 0;
    const world = subscribe({
      lease: async () => {
        if (!isHeld) refusals += 1;
        return isHeld;
      },
    });
    const { broker, stored } = world;
    world.refuses = () => true;
    await broker.connected(1);
    broker.publish('one', 1);
    await soon(() => expect(world.refused).toBeGreaterThan(0));
    isHeld = false;
    broker.isAway = isAway;
    if (isAway) broker.cut();
    await soon(() => expect(refusals).toBeGreaterThan(1));
    world.refuses = () => false;
    await new Promise((resolve) => setTimeout(resolve, 50));
    expect(stored).toEqual([]);
    broker.isAway = false;
    isHeld = true;
    await broker.connected(2);
    broker.publish('one', 1, true);
    await soon(() => expect(broker.acknowledged).toEqual([1]));
    expect(stored).toEqual(['one']);
  },
);

it('reads no more while many messages wait, and stores all of them in the end', async () => {
  const world = subscribe();
  const { broker, stored } = world;
  let isReady = false;
  world.refuses = () => !isReady;
  await broker.connected(1);
  const all = Array.from({ length: 3_000 }, (_, i) => `message ${i}`);
  const got = vi.spyOn(crypto, 'createHash');
  syncBuiltinESMExports();
  for (const [i, payload] of all.entries()) broker.publish(payload, i + 1);
  await soon(() => expect(got.mock.calls.length).toBeGreaterThanOrEqual(1_000));
  await soon(() => expect(world.refused).toBeGreaterThan(64));
  // A piece of the stream contains some.
  expect(got.mock.calls.length).toBeLessThan(1_100);
  isReady = true;
  await soon(() => expect(stored).toEqual(all));
  expect(broker.acknowledged).toHaveLength(all.length);
  expect(broker.connections).toBe(1);
});

it('a node that cannot renew the lease stores nothing more of what waits', async () => {
  let isCut = false;
  const world = subscribe({
    lease: async () => {
      if (isCut) throw new Error('the database is away');
      return true;
    },
  });
  const { broker, stored } = world;
  world.refuses = () => true;
  await broker.connected(1);
  broker.publish('one', 1);
  await soon(() => expect(world.refused).toBeGreaterThan(0));
  isCut = true;
  await soon(() => expect(world.logged).toContain('mqtt: the database does not answer'));
  world.refuses = () => false;
  await new Promise((resolve) => setTimeout(resolve, 50));
  expect(stored).toEqual([]);
});

it('lets another node try when it cannot reach the broker', async () => {
  const world = subscribe({ lease: async () => true });
  world.broker.isAway = true;
  await soon(() => expect(world.released).toBeGreaterThan(1));
});

it('stores messages of one key in their order, also when the first of them must wait', async () => {
  const world = subscribe();
  const { broker, stored } = world;
  world.refuses = ({ message }) => message === 'closed' && world.refused < 3;
  let release = (_: Sender) => undefined as unknown;
  const held = new Promise<Sender>((resolve) => {
    release = resolve;
  });
  world.sender = () => held;
  await broker.connected(1);
  // While it is being stored, the others come together.
  broker.publish('first', 9);
  await new Promise(setImmediate);
  broker.publish('{"key": "door", "level": "info", "message": "closed"}', 1);
  broker.publish('{"key": "door", "level": "critical", "message": "open"}', 2);
  broker.publish('{"key": "window", "level": "critical", "message": "broken"}', 3);
  await new Promise(setImmediate);
  release({ id: 'a' } as Sender);
  await soon(() => expect(broker.acknowledged).toHaveLength(4));
  expect(stored.filter((text) => text !== 'broken')).toEqual(['first', 'closed', 'open']);
});

it('connections that do not last are one warning and one success, and are made more and more seldom', async () => {
  const { broker, logged } = subscribe();
  broker.isHasty = true;
  await broker.connected(5);
  expect(logged).toEqual([
    'mqtt: connected to broker, subscribed to a',
    'mqtt: no connection to the broker; trying again',
    'mqtt: connected to broker, subscribed to a',
  ]);
});

const fields = (topic: string, payload: string | Buffer, properties?: Record<string, string | string[]>) => {
  const item = itemOfMqtt(topic, Buffer.from(payload), properties);
  return item && fieldsOf(item, parseLevelMap([]));
};

it('of a text has the topic as its title and host', () => {
  expect(fields('garage/door', 'open\n')).toMatchObject({
    ...{ title: 'garage/door', message: 'open', host: 'garage/door', level: 'info', key: null },
  });
});

it('has the user properties with the names of headers, unless its JSON has the field', () => {
  const properties = {
    ...{ 'X-Title': 'Door', 'x-level': 'Alarm', 'X-Host': 'gate', 'X-Key': 'door', 'X-URL': 'http://b/' },
    'X-Labels': ['env=prod, site=plant 2', 'note=a=1'],
    ...{ labels: 'no=header', trace: 'of another program' },
  };
  const labels = labelsText({ env: 'prod', site: 'plant 2', note: 'a=1' });
  const sent = { title: 'Door', level: 'error', host: 'gate', key: 'door', url: 'http://b/', labels };
  expect(fields('garage/critical', 'open', properties)).toMatchObject({ ...sent, message: 'open' });
  expect(fields('garage', '{"message": "open"}', properties)).toMatchObject({ ...sent, message: 'open' });
  const json = {
    title: 'Leak',
    message: 'm',
    level: 'info',
    host: 'db',
    key: 'k',
    url: 'http://a/',
    labels: { a: 'b' },
  };
  expect(fields('garage', JSON.stringify(json), properties)).toMatchObject({
    ...json,
    labels: labelsText(json.labels),
  });
  expect(fields('garage', 'open', { 'X-Level': 'mine', 'X-Labels': '9x=1,,' })).toMatchObject({
    level: 'mine',
  });
});

it('of JSON has the fields that it names', () => {
  const sent = {
    title: 'Leak',
    message: 'Kitchen',
    level: 'alarm',
    host: 'kitchen:1',
    key: 'leak',
    url: 'http://a/',
    labels: { site: 'plant 2', floor: -1, sensors: ['a'] },
  };
  expect(fields('x', JSON.stringify(sent))).toMatchObject({
    ...{ title: 'Leak', message: 'Kitchen', level: 'error', host: 'kitchen', key: 'leak', url: 'http://a/' },
    labels: labelsText({ site: 'plant 2', floor: '-1' }),
  });
  for (const labels of [null, 'env=prod', [['a', 'b']], {}])
    expect(fields('x', JSON.stringify({ ...sent, labels }))).toMatchObject({ title: 'Leak', labels: null });
  expect(fields('a/b', '{"message": 1, "level": "incident"}')).toMatchObject({
    ...{ title: 'a/b', message: '1', level: 'incident', host: 'a/b' },
  });
  expect(fields('a', '{"title": "t", "severity": "nonsense", "level": null}')).toMatchObject({
    level: 'info',
  });
});

it('of other JSON is its text', () => {
  for (const text of ['{"level": 254, "state": "ON"}', '[{"title": "x"}]', '{"title":', '12'])
    expect(fields('lamp', text)).toMatchObject({ title: 'lamp', message: text, level: 'info' });
});

it('has the level of its topic, where JSON names none', () => {
  expect(fields('alarms/Critical/water', 'x')?.level).toBe('critical');
  expect(fields('info/error', '{"message": "x"}')?.level).toBe('error');
  expect(fields('error', '{"message": "x", "level": "ok"}')?.level).toBe('success');
});

it('with a number as its level has the level of its topic', () => {
  for (const level of [3, '3', 254, null])
    expect(fields('error', JSON.stringify({ message: 'x', level }))?.level).toBe('error');
  expect(fields('a', '{"message": "x", "level": 30, "severity": "warn"}')?.level).toBe('warning');
});

it('has no colours of a terminal', () => {
  const text = '\u001b[1;31m[E][component:238]: Sensor failed\u001b[0m';
  expect(fields('esphome/log', text)?.message).toBe('[E][component:238]: Sensor failed');
});

it('is nothing when it is blank or no text', () => {
  for (const payload of ['', ' \n', Buffer.from([0xff, 0xd8, 0xff])])
    expect(fields('x', payload)).toBeUndefined();
});

it('of a hostile topic is cut to what the fields may hold', () => {
  const found = fields(`a\n\u0007<b>${'x/'.repeat(30_000)}`, 'text');
  expect(found).toMatchObject({ title: 'a', message: 'text', host: null });
  expect(fields('y'.repeat(60_000), 'text')?.title).toHaveLength(250);
});

it.each([
  ['#', 'a/b', true],
  ['#', '$SYS/x', false],
  ['+/x', '$SYS/x', false],
  ['$SYS/#', '$SYS/x', true],
  ['a/#', 'a', true],
  ['a/#', 'ab', false],
  ['a/+', 'a/b', true],
  ['a/+', 'a/b/c', false],
  ['a/+', 'a', false],
  ['+/+', '/x', true],
  ['a/b', 'a/b', true],
  ['a/b', 'a/B', false],
])('the filter %s and the topic %s: %s', (filter, topic, expected) => {
  expect(takesTopic(filter, topic)).toBe(expected);
});
