import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { everywhere, ModelLog, notification } from '../../../test/support/model-log.ts';
import { parseCursor } from '../../contract/sse.ts';
import type { Clear, Entry, Notification } from '../ports.ts';
import type { PanelAddress } from '../target.ts';
import { reaches } from '../target.ts';
import { frameOf } from './frames.ts';
import { PanelStream, type Sink } from './panel-stream.ts';
import { Ring } from './ring.ts';

const epoch = 'e1';
const turn = () => new Promise<void>((resolve) => setImmediate(resolve));
const panel: PanelAddress = { id: 'p1', tags: ['noc'] };
const settings = {
  panel: { id: 'p1', name: 'P', tags: ['noc'], location: null, display: {} },
  tenant: { name: 't', title: 'T', timeZone: 'UTC' },
  levels: [],
  heartbeatMs: 15_000,
};

interface Told {
  readonly event: string;
  readonly id: string | undefined;
  readonly data: {
    readonly position?: number;
    readonly id?: string;
    readonly resume?: string;
    readonly head?: number;
  };
}

/** A client that takes chunks when told to, and reads events out of them. */
class Client implements Sink {
  text = '';
  waiting: (() => void) | undefined;
  ended = false;
  destroyed = false;
  largest = 0;

  write(chunk: Buffer | string, onFlushed: () => void): void {
    if (this.waiting) throw new Error('a second chunk before the first was flushed');
    this.largest = Math.max(this.largest, chunk.length);
    this.text += chunk.toString();
    this.waiting = onFlushed;
  }

  end(): void {
    this.ended = true;
  }

  destroy(): void {
    this.destroyed = true;
  }

  take(): void {
    const flushed = this.waiting;
    this.waiting = undefined;
    flushed?.();
  }

  events(): Told[] {
    return this.text
      .split('\n\n')
      .filter(Boolean)
      .map((frame) => {
        const field = (name: string) =>
          frame
            .split('\n')
            .find((line) => line.startsWith(`${name}: `))
            ?.slice(name.length + 2);
        return { event: field('event') ?? '', id: field('id'), data: JSON.parse(field('data') ?? 'null') };
      });
  }

  positions(): number[] {
    return this.events().flatMap(({ event, data }) =>
      (event === 'notification' || event === 'clear') && data.position ? [data.position] : [],
    );
  }
}

class World {
  readonly log = new ModelLog();
  readonly client = new Client();
  readonly ring: Ring;
  now = 10_000;
  ticks = 500;
  readonly stream: PanelStream;

  constructor(options: { before?: number; ringFrames?: number } = {}) {
    for (let i = 0; i < (options.before ?? 0); i++) this.log.append(notification);
    this.ring = new Ring(epoch, this.log.head, { maxFrames: options.ringFrames ?? 3 });
    this.stream = new PanelStream(
      {
        tenant: 1,
        epoch,
        history: this.log,
        ring: this.ring,
        now: () => this.now,
        ticks: () => this.ticks,
        onError: (error) => {
          throw error;
        },
        onSent: () => undefined,
      },
      this.client,
      panel,
    );
  }

  publish(...makers: ((position: number) => Entry)[]): void {
    const entries = makers.map((make) => this.log.append(make));
    const frames = entries
      .map((entry) => frameOf(epoch, entry, this.now))
      .filter((frame) => frame !== undefined);
    this.ring.push(frames, this.log.head);
    this.stream.pump();
  }

  start(cursor?: string) {
    return this.stream.start(cursor === undefined ? undefined : parseCursor(cursor), settings, 2_000);
  }

  async settle(): Promise<void> {
    for (let i = 0; i < 300; i++) {
      this.client.take();
      await turn();
    }
  }
}

