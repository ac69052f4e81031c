import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { natsTransport } from '#bus/nats.ts';
import { NodeBus } from '#bus/node-bus.ts';
import { eventually } from '../support/eventually.ts';
import { missingNats, startNats, type TestNats } from '../support/nats.ts';
import { skipReason } from '../support/skip-reason.ts';
import { TcpProxy } from '../support/tcp-proxy.ts';
import { nodeBusConformance } from './bus-between-nodes.ts';

const missing = skipReason(missingNats());
describe.skipIf(missing !== undefined)(missing ?? 'with NATS', () => {
  let server: TestNats;
  beforeAll(async () => {
    server = await startNats();
  }, 300_000);
  afterAll(() => server?.stop());

  nodeBusConformance('of NATS', () => natsTransport([server.url], 'belfry.test'), {
    interrupt: () => server.restart(),
    behind: async () => {
      const proxy = await TcpProxy.start({ port: server.port });
      return { proxy, connect: natsTransport([proxy.through(server.url)], 'belfry.test') };
    },
  });

  const open = async (connect: ReturnType<typeof natsTransport>) => {
    const bus = new NodeBus({ connect, onProblem: () => undefined, onError: () => undefined });
    onTestFinished(() => bus.close());
    await bus.ready;
    return bus;
  };

  test('installations on one NATS do not wake each other', async () => {
    const [own, foreign] = [
      await open(natsTransport([server.url], 'belfry.one')),
      await open(natsTransport([server.url], 'belfry.other')),
    ];
    const listener = await open(natsTransport([server.url], 'belfry.one'));
    let woken = 0;
    listener.subscribe(1, () => {
      woken += 1;
    });
    await eventually(() => expect(woken).toBe(1));
    for (let i = 0; i < 20; i++) foreign.publish(1, []);
    let published = 0;
    await eventually(() => {
      own.publish(1, []);
      published += 1;
      expect(woken).toBeGreaterThan(1);
    });
    expect(woken).toBeLessThanOrEqual(1 + published);
  });

  test('who may not publish has a problem, though the connection stands', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'belfry-nats-'));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    const config = join(folder, 'nats.conf');
    writeFileSync(
      config,
      'authorization { users = [{ user: u, password: p, permissions: { publish: { deny: ">" } } }] }',
    );
    const guarded = await startNats(['--config', config]);
    onTestFinished(() => guarded.stop());
    const problems: (string | undefined)[] = [];
    const bus = new NodeBus({
      connect: natsTransport([guarded.url.replace('//', '//u:p@')], 'belfry.test'),
      onProblem: (problem) => problems.push(problem),
      onError: () => undefined,
    });
    onTestFinished(() => bus.close());
    await bus.ready;
    expect(bus.problem()).toBeUndefined();
    bus.publish(1, []);
    await eventually(() => expect(problems.join()).toMatch(/permission/i));
  });

  test('user and password stand in the URL', async () => {
    const guarded = await startNats(['--user', 'belfry', '--pass', 'se:cret']);
    onTestFinished(() => guarded.stop());
    const withPassword = guarded.url.replace('//', '//belfry:se%3Acret@');
    expect((await open(natsTransport([withPassword], 'belfry.test'))).problem()).toBeUndefined();
    expect((await open(natsTransport([guarded.url], 'belfry.test'))).problem()).toMatch(/authori/i);
  });
});
