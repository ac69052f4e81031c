import type { NotifyAccepted } from '#contract/history/notification.ts';
import { isTemporary } from './api-error.ts';
import { backoffMs, pause } from './backoff.ts';
import type { Client, NotificationToSend } from './client.ts';

/** A notification with the key that makes sending it again safe. */
export interface Outgoing {
  readonly notification: NotificationToSend;
  readonly idempotencyKey: string;
}

/**
 * Sends a notification and retries while the server is unavailable or busy, until the monotonic time `until`.
 *
 * @throws ApiError of the last attempt.
 */
export async function sendUntil(
  client: Pick<Client, 'send'>,
  { notification, idempotencyKey }: Outgoing,
  until: number,
  signal?: AbortSignal,
): Promise<NotifyAccepted> {
  for (let attempt = 0; ; attempt++) {
    try {
      return await client.send(notification, { idempotencyKey, ...(signal && { signal }) });
    } catch (error) {
      if (!isTemporary(error) || signal?.aborted) throw error;
      const askedMs = (error.retryAfterSeconds ?? 0) * 1_000;
      const waitMs = Math.max(askedMs, backoffMs(attempt, { baseMs: 250, capMs: 4_000 }));
      if (performance.now() + waitMs > until) throw error;
      await pause(waitMs, signal);
      if (signal?.aborted) throw error;
    }
  }
}
