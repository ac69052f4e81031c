/** What rang last on each phone with a pause between sounds, beyond its connection: a client that connects again stays in the pause. */
import { createLruMap, type LruMap } from '../limits/lru-map.ts';

/** A message that the pause may silence, and that may begin it. */
export interface Sound {
  /** Of its entry, as `at`. */
  readonly position: number;
  readonly at: number;
  readonly rank: number;
  /** Of an escalation: which step it is; otherwise 0. */
  readonly step: number;
}

/** By the epoch of the log, the tenant and the panel. */
export type LastSounds = LruMap<string, Sound>;

const panelsKept = 10_000;
export const createLastSounds = (): LastSounds => createLruMap<string, Sound>(panelsKept);
