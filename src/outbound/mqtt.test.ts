import { once } from 'node:events';
import { type AddressInfo, createServer, type Server } from 'node:net';
import { Duplex, duplexPair } from 'node:stream';
import { MqttClient } from 'mqtt';
import { generate, type IPublishPacket, type Packet, parser } from 'mqtt-packet';
import { beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { WebSocketServer } from 'ws';
import { eventually } from '#test/support/eventually.ts';
import { freePort } from '#test/support/free-port.ts';
import { connectMqtt, MqttConnection, MqttRefusal, type MqttSession } from './mqtt.ts';
import { createOutbound, createTrustedOutbound } from './outbound.ts';

const version = { protocolVersion: 5 };
const packets: Packet[] = [
  {
    cmd: 'connack',
    sessionPresent: true,
    reasonCode: 0,
    properties: { receiveMaximum: 9, reasonString: 'words' },
  },
  { ...{ cmd: 'publish', topic: 'a/b', payload: 'text', qos: 1, dup: false, retain: false }, messageId: 7 },
  { cmd: 'puback', messageId: 7, reasonCode: 16 },
  { cmd: 'suback', messageId: 8, granted: [1, 135] },
  { cmd: 'disconnect', reasonCode: 142, properties: { reasonString: 'words' } },
];

const session = { id: 'x', packetBytes: 1_000 };
const nobody = { user: undefined, password: undefined };
const silent = () =>
  new Duplex({ allowHalfOpen: false, read: () => undefined, write: (_bytes, _encoding, done) => done() });
const over = (stream: Duplex, own: MqttSession = session, protocol: 4 | 5 = 5) =>
  new MqttConnection(stream, '', nobody, own, protocol);
const welcome: Packet = { cmd: 'connack', sessionPresent: false, reasonCode: 0 };

/** A connection that gets these bytes. */
async function given(bytes: Buffer, protocol: 4 | 5 = 5) {
  const stream = silent();
  const onMessage = ({ payload, messageId = 0 }: IPublishPacket, from: MqttConnection) => {
    if (payload.length > 0) from.acknowledge(messageId);
  };
  const connection = over(stream, { ...session, onMessage }, protocol);
  stream.push(bytes);
  stream.push(null);
  await connection.closed;
  return connection.opened;
}

it.each([5, 4] as const)('survives whatever a broker sends, in version %i', async (protocolVersion) => {
  const known =
    protocolVersion === 5 ? packets : [{ ...packets[0], returnCode: 0 } as Packet, ...packets.slice(1, 3)];
  const all = known.map((packet) => generate(packet, { protocolVersion }));
  for (const bytes of [...all, Buffer.concat(all)])
    for (let at = 0; at < bytes.length; at++)
      for (const value of [0, 1, 0x7f, 0x80, 0xff]) {
        const changed = Buffer.from(bytes);
        changed[at] = value;
        await given(changed, protocolVersion).catch(() => undefined);
        await given(bytes.subarray(0, at), protocolVersion).catch(() => undefined);
      }
});

it('reads a packet no further than it may be long', async () => {
  const bytes = generate({ ...packets[1], payload: 'x'.repeat(200_000) } as Packet, version);
  await expect(given(bytes.subarray(0, 190_000))).rejects.toThrow('the broker sent too much');
});

it('handles little of what comes with a packet that ends the connection', async () => {
  const stream = silent();
  const connection = over(stream);
  stream.push(generate(welcome, version));
  await connection.opened;
  const handled = vi.spyOn(MqttClient.prototype, 'reschedulePing');
  onTestFinished(() => handled.mockRestore());
  const answer = generate({ cmd: 'pingresp' }, version);
  stream.push(Buffer.concat(Array.from({ length: 32_768 }, () => answer)));
  expect((await connection.closed).message).toBe('the broker sent pingresp, which was not asked for');
  await new Promise(setImmediate);
  expect(handled.mock.calls.length).toBeLessThan(1_500);
});

it('ends the connection when the broker sends a packet that is too long, with an error that is not a refusal', async () => {
  const stream = silent();
  const taken: number[] = [];
  const connection = over(stream, { ...session, onMessage: ({ payload }) => taken.push(payload.length) });
  const sent = [
    welcome,
    ...[900, 1_000].map((size) => ({ ...packets[1], payload: 'x'.repeat(size) }) as Packet),
  ];
  stream.push(Buffer.concat(sent.map((packet) => generate(packet, version))));
  const ending = await connection.closed;
  expect(ending.message).toContain('packets size');
  expect(ending).not.toBeInstanceOf(MqttRefusal);
  expect(taken).toEqual([900]);
});

/** A connection and its broker, with what that got. */
function pair(own: Partial<MqttSession>, answer: (packet: Packet) => Packet | undefined) {
  const [stream, side] = duplexPair();
  const got: Packet[] = [];
  const send = (packet: Packet) => side.write(generate(packet, version));
  const packets = parser(version).on('packet', (packet) => {
    got.push(packet);
    const reply = answer(packet);
    if (reply) send(reply);
  });
  side.on('data', (bytes) => packets.parse(bytes));
  return { connection: over(stream, { ...session, ...own }), got, send };
}

it('receives messages while earlier ones wait, and acknowledges a message only when acknowledge is called', async () => {
  const taken: number[] = [];
  const { connection, got, send } = pair(
    { onMessage: ({ messageId = 0 }) => taken.push(messageId) },
    ({ cmd }) => (cmd === 'connect' ? welcome : undefined),
  );
  await connection.opened;
  for (const messageId of [7, 8, 300]) send({ ...packets[1], messageId } as Packet);
  await eventually(() => expect(taken).toEqual([7, 8, 300]));
  const acknowledged = () => got.flatMap((packet) => (packet.cmd === 'puback' ? [packet.messageId] : []));
  expect(acknowledged()).toEqual([]);
  expect([300, 7].map((id) => connection.acknowledge(id))).toEqual([true, true]);
  await eventually(() => expect(acknowledged()).toEqual([300, 7]));
  connection.destroy(new Error('the end'));
  expect(connection.acknowledge(8)).toBe(false);
});

it('passes on no messages while reading is paused, and all of them afterwards', async () => {
  const taken: number[] = [];
  const { connection, send } = pair(
    {
      onMessage: ({ messageId = 0 }, from) => {
        taken.push(messageId);
        if (messageId === 2) from.pauseReading();
      },
    },
    ({ cmd }) => (cmd === 'connect' ? welcome : undefined),
  );
  await connection.opened;
  const payload = 'x'.repeat(900);
  for (let messageId = 1; messageId <= 200; messageId++)
    send({ ...packets[1], payload, messageId } as Packet);
  for (let turn = 0; turn < 1_000; turn++) await new Promise(setImmediate);
  expect(taken.length).toBeLessThan(5);
  connection.resumeReading();
  await eventually(() => expect(taken).toEqual(Array.from({ length: 200 }, (_, i) => i + 1)));
  connection.destroy(new Error('the end'));
});

describe('with a clock that runs fast', () => {
  beforeEach(() => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval', 'setTimeout', 'clearTimeout', 'Date'] });
    return () => void vi.useRealTimers();
  });

  it('a connection stays open while its messages wait to be stored, because pings are sent and their answers read', async () => {
    const { connection, got, send } = pair({ onMessage: () => undefined }, ({ cmd }) =>
      cmd === 'connect' ? welcome : cmd === 'pingreq' ? { cmd: 'pingresp' } : undefined,
    );
    await connection.opened;
    for (let messageId = 1; messageId <= 40; messageId++) send({ ...packets[1], messageId } as Packet);
    const pings = () => got.filter(({ cmd }) => cmd === 'pingreq').length;
    while (pings() < 10) {
      await vi.advanceTimersByTimeAsync(15_000);
      expect(connection.isOpen).toBe(true);
    }
    expect(got.some(({ cmd }) => cmd === 'puback')).toBe(false);
    connection.destroy(new Error('the end'));
  });

  it.each(['sends messages', 'has to wait'])('a connection stays open while the broker %s', async (what) => {
    const { connection, got, send } = pair({ onMessage: () => undefined }, ({ cmd }) =>
      cmd === 'connect' ? welcome : undefined,
    );
    await connection.opened;
    if (what === 'has to wait') connection.pauseReading();
    const pings = () => got.filter(({ cmd }) => cmd === 'pingreq').length;
    while (pings() < 5) {
      // The answer to a ping may come late, behind such messages.
      send({ ...packets[1], payload: 'x' } as Packet);
      await vi.advanceTimersByTimeAsync(15_000);
      expect(connection.isOpen).toBe(true);
    }
    connection.destroy(new Error('the end'));
  });

  it('a connection ends when the broker no longer answers, also while messages are sent', async () => {
    const { connection } = pair({}, ({ cmd }) => (cmd === 'connect' ? welcome : undefined));
    await connection.opened;
    for (let step = 0; step < 20 && connection.isOpen; step++) {
      await connection.publish({ topic: 'a', payload: 'x', qos: 0, retain: false });
      await vi.advanceTimersByTimeAsync(15_000);
    }
    expect((await connection.closed).message).toBe('Keepalive timeout');
  });
});

