import { vi } from 'vitest';
import { patienceMs } from './patience.ts';

interface Options {
  /** The pause between two attempts, in ms. */
  readonly interval?: number;
  /** A longer limit for many steps, in ms. */
  readonly timeout?: number;
}

/** Repeats `look` until it does not throw, and resolves with its result. */
export function eventually<T>(
  look: () => T | Promise<T>,
  { interval = 50, timeout = patienceMs }: Options = {},
): Promise<T> {
  return vi.waitFor(look, { timeout, interval });
}
