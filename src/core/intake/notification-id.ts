/** Ids of notifications: UUID version 7, ascending in order of creation. */
import { randomFillSync } from 'node:crypto';
import { V7Generator } from 'uuidv7';

/** Random numbers are fetched in bulk, because a call for each id costs more than the rest of its creation. */
const pool = new Uint32Array(1024);
let used = pool.length;

/** Ids ascend when the clock goes back a little: at most this much is an id's time after its notification was received. */
export const idAheadMs = 10_000;

const generator = new V7Generator({
  nextUint32() {
    if (used === pool.length) {
      randomFillSync(pool);
      used = 0;
    }
    const value = pool[used] as number;
    // Used numbers are not kept.
    pool[used] = 0;
    used += 1;
    return value;
  },
});
generator.setRollbackAllowance(idAheadMs);

const digits = Buffer.from('0123456789abcdef', 'latin1');
const dash = 0x2d;
const text = Buffer.alloc(36, dash);
/** Where each byte's two digits stand between the dashes. */
const places = [0, 2, 4, 6, 9, 11, 14, 16, 19, 21, 24, 26, 28, 30, 32, 34];

/** A new id for a notification received at `now` (Unix ms), in lower case. Ids ascend even if the clock is set back. */
export function newNotificationId(now: number): string {
  const { bytes } = generator.generateOrResetWithTs(now);
  for (let i = 0; i < 16; i++) {
    const [byte, place] = [bytes[i] as number, places[i] as number];
    text[place] = digits[byte >> 4] as number;
    text[place + 1] = digits[byte & 15] as number;
  }
  return text.toString('latin1');
}

/** When a notification with this id was received, in Unix milliseconds; at most {@link idAheadMs} after it. */
export const timeOfId = (id: string): number => Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16);
