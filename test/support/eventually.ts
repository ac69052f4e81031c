import { vi } from 'vitest';
import { patienceMs } from './patience.ts';

interface Options {
  /** Between two looks, in ms. */
  readonly interval?: number;
  /** For what takes many steps, in ms. */
  readonly timeout?: number;
}

/** What `look` answers once it no longer throws. */
export function eventually<T>(
  look: () => T | Promise<T>,
  { interval = 50, timeout = patienceMs }: Options = {},
): Promise<T> {
  return vi.waitFor(look, { timeout, interval });
}
