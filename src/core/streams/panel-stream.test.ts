import fc from 'fast-check';
import { describe, expect, it, test } from 'vitest';
import { clearOf, everywhere, notification } from '#test/support/model-log.ts';
import { routeTo } from '#test/support/notification-draft.ts';
import { PanelStreamWorld, panel, turn } from '#test/support/panel-stream-world.ts';
import type { Notification } from '../log/log.ts';
import { reaches, type Target } from '../log/target.ts';

describe('a panel stream', () => {
  it('begins with ready, then the live set in order of position, then moves the id to the head', async () => {
    const world = new PanelStreamWorld({ before: 3 });
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

  it('replays after a cursor below the frame buffer from history, then from the buffer, without a seam', async () => {
    const world = new PanelStreamWorld({ before: 10 });
    for (let i = 0; i < 6; i++) world.publish(notification);
    await world.start('e1-4');
    await world.settle();
    expect(world.client.events()[0]?.data.resume).toBe('replayed');
    expect(world.client.positions()).toEqual([5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16]);
  });

  it('sends a live set with long instructions in chunks, each notification once', async () => {
    const world = new PanelStreamWorld();
    const route = routeTo({ all: true }, { rules: [{ id: 'r1', name: 'r1' }] });
    for (let i = 0; i < 90; i++) world.log.append((position) => notification(position, { route }));
    await world.start();
    await world.settle();
    expect(world.client.positions()).toEqual(Array.from({ length: 90 }, (_, i) => i + 1));
    expect(world.client.events()[1]?.data).toMatchObject({
      instructions: expect.stringMatching(/^What to do/),
    });
    expect(world.client.largest).toBeLessThan(70 * 1024);
  });

  it.each([
    ['another epoch', 'zz-1', 'reset'],
    ['a cursor ahead of the head', 'e1-99', 'reset'],
    ['a cursor older than what is kept', 'e1-1', 'gap'],
  ])('answers %s with the live set', async (_, cursor, resume) => {
    const world = new PanelStreamWorld({ before: 5 });
    world.log.pruneTo(4);
    await world.start(cursor);
    await world.settle();
    expect(world.client.events()[0]?.data.resume).toBe(resume);
    expect(world.client.positions()).toEqual([4, 5]);
  });

  it('answers a cursor more than 10,000 entries behind with a gap', async () => {
    const world = new PanelStreamWorld({ before: 10_002 });
    await world.start('e1-1');
    expect(world.client.events()[0]?.data.resume).toBe('gap');
  });

  it('has one chunk under way at a time, and holds no more while a client does not read', async () => {
    const world = new PanelStreamWorld({ bufferFrames: 4_000 });
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

  it('reads a live set chunk by chunk, as the client takes it, without what was cleared meanwhile', async () => {
    const world = new PanelStreamWorld();
    for (let i = 0; i < 40; i++)
      world.log.append((position) => notification(position, { message: 'x'.repeat(10_000) }));
    await world.start();
    await world.take(1);
    expect(world.client.positions()).toEqual([1]);
    const reads = world.log.reads;
    for (let i = 0; i < 20; i++) await turn();
    expect(world.log.reads).toBe(reads);
    world.publish((position) => clearOf(position, 40));
    await world.settle();
    expect(world.client.largest).toBeLessThan(24 * 1024);
    expect(world.client.positions()).toEqual([...Array.from({ length: 39 }, (_, i) => i + 1), 41]);
    const closing = world.client.events().find(({ event }) => event === 'heartbeat');
    expect(closing?.data.head).toBe(40);
  });

  it('writes no more at once when senders say much beside the text, and counts what is written alone', async () => {
    const world = new PanelStreamWorld();
    const many = {
      url: `https://example.com/${'u'.repeat(2_000)}`,
      key: 'k'.repeat(255),
      host: 'h'.repeat(253),
    };
    for (let i = 0; i < 200; i++) world.log.append((position) => notification(position, many));
    await world.start();
    await world.take(4);
    expect(world.client.largest).toBeGreaterThan(8 * 1024);
    expect(world.client.largest).toBeLessThan(24 * 1024);
    expect(world.sent).toBe(world.client.positions().length);
    world.client.take();
    world.stream.destroy();
    const written = world.client.positions().length;
    await turn();
    expect(world.sent).toBe(written);
  });

  it('leaves out of a live set what expires while it is being read', async () => {
    const world = new PanelStreamWorld();
    world.log.append((position) => notification(position, { expiresAt: world.now + 1_000 }));
    world.log.append(notification);
    await world.start();
    world.log.delay = async () => {
      world.now += 1_000;
    };
    await world.settle();
    expect(world.client.positions()).toEqual([2]);
  });

  it('is cut off when one chunk is not taken within 30 s', async () => {
    const world = new PanelStreamWorld();
    await world.start();
    world.monotonicNow += 29_000;
    world.stream.tick(15_000);
    expect(world.client.destroyed).toBe(false);
    world.monotonicNow += 2_000;
    world.stream.tick(15_000);
    expect(world.client.destroyed).toBe(true);
  });

  it('is not cut off, and gets its heartbeats, when the clock is set by a year', async () => {
    for (const leap of [1, -1].map((sign) => sign * 365 * 86_400_000)) {
      const world = new PanelStreamWorld();
      await world.start();
      world.now += leap;
      world.stream.tick(15_000);
      expect(world.client.destroyed).toBe(false);
      await world.settle();
      world.monotonicNow += 16_000;
      world.stream.tick(15_000);
      await world.settle();
      expect(world.client.events().map(({ event }) => event)).toContain('heartbeat');
    }
  });

  it('skips what has expired meanwhile, and tells the time left as it is when sent', async () => {
    const world = new PanelStreamWorld({ before: 0, bufferFrames: 100 });
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

  it('tells no more time left than the ttl, when the clock was ahead and was corrected', async () => {
    const year = 31_536_000_000;
    const world = new PanelStreamWorld({ before: 0, bufferFrames: 100 });
    world.publish((position) => notification(position, { ttl: 8_000, expiresAt: world.now + year + 8_000 }));
    await world.start();
    await world.settle();
    world.publish((position) => notification(position, { ttl: 8_000, expiresAt: world.now + year + 8_000 }));
    await world.settle();
    const sent = world.client.events().filter(({ event }) => event === 'notification');
    expect(sent.map(({ data }) => data)).toMatchObject([
      { position: 1, remainingMs: 8_000 },
      { position: 2, remainingMs: 8_000 },
    ]);
  });

  it('drops what is shown and follows with the live set of its new tags', async () => {
    const world = new PanelStreamWorld({ bufferFrames: 100 });
    const forNoc = { ...everywhere, target: { all: false, ids: [], tags: ['noc'] } };
    const forLab = { ...everywhere, target: { all: false, ids: [], tags: ['lab'] } };
    await world.start();
    world.publish(
      (position) => notification(position, { route: forNoc }),
      (position) => notification(position, { route: forLab }),
    );
    await world.settle();
    expect(world.client.positions()).toEqual([1]);
    world.stream.updateAddress({ id: 'p1', tags: ['lab'] });
    await world.settle();
    const events = world.client.events().map(({ event }) => event);
    expect(events.slice(-3)).toEqual(['reset', 'notification', 'heartbeat']);
    expect(world.client.positions()).toEqual([1, 2]);
  });
});

const target = fc.constantFrom<Target>(
  { all: true, ids: [], tags: [] },
  { all: false, ids: ['p1'], tags: [] },
  { all: false, ids: ['p2'], tags: [] },
  { all: false, ids: [], tags: ['noc'] },
  { all: false, ids: [], tags: ['lab'] },
  { all: false, ids: [], tags: [] },
);
const targets = fc.array(target, { minLength: 1, maxLength: 6 });
const step = fc.oneof(
  { weight: 5, arbitrary: fc.record({ kind: fc.constant('publish' as const), targets }) },
  {
    weight: 3,
    arbitrary: fc.record({ kind: fc.constant('take' as const), turns: fc.integer({ min: 1, max: 5 }) }),
  },
  { weight: 1, arbitrary: fc.constant({ kind: 'reconnect' as const }) },
  { weight: 1, arbitrary: fc.constant({ kind: 'clear' as const }) },
);
const to = (target: Target) => (position: number) =>
  notification(position, { route: { ...everywhere, target } });

test('each entry that is for the panel is sent once and in order, over any number of reconnects', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(step, { maxLength: 40 }),
      fc.integer({ min: 1, max: 8 }),
      async (steps, bufferFrames) => {
        const world = new PanelStreamWorld({ bufferFrames });
        world.log.delay = turn;
        const received: number[] = [];
        let last = 'e1-0';
        /** What a real client keeps of a connection that ends: whole events only. */
        const harvest = () => {
          received.push(...world.client.positions());
          for (const { id } of world.client.events()) if (id) last = id;
        };
        let started = world.start(last);
        for (const each of steps) {
          if (each.kind === 'publish') world.publish(...each.targets.map(to));
          else if (each.kind === 'clear') world.publish((position) => clearOf(position, 0));
          else if (each.kind === 'take') await world.take(each.turns);
          else {
            await started;
            harvest();
            world.reconnect();
            started = world.start(last);
          }
        }
        await started;
        await world.take(120);
        harvest();
        world.stream.destroy();
        const expected = world.log.entries
          .filter((entry): entry is Notification => reaches(entry.route.target, panel))
          .map(({ position }) => position);
        expect(received).toEqual(expected);
      },
    ),
    { numRuns: 80 },
  );
}, 60_000);
