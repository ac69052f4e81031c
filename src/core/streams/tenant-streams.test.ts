import { afterEach, describe, expect, it, test, vi } from 'vitest';
import type { Level } from '#contract/routing/level.ts';
import { eventually } from '#test/support/eventually.ts';
import { createModelBus, ModelLog } from '#test/support/model-log.ts';
import { limitMs } from '#test/support/patience.ts';
import type { PanelRecord } from '../tenants/directory.ts';
import type { Tenancy, TenantSnapshot } from '../tenants/tenancy.ts';
import { screenStreams } from './frames.ts';
import type { Sink } from './panel-stream.ts';
import { FlushScheduler, TenantStreams } from './tenant-streams.ts';

const screen = { client: null, address: null };
const panelNamed = (id: string, name = id) =>
  ({ id, name, tags: [], location: null, display: {} }) as unknown as PanelRecord;

class Client implements Sink {
  text = '';
  hasEnded = false;
  write(chunk: Buffer | string, onFlushed: () => void): void {
    this.text += chunk.toString();
    setImmediate(onFlushed);
  }
  end(): void {
    this.hasEnded = true;
  }
  destroy(): void {
    this.hasEnded = true;
  }
  titles(): string[] {
    return [...this.text.matchAll(/^event: settings\ndata: (.*)$/gm)].map(
      ([, json]) => JSON.parse(json as string).tenant.title,
    );
  }
}

const open: TenantStreams[] = [];
afterEach(() => {
  vi.restoreAllMocks();
  for (const tenantStreams of open.splice(0)) tenantStreams.close();
});

/** Streams of as many panels; `change` gives the tenant other settings. */
async function connectPanels(count: number) {
  const level = { name: 'info', color: '#fff' } as Level;
  let levelsEncoded = 0;
  const counted = Object.assign(Object.create({ toJSON: () => ++levelsEncoded && level }), level) as Level;
  const snapshotOf = (title: string, panels: readonly PanelRecord[]) =>
    ({
      record: { id: 1, name: 't', title, timeZone: 'UTC', state: 'active' },
      levels: new Map([['info', counted]]),
      panels: new Map(panels.map((panel) => [panel.id, panel])),
    }) as unknown as TenantSnapshot;
  const panels = Array.from({ length: count }, (_, i) => panelNamed(`p${i}`));
  let snapshot = snapshotOf('first', panels);
  const listeners: ((tenant: number) => void)[] = [];
  const onChange: Tenancy['onChange'] = (listener) => {
    listeners.push(listener);
    return () => undefined;
  };
  const errors: unknown[] = [];
  const tenantStreams = new TenantStreams({
    history: new ModelLog(),
    bus: createModelBus(),
    tenancy: { onChange, peek: () => snapshot } as unknown as Tenancy,
    epoch: 'e1',
    now: () => 1_000,
    monotonicNow: () => 1_000,
    heartbeatMs: 60_000,
    onError: (error) => errors.push(error),
    onSent: () => undefined,
    onContact: () => undefined,
  });
  open.push(tenantStreams);
  const clients = panels.map(() => new Client());
  for (const [i, client] of clients.entries())
    await tenantStreams.connect(snapshot, [panels[i] as PanelRecord], client, {
      ...{ from: undefined, screen, kind: screenStreams },
    });
  await eventually(() => expect(clients.every(({ text }) => text.includes('event: heartbeat'))).toBe(true));
  // Until these are flushed, too, so that what comes next is written at once.
  await new Promise(setImmediate);
  levelsEncoded = 0;
  return {
    clients,
    errors,
    panels,
    levelsEncoded: () => levelsEncoded,
    change(title: string, changed = panels) {
      snapshot = snapshotOf(title, changed);
      for (const listener of listeners) listener(1);
    },
  };
}

test('when one panel changes, the levels are encoded once to compare them, and once to send them', async () => {
  const { clients, panels, change, levelsEncoded } = await connectPanels(20);
  change('first', [...panels.slice(0, -1), panelNamed('p19', 'renamed')]);
  await eventually(() => expect(clients.at(-1)?.text).toContain('"name":"renamed"'));
  expect(clients.flatMap((client) => client.titles())).toEqual(['first']);
  expect(levelsEncoded()).toBe(2);
});

