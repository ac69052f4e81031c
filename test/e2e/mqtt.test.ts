/** MQTT with Mosquitto as the broker, and its programs as clients. */
import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync } from 'node:fs';
import { type AddressInfo, connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import tls from 'node:tls';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import type { KeptBroker } from '#channels/kinds/mqtt.ts';
import { send } from '#channels/send.ts';
import { noTexts } from '#contract/history/fields.ts';
import type { Sender } from '#core/intake/own-sender.ts';
import type { SharedLease } from '#core/streams/nodes.ts';
import type { ListenerIntake } from '#listeners/intake.ts';
import { MqttSubscriber } from '#listeners/mqtt.ts';
import { createOutbound } from '#outbound/outbound.ts';
import { eventually } from '../support/eventually.ts';
import { Mosquitto, missingMosquitto } from '../support/mosquitto.ts';
import { TestServer } from '../support/server.ts';
import { endServers, ServerProcess } from '../support/server-process.ts';
import { skipReason } from '../support/skip-reason.ts';

/** A broker on another port that answers as one of MQTT 3.1.1 does to MQTT 5. */
async function withoutMqtt5(port: number) {
  const server = createServer((socket) => {
    socket.on('error', () => undefined);
    socket.once('data', (opening) => {
      const version = opening[opening.indexOf('MQTT') + 4];
      if (version === 5) {
        socket.end(Buffer.from([0x20, 2, 0, 1]));
        return;
      }
      const broker = connect(port, '127.0.0.1').on('error', () => socket.destroy());
      broker.write(opening);
      broker.pipe(socket).pipe(broker);
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  return `127.0.0.1:${(server.address() as AddressInfo).port}`;
}

const missing = skipReason(missingMosquitto());
describe.skipIf(missing !== undefined)(missing ?? 'with Mosquitto', () => {
  const folder = mkdtempSync(join(tmpdir(), 'belfry-mqtt-'));
  let broker: Mosquitto;
  let server: TestServer;
  let key: string;
  let settings: Record<string, string>;

  beforeAll(async () => {
    broker = await Mosquitto.start();
    const first = await TestServer.start({}, folder);
    key = await first.key();
    settings = {
      BELFRY_MQTT_URL: broker.url,
      BELFRY_MQTT_TOPICS: 'belfry/#, +/alarm',
      BELFRY_MQTT_TOKEN: await first.token({ name: 'mqtt', rate: { perSecond: 100, burst: 50 } }),
      BELFRY_METRICS_TOKEN: 'metrics',
      BELFRY_RATE_TENANT: 'off',
      BELFRY_OUTBOUND_ALLOW: '127.0.0.1',
    };
    await first.stop({ keep: true });
    server = await TestServer.start(settings, folder);
    await subscribed();
  }, 300_000);
  afterAll(async () => {
    await endServers();
    await server?.stop();
    await broker?.stop();
  });

  /** Since the broker began. */
  const subscribed = () => eventually(() => expect(broker.log).toMatch(/SUBACK to belfry/));
  // biome-ignore lint/suspicious/noExplicitAny: a test looks into what was stored
  const history = async (query = ''): Promise<any[]> =>
    (await server.call('GET', `/api/history?limit=200&q=${encodeURIComponent(query)}`, { token: key })).json
      .notifications;
  const counted = async (result: string) => {
    const text = (await server.call('GET', '/metrics', { token: 'metrics' })).text;
    const line = `belfry_listener_messages_total{listener="mqtt",result="${result}"} `;
    return Number(text.split(line)[1]?.split('\n', 1)[0] ?? 0);
  };

  it('what is published is stored; what is no text, too long or of another topic is not, and is acknowledged', async () => {
    await broker.publish('belfry/garage', 'door open');
    await broker.publish(
      'tank/alarm',
      JSON.stringify({ title: 'Tank', message: 'empty', level: 'crit', key: 'tank' }),
    );
    await broker.publish('tank/level', 'of another topic');
    await broker.publish('belfry/x', Buffer.from([0xff, 0xd8]));
    await broker.publish('belfry/x', 'x'.repeat(70_000));
    // The broker itself does not send it.
    await broker.publish('belfry/x', 'x'.repeat(200_000));
    await broker.publish(`belfry/<b>"'\u{1f514}${'/xxx'.repeat(150)}`, 'hostile');
    await broker.publish('belfry/retained', 'on', '-r');
    await broker.publish('belfry/last', 'last', '-q', '0');
    await eventually(async () => expect((await history())[0]?.message).toBe('last'));
    const [last, retained, hostile, tank, garage, ...others] = await history();
    expect(others).toEqual([]);
    expect(last.title).toBe('belfry/last');
    expect(retained.message).toBe('on');
    expect(hostile).toMatchObject({
      message: 'hostile',
      host: null,
      title: expect.stringMatching(/^belfry\/<b>"'/),
    });
    expect(tank).toMatchObject({ title: 'Tank', message: 'empty', level: 'critical', key: 'tank' });
    expect(garage).toMatchObject({
      title: 'belfry/garage',
      message: 'door open',
      level: 'info',
      host: 'belfry/garage',
    });
    expect(garage).toMatchObject({ sourceIp: '127.0.0.1', token: { name: 'mqtt' } });
    expect([await counted('stored'), await counted('refused'), await counted('dropped')]).toEqual([5, 2, 0]);
  });

  it('the commands of the guide are taken', async () => {
    const guide = readFileSync(join(import.meta.dirname, '../../docs/listeners.md'), 'utf8');
    const commands = [...guide.matchAll(/^mosquitto_pub -h 127\.0\.0\.1 (.*)$/gm)].map(([, rest]) => rest);
    expect(commands).toHaveLength(3);
    const client = `mosquitto_pub -h 127.0.0.1 -p ${broker.port} -u belfry -P se:cret`;
    for (const rest of commands) spawnSync('sh', ['-c', `${client} ${rest}`]);
    await eventually(async () =>
      expect((await history()).slice(0, 3)).toMatchObject([
        {
          title: 'belfry/garage/warning',
          message: 'The door is open',
          key: 'door',
          labels: { env: 'prod', site: 'plant 2' },
        },
        { title: 'Water in the cellar', level: 'critical', key: 'cellar/water' },
        { title: 'belfry/garage/warning', message: 'The door is open', level: 'warning' },
      ]),
    );
  });

  it('a broker that stops, and one that is killed, is connected to again; what is retained is not stored again', async () => {
    const before = (await history()).length;
    await broker.end('SIGTERM');
    await broker.begin();
    await subscribed();
    await broker.publish('belfry/after', 'stop');
    await eventually(async () => expect((await history())[0]?.message).toBe('stop'));
    await broker.end('SIGKILL');
    await broker.begin();
    await subscribed();
    await broker.publish('belfry/after', 'kill');
    await eventually(async () => expect((await history())[0]?.message).toBe('kill'));
    expect((await history()).length).toBe(before + 2);
  });

  it('what comes while the server is away is stored; of a server that is killed in the middle nothing is lost', async () => {
    await server.stop({ keep: true });
    const lines = Array.from({ length: 150 }, (_, i) => `line ${i}`);
    await broker.publishLines('belfry/lines', lines);
    const first = await ServerProcess.start({ folder, env: settings });
    await eventually(() => expect(broker.log.match(/PUBACK from belfry/g)?.length ?? 0).toBeGreaterThan(60), {
      interval: 5,
    });
    await first.end('SIGKILL');
    server = await TestServer.start(settings, folder);
    const stored = async () => (await history('belfry/lines')).map(({ message }) => message).toReversed();
    await eventually(async () => expect(new Set(await stored()).size).toBe(lines.length));
    // Only those that were being stored may be there twice.
    expect((await stored()).length).toBeLessThanOrEqual(lines.length + 32);
    expect(broker.log.match(/PUBACK from belfry/g)?.length).toBeLessThan(2 * lines.length);
  });

  describe('a channel', () => {
    const channel = async (name: string, settings: object, secrets: object = { password: 'se:cret' }) => {
      const usual = { url: `mqtt://127.0.0.1:${broker.port}`, user: 'belfry' };
      const json = { name, kind: 'mqtt', settings: { ...usual, ...settings }, secrets };
      return (await server.call('POST', '/api/channels', { token: key, json })).json.id as string;
    };
    const answerOf = async (id: string) =>
      (await server.call('POST', `/api/channels/${id}/test`, { token: key })).json;

    it('publishes each notification, over one connection that it keeps and renews', async () => {
      const got = await broker.subscribe('out/#', '%r %q %t %p');
      onTestFinished(() => got.stop());
      await channel('mqtt', { topic: 'out/{level}/{host}/{key}', retain: 'true' });
      const then = { channels: ['mqtt'] };
      await server.call('POST', '/api/rules', { token: key, json: { name: 'mqtt', then } });
      const token = await server.token();
      const { json } = await server.notify(token, {
        title: 'Disk',
        message: 'full',
        level: 'error',
        host: 'db',
        key: 'a/+b',
      });
      await server.notify(token, { title: 'second', message: 'm' });
      await eventually(() => expect(got.lines()).toHaveLength(2));
      const [first = '', second = ''] = got.lines();
      // Not "retained": that is what those see who subscribe later.
      expect(first).toMatch(/^0 1 out\/error\/db\/a__b \{/);
      expect(JSON.parse(first.slice(first.indexOf('{')))).toMatchObject({
        ...{ id: json.id, tenant: 'default', title: 'Disk', level: 'error', key: 'a/+b' },
      });
      expect(second).toContain(' out/info/-/- {');
      expect(broker.log.match(/New client connected from \S+ as belfry-/g)).toHaveLength(1);
      got.stop();
      await broker.end('SIGTERM');
      await broker.begin();
      const later = await broker.subscribe('out/#', '%r %t');
      onTestFinished(() => later.stop());
      await server.notify(token, { title: 'third', message: 'm' });
      await eventually(() => expect(later.lines()).toHaveLength(3));
      expect(later.lines().toSorted()).toEqual(['0 out/info/-/-', '1 out/error/db/a__b', '1 out/info/-/-']);
    });

    it('says what the broker said, and reaches no address that is not allowed', async () => {
      const wrong = await channel('wrong', { topic: 'x' }, { password: 'wrong' });
      expect(await answerOf(wrong)).toMatchObject({
        ok: false,
        answer: expect.stringMatching(/not authorized|password is wrong/),
      });
      const forbidden = await channel('forbidden', { topic: 'forbidden/x' });
      expect(await answerOf(forbidden)).toMatchObject({
        ok: false,
        answer: expect.stringContaining('not authorized'),
      });
      const unheard = await channel('unheard', { topic: 'nobody/hears' });
      expect(await answerOf(unheard)).toMatchObject({
        ok: true,
        answer: expect.stringContaining('nobody subscribes'),
      });
      for (const host of ['127.0.0.2', '2130706434']) {
        const inner = await channel(`at ${host}`, { url: `mqtt://${host}:${broker.port}`, topic: 'x' });
        expect(await answerOf(inner)).toMatchObject({
          ok: false,
          answer: expect.stringContaining('BELFRY_OUTBOUND_ALLOW'),
        });
      }
      const http = await channel('http', { url: server.url.replace('http', 'mqtt'), topic: 'x' });
      expect(await answerOf(http)).toMatchObject({ ok: false });
    });

    it.each(['mqtts', 'wss'])(
      'over TLS trusts the certificates that the machine trusts: %s',
      async (scheme) => {
        const port = scheme === 'wss' ? broker.secureWebPort : broker.tlsPort;
        const id = await channel(scheme, { url: `${scheme}://localhost:${port}`, topic: 'tls', qos: '0' });
        expect(await answerOf(id)).toMatchObject({ ok: false, answer: expect.stringMatching(/self.signed/) });
        const usual = tls.getCACertificates('default');
        onTestFinished(() => tls.setDefaultCACertificates(usual));
        tls.setDefaultCACertificates([...usual, readFileSync(broker.certificate, 'utf8')]);
        expect(await answerOf(id)).toMatchObject({ ok: true });
      },
    );

    it.each(['MQTT 5', 'MQTT 3.1.1', 'WebSocket'])(
      'over %s ends a connection that is not used',
      async (way) => {
        const urls: Record<string, () => Promise<string> | string> = {
          'MQTT 5': () => `mqtt://127.0.0.1:${broker.port}`,
          'MQTT 3.1.1': async () => `mqtt://${await withoutMqtt5(broker.port)}`,
          WebSocket: () => `ws://127.0.0.1:${new URL(broker.webUrl).port}/mqtt`,
        };
        const url = (await urls[way]?.()) ?? '';
        const brokers = { idleMs: 50, kept: new Map() };
        const notification = {
          id: 'n',
          tenant: 't',
          receivedAt: 0,
          title: 't',
          message: 'm',
          level: 'info',
          rank: 20,
          ttl: 0,
        };
        const options = {
          outbound: createOutbound(['127.0.0.1']),
          mail: undefined,
          now: Date.now,
          signal: AbortSignal.any([]),
        };
        const settings = { url, topic: 'idle', user: 'belfry' };
        const result = await send(
          'mqtt',
          { settings, secrets: { password: 'se:cret' } },
          { ...notification, ...noTexts, instructions: null, alarm: 'a', state: 'open' as const },
          { ...options, brokers },
        );
        expect(result.outcome).toBe('delivered');
        const [{ connection }] = [await [...brokers.kept.values()][0]] as [KeptBroker];
        await connection.closed;
        expect(brokers.kept.size).toBe(0);
      },
    );
  });

  describe('a subscriber', () => {
    const open = (
      takes: (title: string) => Sender | undefined | Promise<Sender | undefined>,
      {
        lease,
        clientId = `test-${Math.random()}`,
        url = broker.url,
      }: { lease?: SharedLease; clientId?: string; url?: string } = {},
    ) => {
      const stored: string[] = [];
      const intake: ListenerIntake = {
        findSender: async (token) => takes(token),
        admit: async () => undefined,
        accept: async (_sender, _source, { message }) => {
          stored.push(message);
          return 'an-id';
        },
        count: () => undefined,
      };
      const messages: string[] = [];
      const log = {
        info: (text: string) => messages.push(text),
        warn: (_: object, text: string) => messages.push(text),
      };
      const options = { url, topics: ['own/#'], token: 't', clientId };
      const subscriber = new MqttSubscriber(options, { intake, log, lease });
      onTestFinished(() => subscriber.close());
      const isConnected = () => messages.some((text) => text.includes('connected to'));
      return {
        subscriber,
        stored,
        messages,
        connected: () => eventually(() => expect(isConnected()).toBe(true)),
        isConnected,
      };
    };
    const sender = { id: 'a' } as Sender;

    it('with a wrong token acknowledges nothing: the next one with the right token gets all', async () => {
      const wrong = open(() => undefined, { clientId: 'same' });
      await wrong.connected();
      await broker.publishLines('own/a', ['one', 'two']);
      await eventually(() => expect(wrong.messages.join()).toContain('they wait at the broker'));
      await wrong.subscriber.close();
      const right = open(() => sender, { clientId: 'same' });
      await eventually(() => expect(right.stored).toEqual(['one', 'two']));
      expect(wrong.stored).toEqual([]);
    });

    it('stores once what the broker repeats after an interruption', async () => {
      let release = (_: Sender) => undefined as unknown;
      const held = new Promise<Sender>((resolve) => {
        release = resolve;
      });
      const { stored, connected, messages } = open(() => held);
      await connected();
      await broker.publish('own/b', 'once');
      await broker.end('SIGTERM');
      await broker.begin();
      await eventually(() =>
        expect(messages.filter((text) => text.includes('connected to'))).toHaveLength(2),
      );
      await broker.publish('own/b', 'after');
      release(sender);
      await eventually(() => expect(stored).toEqual(['once', 'after']));
    });

    it('over WebSocket stores, and acknowledges', async () => {
      const { stored, connected } = open(() => sender, { url: broker.webUrl, clientId: 'web' });
      await connected();
      await broker.publish('own/d', 'x'.repeat(2_000));
      await eventually(() => expect(broker.log).toMatch(/PUBACK from web/));
      expect(stored).toEqual(['x'.repeat(2_000)]);
    });

    it('with a broker of MQTT 3.1.1 stores in its session; what is retained is not stored at each connection', async () => {
      const url = `mqtt://belfry:se%3Acret@${await withoutMqtt5(broker.port)}`;
      await broker.publish('own/e', 'retained', '-r');
      const first = open(() => sender, { url, clientId: 'old' });
      await first.connected();
      await broker.publish('own/e', 'one');
      await eventually(() => expect(first.stored).toEqual(['one']));
      await first.subscriber.close();
      await broker.publish('own/e', 'two');
      const second = open(() => sender, { url, clientId: 'old' });
      await second.connected();
      await broker.publish('own/e', 'three');
      await eventually(() => expect(second.stored).toEqual(['two', 'three']));
      expect(broker.log).toMatch(/ as old \(p2, c0/);
    });

    it('of several nodes one is connected, and another follows when it ends', async () => {
      let holder: string | undefined;
      const leaseOf = (name: string): SharedLease => ({
        hold: async () => {
          holder ??= name;
          return holder === name;
        },
        release: async () => {
          if (holder === name) holder = undefined;
        },
      });
      const a = open(() => sender, { lease: leaseOf('a'), clientId: 'shared' });
      await a.connected();
      const b = open(() => sender, { lease: leaseOf('b'), clientId: 'shared' });
      await broker.publish('own/c', 'first');
      await eventually(() => expect(a.stored).toEqual(['first']));
      expect(b.isConnected()).toBe(false);
      await a.subscriber.close();
      await broker.publish('own/c', 'second');
      await eventually(() => expect(b.stored).toEqual(['second']));
    });
  });
});
