import { once } from 'node:events';
import type { Socket } from 'node:net';
import { Duplex } from 'node:stream';
import { generate, type Packet } from 'mqtt-packet';
import { expect, it } from 'vitest';
import { MqttConnection } from './mqtt.ts';

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

/** A connection that gets these bytes. */
async function given(bytes: Buffer) {
  const socket = new Duplex({ read: () => undefined, write: (_bytes, _encoding, done) => done() });
  const connection = new MqttConnection(socket as Socket, {
    ...{ id: 'x', packetBytes: 1_000 },
    onPublish: ({ payload, messageId = 0 }, from) => {
      if (Buffer.from(payload).length > 0) from.acknowledge(messageId);
    },
  });
  const opened = connection.open({ url: '', user: undefined, password: undefined });
  opened.catch(() => undefined);
  socket.push(bytes);
  socket.push(null);
  await once(socket.resume(), 'end');
  connection.destroy(new Error('the end'));
  await connection.closed;
  return opened;
}

it('survives whatever a broker sends', async () => {
  const all = packets.map((packet) => generate(packet, version));
  for (const bytes of [...all, Buffer.concat(all)])
    for (let at = 0; at < bytes.length; at++)
      for (const value of [0, 1, 0x7f, 0x80, 0xff]) {
        const changed = Buffer.from(bytes);
        changed[at] = value;
        await given(changed).catch(() => undefined);
        await given(bytes.subarray(0, at)).catch(() => undefined);
      }
});

it('reads a packet no further than it may be long', async () => {
  const bytes = generate({ ...packets[1], payload: 'x'.repeat(5_000) } as Packet, version);
  await expect(given(bytes.subarray(0, 4_000))).rejects.toThrow('the broker sent too much');
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
  const socket = new Duplex({ read: () => undefined, write: (_bytes, _encoding, done) => done() });
  const connection = new MqttConnection(socket as Socket, { id: 'x', packetBytes: 1_000 });
  const opened = connection.open({ url: '', user: undefined, password: undefined });
  socket.push(generate({ cmd: 'connack', sessionPresent: false, reasonCode: 0 }, version));
  await opened;
  const last: Packet = { cmd: 'disconnect', reasonCode: 142 };
  socket.push(Buffer.concat([packet, packet, last].map((each) => generate(each, version))));
  expect((await connection.closed).message).toBe(`the broker sent ${packet.cmd}, which was not asked for`);
});
