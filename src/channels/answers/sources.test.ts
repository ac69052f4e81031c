import { once } from 'node:events';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { ChannelRecord } from '#core/channels/channels.ts';
import { eventually } from '#test/support/eventually.ts';
import { createAnswerSources } from './sources.ts';

let broker: Server;
let sockets: Set<Socket>;
let clockMs: number;
let holder: string | undefined;
let isStoreDown: boolean;
let revision: number;
let tenantName: string;
let wanted: ChannelRecord[];
let problems: string[];
let written: string[];
let stops: (() => Promise<void>)[];

beforeEach(async () => {
  [sockets, holder, isStoreDown, revision, tenantName] = [new Set(), undefined, false, 1, 'a'];
  [problems, written, stops] = [[], [], []];
  broker = createServer((socket) => {
    sockets.add(socket.on('close', () => sockets.delete(socket)).on('error', () => undefined));
    socket.resume();
  }).listen(0, '127.0.0.1');
  await once(broker, 'listening');
  wanted = [channel('x')];
  clockMs = 1_000_000;
  vi.spyOn(performance, 'now').mockImplementation(() => clockMs);
});
afterEach(async () => {
  vi.restoreAllMocks();
  isStoreDown = false;
  for (const stop of stops) await stop();
  for (const socket of sockets) socket.destroy();
  await new Promise((resolve) => broker.close(resolve));
});

const channel = (id: string, updatedAt = 1): ChannelRecord =>
  ({
    ...{ tenant: 1, id, name: id, kind: 'mqtt', enabled: true, updatedAt },
    settings: {
      url: `mqtt://127.0.0.1:${(broker.address() as AddressInfo).port}`,
      ...{ user: 'u', stateTopic: '{tenant}/{alarm}', commands: 'on' },
    },
  }) as unknown as ChannelRecord;

/** A node; its broker never answers. */
function node(name: string, { isAlone = false, secrets = {} } = {}) {
  const sources = createAnswerSources({
    context: { now: () => 7 } as never,
    directory: {
      channels: {
        find: async () => undefined,
        listEnabled: async (kind) => wanted.filter((each) => each.kind === kind),
      },
      answerProblems: {
        put: async ({ id }, problem) => {
          written.push(`${name} ${id}: ${problem?.message}`);
        },
        clear: async () => {
          written.push(`${name} clear`);
        },
      },
      tenants: { get: async () => ({ name: tenantName }) as never },
      changedSince: async (after) => {
        if (isStoreDown) throw new Error('the store is down');
        return { epoch: 'e', revision, tenants: after < revision ? [1] : [] } as never;
      },
    },
    service: { open: () => secrets, showAnswer: async () => undefined },
    onRefused: () => undefined,
    allow: ['127.0.0.1'],
    lease: isAlone
      ? undefined
      : {
          hold: async () => {
            holder ??= name;
            return holder === name;
          },
          release: async () => {
            if (holder === name) holder = undefined;
          },
        },
    onProblem: (error) => problems.push(String(error)),
  });
  stops.push(() => sources.stop());
  return sources;
}
const connections = (count: number) => eventually(() => expect(sockets.size).toBe(count));

test('of several nodes one is connected, and another one is when that one stops', async () => {
  const [a, b] = [node('a'), node('b')];
  await a.update();
  await connections(1);
  const [first] = sockets;
  await b.update();
  await a.update();
  expect([...sockets]).toEqual([first]);
  await a.stop();
  await connections(0);
  expect(holder).toBeUndefined();
  clockMs += 5_000;
  await b.update();
  await connections(1);
  expect(holder).toBe('b');
});

test('a node that has lost its lease ends its connections', async () => {
  const a = node('a');
  await a.update();
  await connections(1);
  holder = 'b';
  clockMs += 5_000;
  await a.update();
  await connections(0);
});

test('a lease is given up when no channel takes answers', async () => {
  const a = node('a');
  await a.update();
  await connections(1);
  [wanted, revision] = [[], 2];
  await a.update();
  await connections(0);
  expect(holder).toBeUndefined();
});

test('channels are read again after a failure, and only after a change', async () => {
  const a = node('a', { isAlone: true });
  isStoreDown = true;
  await expect(a.update()).rejects.toThrow('the store is down');
  isStoreDown = false;
  await a.update();
  await connections(1);
  wanted = [channel('x'), channel('y')];
  await a.update();
  expect(sockets.size).toBe(1);
  revision = 2;
  await a.update();
  await connections(2);
});

test.each([
  ['the channel changes', () => (wanted = [channel('x', 2)])],
  ['its tenant gets another name', () => (tenantName = 'b')],
])('the connection begins anew when %s', async (_, change) => {
  const a = node('a', { isAlone: true });
  await a.update();
  await connections(1);
  const [first] = sockets;
  change();
  revision = 2;
  await a.update();
  await eventually(() => {
    expect(sockets.size).toBe(1);
    expect(sockets).not.toContain(first);
  });
});

test('what a broker says about a refusal is logged without the password', async () => {
  broker.on('connection', (socket: Socket) =>
    socket.once('data', () => {
      const words = Buffer.from(`no user with hunter2-hunter2${'!'.repeat(2_000)}`);
      const properties = Buffer.concat([Buffer.from([0x1f, words.length >> 8, words.length & 0xff]), words]);
      const length = (count: number) => [0x80 | (count & 0x7f), count >> 7];
      const body = Buffer.concat([Buffer.from([0, 0x86, ...length(properties.length)]), properties]);
      socket.write(Buffer.concat([Buffer.from([0x20, ...length(body.length)]), body]));
    }),
  );
  await node('a', { isAlone: true, secrets: { password: 'hunter2-hunter2' } }).update();
  await eventually(() => expect(problems).toHaveLength(1));
  expect(problems[0]).toContain('user name or password is wrong (no user with …!');
  expect(problems[0]?.length).toBeLessThanOrEqual(300);
});

test('problems are written once, by the node that has the lease, and taken away with the channel', async () => {
  const [a, b] = [node('a'), node('b')];
  await a.update();
  await b.update();
  expect(written).toEqual(['a clear']);
  await connections(1);
  for (const socket of sockets) socket.destroy();
  await eventually(() => expect(problems).toHaveLength(1));
  await a.update();
  await a.update();
  expect(written).toEqual(['a clear', expect.stringMatching(/^a x: .+ closed the connection/)]);
  [wanted, revision] = [[], 2];
  await a.update();
  expect(written.at(-1)).toBe('a x: undefined');
  [wanted, revision] = [[channel('x')], 3];
  clockMs += 5_000;
  await b.update();
  expect(written.at(-1)).toBe('b clear');
});

test('what a node has left is taken away when no channel takes answers', async () => {
  wanted = [];
  const a = node('a');
  for (let i = 0; i < 2; i += 1) await a.update();
  expect(written).toEqual(['a clear']);
  expect(holder).toBeUndefined();
});
