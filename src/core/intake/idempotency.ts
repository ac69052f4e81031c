/** Ids of notifications: UUID version 7, ascending in order of creation. */
import { createHash, randomFillSync } from 'node:crypto';
import { V7Generator } from 'uuidv7';
import { limits } from '#contract/limits.ts';
import { conflict } from '../errors.ts';
import type { AppendOutcome, Idempotency, NotificationDraft } from '../log/log.ts';
import type { CheckedFields } from './notification.ts';

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

/** Detects a notification that is sent again. */

export interface RetryKey {
  readonly key: string;
  /**
   * If set, the key names an alert, and this is its state. Only the newest state counts as a repeat, for an hour, or until it
   * expires if that is sooner.
   */
  readonly state?: string;
}

/** A state counts as repeated for an hour, and only while it is shown. */
export function withTime(
  idempotency: Idempotency | null,
  { receivedAt, expiresAt }: NotificationDraft,
): Idempotency | null {
  if (!idempotency?.isState) return idempotency;
  return { ...idempotency, until: Math.min(receivedAt + limits.stateRepeatMs, expiresAt ?? Infinity) };
}

export function idempotencyOf({ key, state }: RetryKey, fields: CheckedFields): Idempotency {
  const content = state === undefined ? fields : [state, fields];
  // Without what was not sent: a version with one more field gives the same hash.
  const sent = JSON.stringify(content, (_, value: unknown) => value ?? undefined);
  const hash = createHash('sha256').update(sent).digest('base64url');
  return { key, hash, ...(state !== undefined && { isState: true }) };
}

/** For notifications of Belfry itself: their keys are random, and their text may differ between two attempts. */
export const ownIdempotency = ({ key }: RetryKey): Idempotency => ({ key, hash: 'belfry' });

/** @throws AppError `conflict`. */
export function idOf(
  outcome: Exclude<AppendOutcome, { kind: 'throttled' | 'changed' }>,
  idempotency: Idempotency | null,
): string {
  if (outcome.kind !== 'conflict') return outcome.id;
  throw conflict(
    `Idempotency-Key "${idempotency?.key}" was used with other content: use a new key for a new notification`,
  );
}