describe('a broker at an address', () => {
  const schemes = ['mqtt', 'mqtts', 'ws', 'wss'];
  const listen = async (server: Server) => {
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    onTestFinished(() => void server.close());
    return (server.address() as AddressInfo).port;
  };

  it.each(schemes)('that is not allowed is not connected to: %s', async (scheme) => {
    let connections = 0;
    const port = await listen(
      createServer((socket) => {
        connections += 1;
        socket.destroy();
      }),
    );
    for (const host of ['127.0.0.1', 'localhost', '2130706433'])
      await expect(
        connectMqtt(createOutbound([]), { url: `${scheme}://${host}:${port}`, ...nobody }, session, {
          timeoutMs: 60_000,
        }),
      ).rejects.toThrow(/BELFRY_OUTBOUND_ALLOW/);
    expect(connections).toBe(0);
  });

  it.each(schemes)('that never answers is given up, and its connection ended: %s', async (scheme) => {
    const ended: Promise<unknown>[] = [];
    const server = createServer((socket) => {
      ended.push(once(socket.on('error', () => undefined).resume(), 'close'));
    });
    const url = `${scheme}://127.0.0.1:${await listen(server)}/`;
    const limit = { timeoutMs: 200 };
    await expect(connectMqtt(createTrustedOutbound(), { url, ...nobody }, session, limit)).rejects.toThrow(
      'no answer within 0.2 s',
    );
    expect(ended).toHaveLength(1);
    await Promise.all(ended);
  });

  it('over WebSocket sends no frame longer than a packet may be', async () => {
    const port = await freePort();
    const server = new WebSocketServer({ host: '127.0.0.1', port });
    await once(server, 'listening');
    onTestFinished(() => void server.close());
    const ended = once(server, 'connection').then(async ([socket]) => {
      socket.on('error', () => undefined);
      socket.send(Buffer.alloc(300_000));
      await once(socket, 'close');
    });
    await expect(
      connectMqtt(createTrustedOutbound(), { url: `ws://127.0.0.1:${port}`, ...nobody }, session, {
        timeoutMs: 60_000,
      }),
    ).rejects.toThrow('Max payload size exceeded');
    await ended;
  });
});

it('gives the broker’s reason and words', async () => {
  const refused: Packet = {
    cmd: 'connack',
    sessionPresent: false,
    reasonCode: 135,
    properties: { reasonString: 'no' },
  };
  await expect(given(generate(refused, version))).rejects.toThrow(
    'the broker refused it: not authorized (no)',
  );
});

it.each<Packet>([
  { cmd: 'publish', topic: 'a', payload: '', qos: 0, dup: false, retain: false },
  { cmd: 'pingresp' },
  { cmd: 'puback', messageId: 7 },
  { cmd: 'suback', messageId: 7, granted: [1] },
  { cmd: 'connack', sessionPresent: false, reasonCode: 0 },
])('what was not asked for ends the connection, and what follows is not read: $cmd', async (packet) => {
  const socket = silent();
  const connection = over(socket);
  socket.push(generate(welcome, version));
  await connection.opened;
  const last: Packet = { cmd: 'disconnect', reasonCode: 142 };
  socket.push(Buffer.concat([packet, packet, last].map((each) => generate(each, version))));
  expect((await connection.closed).message).toBe(`the broker sent ${packet.cmd}, which was not asked for`);
});
