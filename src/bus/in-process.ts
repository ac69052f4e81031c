import type { Bus, Channel, Entry } from '#core/ports.ts';

type Listener = (entries: readonly Entry[]) => void;

/**
 * The bus of a single process: it neither loses nor repeats a wake-up, and carries the entries. An error that a listener
 * throws goes to `onError` and reaches neither the publisher nor the other listeners.
 */
export function createInProcessBus(onError: (error: unknown) => void): Bus {
  const byChannel = new Map<Channel, Set<Listener>>();
  return {
    publish(channel, entries) {
      for (const listener of byChannel.get(channel) ?? []) {
        try {
          listener(entries);
        } catch (error) {
          onError(error);
        }
      }
    },
    subscribe(channel, listener) {
      const listeners = byChannel.get(channel) ?? new Set();
      byChannel.set(channel, listeners);
      listeners.add(listener);
      return () => {
        listeners.delete(listener);
        if (listeners.size === 0 && byChannel.get(channel) === listeners) byChannel.delete(channel);
      };
    },
    problem: () => undefined,
    close: async () => undefined,
  };
}