describe('a panel stream', () => {
  it('begins with ready, then the live set in order of position, then moves the id to the head', async () => {
    const world = new World({ before: 3 });
    await world.start();
    await world.settle();
    const events = world.client.events();
    expect(events.map(({ event }) => event)).toEqual([
      'ready',
      'notification',
      'notification',
      'notification',
      'heartbeat',
    ]);
    expect(events[0]?.data).toMatchObject({ resume: 'live', head: 3 });
    expect(events.map(({ id }) => id)).toEqual([undefined, 'e1-1', 'e1-2', 'e1-3', 'e1-3']);
  });

  it('replays after a cursor below the ring from history, then from the ring, without a seam', async () => {
    const world = new World({ before: 10 });
    for (let i = 0; i < 6; i++) world.publish(notification);
    await world.start('e1-4');
    await world.settle();
    expect(world.client.events()[0]?.data.resume).toBe('replayed');
    expect(world.client.positions()).toEqual([5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16]);
  });

  it.each([
    ['another epoch', 'zz-1', 'reset'],
    ['a cursor ahead of the head', 'e1-99', 'reset'],
    ['a cursor older than what is kept', 'e1-1', 'gap'],
  ])('answers %s with the live set', async (_, cursor, resume) => {
    const world = new World({ before: 5 });
    world.log.pruneTo(4);
    await world.start(cursor);
    await world.settle();
    expect(world.client.events()[0]?.data.resume).toBe(resume);
    expect(world.client.positions()).toEqual([4, 5]);
  });

  it('answers a cursor more than 10,000 entries behind with a gap', async () => {
    const world = new World({ before: 10_002 });
    await world.start('e1-1');
    expect(world.client.events()[0]?.data.resume).toBe('gap');
  });

  it('has one chunk under way at a time, and holds no more while a client does not read', async () => {
    const world = new World({ ringFrames: 4_000 });
    await world.start();
    await world.settle();
    const before = world.client.text.length;
    world.publish((position) => notification(position, { message: 'x'.repeat(16_000) }));
    for (let i = 0; i < 200; i++)
      world.publish((position) => notification(position, { message: 'x'.repeat(16_000) }));
    await turn();
    expect(world.client.text.length - before).toBeLessThan(64 * 1024);
    await world.settle();
    expect(world.client.largest).toBeLessThanOrEqual(64 * 1024);
    expect(world.client.positions()).toHaveLength(201);
  });

  it('is cut off when one chunk is not taken within 30 s', async () => {
    const world = new World();
    await world.start();
    world.ticks += 29_000;
    world.stream.tick(15_000);
    expect(world.client.destroyed).toBe(false);
    world.ticks += 2_000;
    world.stream.tick(15_000);
    expect(world.client.destroyed).toBe(true);
  });

  it('is not cut off, and gets its heartbeats, when the clock is set by a year', async () => {
    for (const leap of [1, -1].map((sign) => sign * 365 * 86_400_000)) {
      const world = new World();
      await world.start();
      world.now += leap;
      world.stream.tick(15_000);
      expect(world.client.destroyed).toBe(false);
      await world.settle();
      world.ticks += 16_000;
      world.stream.tick(15_000);
      await world.settle();
      expect(world.client.events().map(({ event }) => event)).toContain('heartbeat');
    }
  });

  it('skips what has expired meanwhile, and tells the time left as it is when sent', async () => {
    const world = new World({ before: 0, ringFrames: 100 });
    await world.start();
    world.publish(
      (position) => notification(position, { ttl: 5_000, expiresAt: 15_000 }),
      (position) => notification(position, { ttl: 60_000, expiresAt: 70_000 }),
    );
    world.now = 20_000;
    await world.settle();
    const sent = world.client.events().filter(({ event }) => event === 'notification');
    expect(sent.map(({ data }) => data)).toMatchObject([{ position: 2, remainingMs: 50_000 }]);
  });

  it('drops what is shown and follows with the live set of its new tags', async () => {
    const world = new World({ ringFrames: 100 });
    const forNoc = { ...everywhere, target: { all: false, ids: [], tags: ['noc'] } };
    const forLab = { ...everywhere, target: { all: false, ids: [], tags: ['lab'] } };
    await world.start();
    world.publish(
      (position) => notification(position, { route: forNoc }),
      (position) => notification(position, { route: forLab }),
    );
    await world.settle();
    expect(world.client.positions()).toEqual([1]);
    world.stream.readdress({ id: 'p1', tags: ['lab'] });
    await world.settle();
    const events = world.client.events().map(({ event }) => event);
    expect(events.slice(-3)).toEqual(['reset', 'notification', 'heartbeat']);
    expect(world.client.positions()).toEqual([1, 2]);
  });

  it('sends each entry that is for the panel once and in order, over any number of reconnects', async () => {
    const target = fc.constantFrom(
      { all: true, ids: [], tags: [] },
      { all: false, ids: ['p1'], tags: [] },
      { all: false, ids: ['p2'], tags: [] },
      { all: false, ids: [], tags: ['noc'] },
      { all: false, ids: [], tags: ['lab'] },
      { all: false, ids: [], tags: [] },
    );
    const step = fc.oneof(
      {
        weight: 5,
        arbitrary: fc.record({
          kind: fc.constant('publish' as const),
          targets: fc.array(target, { minLength: 1, maxLength: 6 }),
        }),
      },
      {
        weight: 3,
        arbitrary: fc.record({ kind: fc.constant('take' as const), count: fc.integer({ min: 1, max: 5 }) }),
      },
      { weight: 1, arbitrary: fc.constant({ kind: 'reconnect' as const }) },
      { weight: 1, arbitrary: fc.constant({ kind: 'clear' as const }) },
    );
    await fc.assert(
      fc.asyncProperty(
        fc.array(step, { maxLength: 40 }),
        fc.integer({ min: 1, max: 8 }),
        async (steps, ringFrames) => {
          const log = new ModelLog();
          log.delay = turn;
          const ring = new Ring(epoch, 0, { maxFrames: ringFrames });
          const received: number[] = [];
          let last = 'e1-0';
          let client = new Client();
          const context = {
            tenant: 1,
            epoch,
            history: log,
            ring,
            now: () => 10_000,
            ticks: () => 500,
            onError: (error: unknown) => {
              throw error;
            },
            onSent: () => undefined,
          };
          let stream = new PanelStream(context, client, panel);
          let started = stream.start(parseCursor(last), settings, 2_000);
          /** What a real client keeps of a connection that ends: whole events only. */
          const harvest = () => {
            received.push(...client.positions());
            for (const { id } of client.events()) if (id) last = id;
          };
          for (const each of steps) {
            if (each.kind === 'publish' || each.kind === 'clear') {
              const makers =
                each.kind === 'publish'
                  ? each.targets.map(
                      (t) =>
                        (position: number): Entry =>
                          notification(position, { route: { ...everywhere, target: t } }),
                    )
                  : [
                      (position: number): Entry =>
                        ({
                          kind: 'clear',
                          position,
                          id: 'x',
                          reason: 'cleared',
                          by: 'b',
                          at: 1,
                          route: everywhere,
                        }) satisfies Clear,
                    ];
              const entries = makers.map((make) => log.append(make));
              ring.push(
                entries.map((entry) => frameOf(epoch, entry, 10_000)).filter((frame) => frame !== undefined),
                log.head,
              );
              stream.pump();
            } else if (each.kind === 'take') {
              for (let i = 0; i < each.count; i++) {
                client.take();
                await turn();
              }
            } else {
              await started;
              harvest();
              stream.destroy();
              client = new Client();
              stream = new PanelStream(context, client, panel);
              started = stream.start(parseCursor(last), settings, 2_000);
            }
          }
          await started;
          for (let i = 0; i < 120; i++) {
            client.take();
            await turn();
          }
          harvest();
          stream.destroy();
          const expected = log.entries
            .filter((entry): entry is Notification => reaches(entry.route.target, panel))
            .map(({ position }) => position);
          expect(received).toEqual(expected);
        },
      ),
      { numRuns: 80 },
    );
  }, 60_000);
});
