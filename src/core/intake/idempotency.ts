/** Detects a notification that is sent again. */
import { createHash } from 'node:crypto';
import { limits } from '#contract/limits.ts';
import { AppError } from '../errors.ts';
import type { AppendOutcome, Idempotency, NotificationDraft } from '../ports.ts';
import type { CheckedFields } from './notification.ts';

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
  outcome: Exclude<AppendOutcome, { kind: 'throttled' }>,
  idempotency: Idempotency | null,
): string {
  if (outcome.kind !== 'conflict') return outcome.id;
  throw new AppError(
    'conflict',
    `Idempotency-Key "${idempotency?.key}" was used with other content: use a new key for a new notification`,
  );
}
