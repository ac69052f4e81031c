import { full } from '../torture/counts.ts';

/** How long tests wait, in ms, for something immediate, on a machine that is several times slower than usual. */
export const patienceMs = 30_000;

/**
 * The limit, in ms, for something promised within `promisedMs`: the same in `npm run torture`, which has the machine to itself,
 * otherwise eight times as much, because the machine may be busy.
 */
export const limitMs = (promisedMs: number) => (full ? promisedMs : 8 * promisedMs);
