import { constants, getPriority, setPriority } from 'node:os';

const low = constants.priority.PRIORITY_BELOW_NORMAL;

/**
 * Leaves the processor to others where there is not enough of it: on Linux this thread, elsewhere the whole process. A
 * courtesy, that no work fails for.
 */
export function letOthersGoFirst(): void {
  try {
    // Who was started at a lower one stays there.
    if (getPriority() < low) setPriority(low);
  } catch {
    // Where it is not allowed, it goes on as it is.
  }
}
