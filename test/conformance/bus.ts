import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { Bus, Entry } from '#core/ports.ts';
import { type Follower, follow } from '#core/stream/follow.ts';
import { ModelLog, notification } from '../support/model-log.ts';
import { limitMs } from '../support/patience.ts';

/** A bus to test, and how to give back what it holds. */
export interface OpenedBus {
  readonly bus: Bus;
  /** The first who listens to a channel is rung once it listens on the other side. */
  readonly wakesWhenListening?: boolean;
  close(): Promise<void>;
}

/** Longer than any bus may take to ring. Nobody tells these followers the head of the log. */
const soonMs = limitMs(1_000);

/** Resolves with what `look` answers once that is not undefined; looks again at every ring of `told`. */
class Bell {
  readonly #waiting = new Set<() => void>();

  readonly told = (): void => {
    for (const look of this.#waiting) look();
  };

  until<T>(look: () => T | undefined): Promise<T> {
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => reject(new Error(`not so within ${soonMs} ms`)), soonMs);
      const again = () => {
        const found = look();
        if (found === undefined) return;
        clearTimeout(timer);
        this.#waiting.delete(again);
        resolve(found);
      };
      this.#waiting.add(again);
      again();
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
      const bell = new Bell();
      const rings: (readonly Entry[])[] = [];
      const stopListening = bus.subscribe(tenant, (entries) => {
        rings.push(entries);
        bell.told();
      });
      const rung = (times: number) => bell.until(() => (rings.length >= times ? true : undefined));
      const others = listening.get(tenant) ?? 0;
      listening.set(tenant, others + 1);
      if (others === 0 && opened.wakesWhenListening) {
        await rung(1);
        rings.length = 0;
      }
      const stop = () => {
        stopListening();
        listening.set(tenant, (listening.get(tenant) ?? 1) - 1);
      };
      return { rings, stop, rung };
    };

    test('rings everyone who listens to that tenant', async () => {
      const [one, other] = [await listen(1), await listen(1)];
      bus.publish(1, [notification(1)]);
      await Promise.all([one.rung(1), other.rung(1)]);
    });

    test('what a ring carries is what was published, or nothing', async () => {
      const listener = await listen(1);
      const entries = [notification(1), notification(2)];
      bus.publish(1, entries);
      await listener.rung(1);
      expect([[], entries]).toContainEqual(listener.rings[0]);
    });

    test('rings nobody of another tenant', async () => {
      const [own, foreign] = [await listen(1), await listen(2)];
      bus.publish(1, [notification(1)]);
      await own.rung(1);
      bus.publish(2, []);
      await foreign.rung(1);
      expect(foreign.rings).toEqual([[]]);
    });

    test('rings for no entries at all, which only says that something happened', async () => {
      const listener = await listen(1);
      bus.publish(1, []);
      await listener.rung(1);
    });

    test('publishing to a tenant that nobody listens to does nothing', () => {
      expect(() => bus.publish(9, [notification(1)])).not.toThrow();
    });

    test('who stopped listening hears nothing more, and the others still do', async () => {
      const [leaver, stayer] = [await listen(1), await listen(1)];
      leaver.stop();
      leaver.stop();
      bus.publish(1, [notification(1)]);
      await stayer.rung(1);
      expect(leaver.rings).toEqual([]);
    });

    test('who stops while it is rung keeps no other from hearing', async () => {
      const earlier = await listen(1);
      const stop = bus.subscribe(1, () => stop());
      const later = await listen(1);
      bus.publish(1, [notification(1)]);
      await Promise.all([earlier.rung(1), later.rung(1)]);
    });

    test('who listens again after everyone had left is rung', async () => {
      (await listen(1)).stop();
      const again = await listen(1);
      bus.publish(1, [notification(1)]);
      await again.rung(1);
    });

    describe('with followers', () => {
      const followers: Follower[] = [];
      afterEach(() => {
        for (const follower of followers.splice(0)) follower.close();
      });

      const followLog = (tenant: number, log: ModelLog, pageSize: number) => {
        const bell = new Bell();
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
            bell.told();
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
          all: (count: number) => bell.until(() => (seen.length >= count ? true : undefined)),
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
