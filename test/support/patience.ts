import { full } from '../torture/counts.ts';

/** How long tests wait, in ms, for what is meant to come at once: as long as a machine takes that is several times as slow as usual. */
export const patienceMs = 15_000;

/**
 * The limit, in ms, that a test puts on something that is promised within `promisedMs`: exactly that in `npm run torture`,
 * which has its machine to itself, and eight times as much beside other work, where the machine may be slow.
 */
export const limitMs = (promisedMs: number) => (full ? promisedMs : 8 * promisedMs);