test('a change reaches many panels with pauses between them, and each has the newest settings in the end', async () => {
  const { clients, panels, change, errors } = await connectPanels(20);
  let at = 0;
  vi.spyOn(performance, 'now').mockImplementation(() => ++at);
  const reached = (title: string) => clients.filter((client) => client.titles().at(-1) === title).length;
  change('second');
  expect(reached('second')).toBeGreaterThan(0);
  expect(reached('second')).toBeLessThan(20);
  change('third', panels.slice(0, -1));
  await eventually(() => expect([reached('third'), clients.at(-1)?.hasEnded]).toEqual([19, true]));
  for (const client of clients) expect(new Set(client.titles()).size).toBe(client.titles().length);
  expect(errors).toEqual([]);
});

const turn = () => new Promise<void>((resolve) => setImmediate(resolve));
const until = async (done: () => boolean) => {
  for (let i = 0; i < 100_000 && !done(); i++) await turn();
  expect(done()).toBe(true);
};

/** Streams whose writes take as long as is said, by a clock that only they move on. */
function streams(count: number, writeMs: number) {
  let at = 0;
  let lastAt = 0;
  const pumped: number[] = [];
  const all = Array.from({ length: count }, (_, i) => ({
    pump() {
      at += writeMs;
      pumped.push(i);
      lastAt = performance.now();
    },
  }));
  return {
    all,
    pumped,
    lastPumpedAt: () => lastAt,
    rounds: new FlushScheduler({ streams: () => all, monotonicNow: () => at }),
  };
}

describe('rounds', () => {
  it('goes over every stream once for what one turn of the event loop brings', async () => {
    const { pumped, rounds } = streams(3, 0.001);
    for (let i = 0; i < 5; i++) rounds.schedule();
    expect(pumped).toEqual([]);
    await until(() => pumped.length > 0);
    for (let i = 0; i < 10; i++) await turn();
    expect(pumped).toEqual([0, 1, 2]);
  });

  it('lets few streams have each event as it comes', async () => {
    const { pumped, rounds } = streams(2, 0.001);
    for (let i = 0; i < 20; i++) {
      rounds.schedule();
      await turn();
      await turn();
    }
    expect(pumped.length).toBeGreaterThanOrEqual(20);
  });

  it('rests after a long round, and then brings what came meanwhile at once', async () => {
    const { pumped, rounds, lastPumpedAt } = streams(10, 2);
    rounds.schedule();
    await until(() => pumped.length === 10);
    const began = lastPumpedAt();
    // Twenty ms of writing: twenty of rest, in which every further event waits for the one round after it.
    while (pumped.length === 10) {
      rounds.schedule();
      await turn();
    }
    expect(performance.now() - began).toBeGreaterThan(15);
    await until(() => pumped.length === 20);
    await new Promise((resolve) => setTimeout(resolve, 100));
    expect(pumped.length).toBeLessThanOrEqual(30);
  });

  it('rests no longer than fifty milliseconds', async () => {
    const { pumped, rounds } = streams(1_000, 1);
    rounds.schedule();
    await until(() => pumped.length === 1_000);
    const began = performance.now();
    rounds.schedule();
    await until(() => pumped.length > 1_000);
    expect(performance.now() - began).toBeLessThan(limitMs(100));
  });

  it('cuts a round over many streams into turns', async () => {
    const { pumped, rounds } = streams(100, 1);
    rounds.schedule();
    let longest = 0;
    let before = 0;
    await until(() => {
      longest = Math.max(longest, pumped.length - before);
      before = pumped.length;
      return pumped.length === 100;
    });
    expect(longest).toBeLessThanOrEqual(16);
  });

  it('brings what comes within a round to those it has passed already', async () => {
    const { all, pumped, rounds } = streams(40, 1);
    rounds.schedule();
    await until(() => pumped.length >= 8);
    expect(pumped.length).toBeLessThan(40);
    rounds.schedule();
    await until(() => pumped.length === 80);
    expect(pumped.slice(40)).toEqual(all.map((_, i) => i));
  });

  it('goes on with streams that came within a round, and without those that left', async () => {
    let at = 0;
    const pumped: string[] = [];
    const open = new Map<{ pump(): void }, string>();
    const add = (name: string) => {
      const stream = {
        pump() {
          at += 1;
          pumped.push(name);
        },
      };
      open.set(stream, name);
      return stream;
    };
    for (let i = 0; i < 16; i++) add(`${i}`);
    const leaving = add('leaving');
    const rounds = new FlushScheduler({ streams: () => open.keys(), monotonicNow: () => at });
    rounds.schedule();
    await until(() => pumped.length === 8);
    open.delete(leaving);
    add('new');
    await until(() => pumped.includes('new'));
    expect(pumped).not.toContain('leaving');
  });
});
