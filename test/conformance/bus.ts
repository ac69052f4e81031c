import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { Bus } from '#core/log/bus.ts';
import type { Entry } from '#core/log/log.ts';
import { type Follower, follow } from '#core/streams/follow.ts';
import { ModelLog, notification } from '../support/model-log.ts';
import { limitMs } from '../support/patience.ts';

/** A bus to test, and how to give back what it holds. */
export interface OpenedBus {
  readonly bus: Bus;
  /** The first listener to a topic is woken once the topic is listened to on the other side. */
  readonly wakesWhenListening?: boolean;
  close(): Promise<void>;
}

/** Longer than any bus may take to wake a listener. These followers do not get the head of the log. */
const soonMs = limitMs(1_000);

/** Waits for a condition, which is checked at every wake-up. */
class Waiter {
  readonly #waiting = new Set<() => void>();

  readonly wake = (): void => {
    for (const check of this.#waiting) check();
  };

  /** Resolves with the first result of `find` that is not undefined. */
  until<T>(find: () => T | undefined): Promise<T> {
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => reject(new Error(`not so within ${soonMs} ms`)), soonMs);
      const check = () => {
        const found = find();
        if (found === undefined) return;
        clearTimeout(timer);
        this.#waiting.delete(check);
        resolve(found);
      };
      this.#waiting.add(check);
      check();
    });
  }
}

/** Every promise of the port `Bus`, by itself and with `follow()` on top of it. */
export function busConformance(name: string, open: () => Promise<OpenedBus>): void {
  describe(`the bus ${name}`, () => {
    let opened: OpenedBus;
    let bus: Bus;
    /** How many listen to each tenant. */
    const listening = new Map<number, number>();
    beforeEach(async () => {
      listening.clear();
      opened = await open();
      ({ bus } = opened);
    });
    afterEach(() => opened.close());

    /** Resolves once what is published from now on arrives. */
    const listen = async (tenant: number) => {
      const waiter = new Waiter();
      const wakeUps: (readonly Entry[])[] = [];
      const stopListening = bus.subscribe(tenant, (entries) => {
        wakeUps.push(entries);
        waiter.wake();
      });
      const woken = (times: number) => waiter.until(() => (wakeUps.length >= times ? true : undefined));
      const others = listening.get(tenant) ?? 0;
      listening.set(tenant, others + 1);
      if (others === 0 && opened.wakesWhenListening) {
        await woken(1);
        wakeUps.length = 0;
      }
      const stop = () => {
        stopListening();
        listening.set(tenant, (listening.get(tenant) ?? 1) - 1);
      };
      return { wakeUps, stop, woken };
    };

    test('wakes everyone who listens to that tenant', async () => {
      const [one, other] = [await listen(1), await listen(1)];
      bus.publish(1, [notification(1)]);
      await Promise.all([one.woken(1), other.woken(1)]);
    });

    test('a wake-up carries the published entries, or nothing', async () => {
      const listener = await listen(1);
      const entries = [notification(1), notification(2)];
      bus.publish(1, entries);
      await listener.woken(1);
      expect([[], entries]).toContainEqual(listener.wakeUps[0]);
    });

    test('wakes nobody of another tenant', async () => {
      const [own, foreign] = [await listen(1), await listen(2)];
      bus.publish(1, [notification(1)]);
      await own.woken(1);
      bus.publish(2, []);
      await foreign.woken(1);
      expect(foreign.wakeUps).toEqual([[]]);
    });

    test('wakes listeners without entries too', async () => {
      const listener = await listen(1);
      bus.publish(1, []);
      await listener.woken(1);
    });

    test('publishing to a tenant that nobody listens to does nothing', () => {
      expect(() => bus.publish(9, [notification(1)])).not.toThrow();
    });

    test('who stopped listening hears nothing more, and the others still do', async () => {
      const [leaver, stayer] = [await listen(1), await listen(1)];
      leaver.stop();
      leaver.stop();
      bus.publish(1, [notification(1)]);
      await stayer.woken(1);
      expect(leaver.wakeUps).toEqual([]);
    });

    test('who stops while it is rung keeps no other from hearing', async () => {
      const earlier = await listen(1);
      const stop = bus.subscribe(1, () => stop());
      const later = await listen(1);
      bus.publish(1, [notification(1)]);
      await Promise.all([earlier.woken(1), later.woken(1)]);
    });

    test('who listens again after everyone had left is rung', async () => {
      (await listen(1)).stop();
      const again = await listen(1);
      bus.publish(1, [notification(1)]);
      await again.woken(1);
    });

    describe('with followers', () => {
      const followers: Follower[] = [];
      afterEach(() => {
        for (const follower of followers.splice(0)) follower.close();
      });

      const followLog = (tenant: number, log: ModelLog, pageSize: number) => {
        const waiter = new Waiter();
        const seen: number[] = [];
        const follower = follow({
          monotonicNow: () => performance.now(),
          history: log,
          bus,
          tenant,
          from: 0,
          pageSize,
          deliver: (entries) => {
            seen.push(...entries.map(({ position }) => position));
            waiter.wake();
          },
          onGap: (first) => {
            throw new Error(`a gap before ${first}`);
          },
          onError: (error) => {
            throw error;
          },
        });
        followers.push(follower);
        return {
          seen,
          follower,
          all: (count: number) => waiter.until(() => (seen.length >= count ? true : undefined)),
        };
      };
      const upTo = (count: number) => Array.from({ length: count }, (_, i) => i + 1);

      test('each entry comes once and in order while it is being published, also to those who join late', async () => {
        const log = new ModelLog();
        const early = followLog(1, log, 3);
        const late: ReturnType<typeof followLog>[] = [];
        for (let i = 1; i <= 200; i++) {
          bus.publish(1, [log.append(notification)]);
          if (i % 3 === 0) await new Promise(setImmediate);
          if (i % 50 === 0) late.push(followLog(1, log, i));
        }
        for (const one of [early, ...late]) {
          await one.all(200);
          expect(one.seen).toEqual(upTo(200));
        }
      });

      test('publishers that overtake each other take nothing from the order', async () => {
        const log = new ModelLog();
        const reader = followLog(1, log, 500);
        await new Promise(setImmediate);
        const batches = Array.from({ length: 40 }, () => [
          log.append(notification),
          log.append(notification),
        ]);
        for (const batch of batches.toSorted(
          (a, b) => ((a[0]?.position ?? 0) % 7) - ((b[0]?.position ?? 0) % 7),
        )) {
          bus.publish(1, batch);
        }
        await reader.all(80);
        expect(reader.seen).toEqual(upTo(80));
      });

      test("two tenants with the same positions never get each other's entries", async () => {
        const logs = [new ModelLog(), new ModelLog()] as const;
        const readers = [followLog(1, logs[0], 10), followLog(2, logs[1], 10)] as const;
        for (let i = 0; i < 30; i++) bus.publish(1, [logs[0].append(notification)]);
        for (let i = 0; i < 7; i++) bus.publish(2, [logs[1].append(notification)]);
        await Promise.all([readers[0].all(30), readers[1].all(7)]);
        expect(readers[0].seen).toEqual(upTo(30));
        expect(readers[1].seen).toEqual(upTo(7));
      });

      test('a closed follower gets nothing more', async () => {
        const log = new ModelLog();
        const [closed, open] = [followLog(1, log, 10), followLog(1, log, 10)];
        closed.follower.close();
        bus.publish(1, [log.append(notification)]);
        await open.all(1);
        expect(closed.seen).toEqual([]);
      });
    });
  });
}
