import { constants, getPriority, setPriority } from 'node:os';

const low = constants.priority.PRIORITY_BELOW_NORMAL;

/**
 * Lowers the scheduling priority: on Linux of this thread, elsewhere of the whole process. A failure is ignored, because the
 * work is possible without it.
 */
export function lowerPriority(): void {
  try {
    // Keep a priority that is lower already.
    if (getPriority() < low) setPriority(low);
  } catch {
    // Not permitted: the priority stays.
  }
}
