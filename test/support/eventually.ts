import { vi } from 'vitest';
import { patienceMs } from './patience.ts';

interface Options {
  /** Between two looks, in ms. */
  readonly interval?: number;
}

/** What `look` answers once it no longer throws. */
export function eventually<T>(look: () => T | Promise<T>, { interval = 50 }: Options = {}): Promise<T> {
  return vi.waitFor(look, { timeout: patienceMs, interval });
}
