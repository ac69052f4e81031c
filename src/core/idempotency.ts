/** By what a notification that is sent again is known. */
import { createHash } from 'node:crypto';
import { limits } from '#contract/limits.ts';
import { AppError } from './errors.ts';
import type { CheckedFields } from './notification.ts';
import type { AppendOutcome, Idempotency, NotificationDraft } from './ports.ts';

export interface RetryKey {
  readonly key: string;
  /** Set: the key names an alert and this its state. The newest state is a repeat for an hour, and only until it expires. */
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
  const hash = createHash('sha256').update(JSON.stringify(content)).digest('base64url');
  return { key, hash, ...(state !== undefined && { isState: true }) };
}

/** Of what Belfry sends: its keys are random, and what it says of a panel may change between two attempts. */
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
