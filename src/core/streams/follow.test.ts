import fc from 'fast-check';
import { afterEach, describe, expect, it } from 'vitest';
import { eventually } from '#test/support/eventually.ts';
import { createModelBus, ModelLog, notification } from '#test/support/model-log.ts';
import type { Entry } from '../log/log.ts';
import { type Follower, follow } from './follow.ts';

const turn = () => new Promise<void>((resolve) => setImmediate(resolve));
const until = async (done: () => boolean) => {
  for (let i = 0; i < 2_000 && !done(); i++) await turn();
};

let follower: Follower | undefined;
let poll: NodeJS.Timeout | undefined;
const end = () => {
  clearInterval(poll);
  follower?.close();
};
afterEach(end);

function start(
  log: ModelLog,
  bus: ReturnType<typeof createModelBus>,
  from: number,
  { pollMs, ...extra }: { pollMs?: number; pageSize?: number; monotonicNow?: () => number } = {},
) {
  const got: number[] = [];
  const gaps: number[] = [];
  const errors: unknown[] = [];
  follower = follow({
    monotonicNow: () => performance.now(),
    history: log,
    bus,
    tenant: 1,
    from,
    pageSize: 3,
    ...extra,
    deliver: (entries) => got.push(...entries.map(({ position }) => position)),
    onGap: (first) => gaps.push(first),
    onError: (error) => errors.push(error),
  });
  if (pollMs !== undefined) poll = setInterval(() => follower?.observe(log.head), pollMs);
  return { got, gaps, errors };
}

describe('follow', () => {
  it('delivers what was there before it began, then what comes', async () => {
    const log = new ModelLog();
    const bus = createModelBus();
    for (let i = 0; i < 8; i++) log.append(notification);
    const { got } = start(log, bus, 2);
    await until(() => got.length === 6);
    bus.publish(1, [log.append(notification)]);
    await until(() => got.length === 7);
    expect(got).toEqual([3, 4, 5, 6, 7, 8, 9]);
  });

  it('reads nothing back when the wake-up carries exactly the next entries', async () => {
    const log = new ModelLog();
    const bus = createModelBus();
    const { got } = start(log, bus, 0);
    await until(() => log.reads === 1);
    await turn();
    const reads = log.reads;
    for (let i = 0; i < 5; i++) bus.publish(1, [log.append(notification)]);
    expect(got).toEqual([1, 2, 3, 4, 5]);
    expect(log.reads).toBe(reads);
  });

  it('tells of a gap when entries were pruned before it read them, and goes on behind it', async () => {
    const log = new ModelLog();
    for (let i = 0; i < 9; i++) log.append(notification);
    log.pruneTo(6);
    const { got, gaps } = start(log, createModelBus(), 1);
    await until(() => got.length === 4);
    expect(gaps).toEqual([6]);
    expect(got).toEqual([6, 7, 8, 9]);
  });

  it('goes on after reads that fail', async () => {
    const log = new ModelLog();
    log.append(notification);
    let failures = 2;
    log.delay = async () => {
      if (failures-- > 0) throw new Error('disk gone');
    };
    const { got, errors } = start(log, createModelBus(), 0);
    for (let i = 0; i < 100 && got.length === 0; i++) await new Promise((resolve) => setTimeout(resolve, 10));
    expect(got).toEqual([1]);
    expect(errors.length).toBeGreaterThan(0);
  });

  it('knows when all that the log had was last delivered', async () => {
    const log = new ModelLog();
    let isGone = false;
    log.delay = async () => {
      if (isGone) throw new Error('database gone');
    };
    let at = 1_000;
    const { errors } = start(log, createModelBus(), 0, { monotonicNow: () => at });
    await until(() => log.reads > 0);
    await turn();
    at = 5_000;
    expect(follower?.readAt).toBe(1_000);
    follower?.observe(0);
    expect(follower?.readAt).toBe(5_000);
    expect(log.reads).toBe(1);
    isGone = true;
    log.append(notification);
    at = 9_000;
    follower?.observe(1);
    await eventually(() => expect(errors).not.toEqual([]));
    expect(follower?.readAt).toBe(5_000);
    isGone = false;
    await eventually(() => expect(follower?.readAt).toBe(9_000));
  });

  it('delivers each entry once and in order, whatever the bus loses, repeats or reorders', async () => {
    const step = fc.oneof(
      fc.record({
        kind: fc.constant('append' as const),
        count: fc.integer({ min: 1, max: 5 }),
        wakeUp: fc.constantFrom('carry', 'empty', 'lost', 'stale'),
      }),
      fc.record({ kind: fc.constant('turn' as const), count: fc.integer({ min: 1, max: 4 }) }),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 30 }), fc.nat(5), async (steps, before) => {
        const log = new ModelLog();
        log.delay = turn;
        const bus = createModelBus();
        for (let i = 0; i < before; i++) log.append(notification);
        const { got } = start(log, bus, 0, { pollMs: 3 });
        for (const each of steps) {
          if (each.kind === 'turn') for (let i = 0; i < each.count; i++) await turn();
          else {
            const fresh: Entry[] = [];
            for (let i = 0; i < each.count; i++) fresh.push(log.append(notification));
            if (each.wakeUp === 'carry') bus.publish(1, fresh);
            if (each.wakeUp === 'empty') bus.publish(1, []);
            if (each.wakeUp === 'stale') bus.publish(1, log.entries.slice(0, 2));
          }
        }
        for (let i = 0; i < 200 && got.length < log.head; i++)
          await new Promise((resolve) => setTimeout(resolve, 1));
        end();
        expect(got).toEqual(log.entries.map(({ position }) => position));
      }),
      { numRuns: 60 },
    );
  });
});
