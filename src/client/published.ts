/** `belfry/client`: what the package offers to programs, in Node, browsers and Deno. Its types are in published-types.d.ts. */
import { backoffMs } from '#contract/backoff.ts';
import { ApiError, createCall, isTemporary } from './call.ts';
import { createClient as createApiClient, sendUntil } from './client.ts';
import { panelEvents } from './panel-events.ts';
import type {
  AlarmsQuery,
  BelfryClient,
  BelfryClientOptions,
  HistoryQuery,
  SubscribeOptions,
} from './published-types.d.ts';
import { pause } from './timing.ts';

export { ApiError } from './call.ts';

const usualRetryMs = 60_000;
const pageSize = 200;

export function createClient(options: BelfryClientOptions): BelfryClient {
  const client = createApiClient(options);
  const call = createCall(options);

  /** Retries as the stream that follows does. undefined once `signal` aborts. */
  async function panelId(options: SubscribeOptions): Promise<string | undefined> {
    const { panel, signal, onConnection } = options;
    if (options.panelId !== undefined) return options.panelId;
    if (panel === undefined) throw new TypeError('subscribe needs panel, a name, or panelId');
    for (let attempt = 0; !signal?.aborted; attempt += 1) {
      onConnection?.({ state: 'connecting' });
      try {
        return (await client.registerPanel({ name: panel }, signal && { signal })).id;
      } catch (error) {
        if (signal?.aborted) return undefined;
        const isFinal = !(error instanceof ApiError) || (error.code !== undefined && !isTemporary(error));
        if (isFinal) throw error;
        const backoff = backoffMs(attempt, { baseMs: 1_000, capMs: 30_000 });
        const retryInMs = Math.max((error.retryAfterSeconds ?? 0) * 1_000, backoff);
        const { message: reason, status } = error;
        onConnection?.({ state: 'waiting', reason, answered: status !== 0, retryInMs });
        await pause(retryInMs, signal);
      }
    }
    return undefined;
  }

  return {
    async send(notification, { idempotencyKey = randomKey(), retryMs = usualRetryMs, signal } = {}) {
      signal?.throwIfAborted();
      const outgoing = { notification, idempotencyKey };
      try {
        const { id, warning } = await sendUntil(client, outgoing, performance.now() + retryMs, signal);
        return { id, ...(warning !== undefined && { warning }) };
      } catch (error) {
        signal?.throwIfAborted();
        throw error;
      }
    },

    async *subscribe({ cursor, onConnection, ...options }) {
      const { signal } = options;
      const id = await panelId({ ...options, ...(onConnection && { onConnection }) });
      if (id === undefined) return;
      yield* panelEvents(call, id, {
        ...(signal && { signal }),
        ...(cursor !== undefined && { lastEventId: cursor, mustResume: true }),
        ...(onConnection && { onConnection }),
      });
    },

    async *history({ q, signal }: HistoryQuery = {}) {
      let next: string | null = null;
      do {
        signal?.throwIfAborted();
        const page = await client.history(
          { limit: pageSize, ...(q !== undefined && { q }), ...(next !== null && { cursor: next }) },
          signal && { signal },
        );
        yield* page.notifications;
        next = page.nextCursor;
      } while (next !== null);
    },

    async *alarms({ q, states, signal }: AlarmsQuery = {}) {
      let next: string | null = null;
      do {
        signal?.throwIfAborted();
        const page = await client.alarms(
          {
            ...{ limit: pageSize, ...(q !== undefined && { q }), ...(next !== null && { cursor: next }) },
            ...(states && { state: states.join(',') }),
          },
          signal && { signal },
        );
        yield* page.alarms;
        next = page.nextCursor;
      } while (next !== null);
    },

    actOnAlarms: (actions) => client.actOnAlarms(actions),

    clear: (id) => client.clear(id),
  };
}

/** crypto.randomUUID exists only on pages that were loaded over HTTPS. */
function randomKey(): string {
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) =>
    byte.toString(16).padStart(2, '0'),
  ).join('');
}
