import { vi } from 'vitest';

interface Options {
  /** Between two looks, in ms. */
  readonly interval?: number;
}

/** What `look` answers once it no longer throws. Waits for as long as a machine takes that is several times as slow as usual. */
export function eventually<T>(look: () => T | Promise<T>, { interval = 50 }: Options = {}): Promise<T> {
  return vi.waitFor(look, { timeout: 15_000, interval });
}
