import type { Bus, Topic } from '#core/log/bus.ts';
import type { Entry } from '#core/log/log.ts';
import { getOrMake } from '#core/maps.ts';

type Listener = (entries: readonly Entry[]) => void;

/**
 * The bus of a single process: it neither loses nor repeats a wake-up, and carries the entries. An error that a listener
 * throws goes to `onError` and reaches neither the publisher nor the other listeners.
 */
export function createInProcessBus(onError: (error: unknown) => void): Bus {
  const byTopic = new Map<Topic, Set<Listener>>();
  return {
    publish(topic, entries) {
      for (const listener of byTopic.get(topic) ?? []) {
        try {
          listener(entries);
        } catch (error) {
          onError(error);
        }
      }
    },
    subscribe(topic, listener) {
      const listeners = getOrMake(byTopic, topic, () => new Set());
      listeners.add(listener);
      return () => {
        listeners.delete(listener);
        if (listeners.size === 0 && byTopic.get(topic) === listeners) byTopic.delete(topic);
      };
    },
    problem: () => undefined,
    close: async () => undefined,
  };
}
