import type { NotificationEvent } from '#contract/notification.ts';
import type { ReadyEvent } from '#contract/panel.ts';
import type {
  ByeEvent,
  ClearEvent,
  HeartbeatEvent,
  IdentifyEvent,
  ReloadEvent,
  RestartEvent,
  SettingsEvent,
  TestEvent,
  ThrottledEvent,
} from '#contract/panel-events.ts';
import { ApiError, isCode } from './api-error.ts';
import { backoffMs, pause } from './backoff.ts';
import type { Call } from './call.ts';
import { type SseMessage, sseMessages } from './sse-messages.ts';

/** How the line to the server is. */
export type Connection =
  | { readonly state: 'connecting' }
  | { readonly state: 'online' }
  /** Not connected: why, and when the next attempt begins. */
  | {
      readonly state: 'waiting';
      readonly reason: string;
      /** Whether there was an answer at all. */
      readonly answered: boolean;
      readonly retryInMs: number;
    };

export interface PanelEventsOptions {
  /** Ends the iteration, without an error. */
  readonly signal?: AbortSignal;
  /** Resume after this id of an earlier stream. */
  readonly lastEventId?: string;
  /** What this screen is, as in panel/0.1.0: it is told with the panel. */
  readonly screen?: string;
  /** Is told each change of the connection. */
  readonly onConnection?: (connection: Connection) => void;
  /** Wait before the first reconnect when the server names none. */
  readonly retryMs?: number;
  readonly random?: () => number;
}

const connectMs = 15_000;
/** Until `ready` names the server's own. */
const usualHeartbeatMs = 15_000;
/** Two heartbeats may be late or lost before the third is missed. */
const silentHeartbeats = 2.5;
const retryCapMs = 30_000;
/** When Belfry itself answers one of these, coming back cannot help: the credential, its scope or the panel is gone. */
const finalStatuses = [401, 403, 404];

/** What one connection leaves to the next. */
interface Memory {
  lastEventId: string | undefined;
  heartbeatMs: number;
  retryMs: number;
  /** Attempts since the stream was last ready. */
  attempts: number;
  /** The server's own word, at goodbye or with an error, on when to come back. */
  retryInMs: number | undefined;
}

/**
 * The events of a panel, for as long as the caller listens: a connection that ends, breaks or falls silent is made
 * again, and goes on after the last event that was handed out.
 *
 * @throws ApiError with status 401, 403 or 404 of Belfry's own: the token or the panel is no longer there.
 */
export async function* panelEvents(
  call: Call,
  panelId: string,
  options: PanelEventsOptions = {},
): AsyncGenerator<PanelEvent, void, void> {
  const { signal, onConnection, random } = options;
  const memory: Memory = {
    lastEventId: options.lastEventId,
    heartbeatMs: usualHeartbeatMs,
    retryMs: options.retryMs ?? 1_000,
    attempts: 0,
    retryInMs: undefined,
  };
  while (!signal?.aborted) {
    let ended = { reason: 'the server ended the stream', answered: true };
    onConnection?.({ state: 'connecting' });
    try {
      for await (const event of connection(call, panelId, memory, options)) {
        if (event.type === 'ready') onConnection?.({ state: 'online' });
        yield event;
      }
    } catch (error) {
      if (signal?.aborted) return;
      ended = failed(error, memory);
    }
    if (signal?.aborted) return;
    const {
      retryInMs = backoffMs(memory.attempts, {
        baseMs: memory.retryMs,
        capMs: retryCapMs,
        ...(random && { random }),
      }),
    } = memory;
    memory.attempts += 1;
    memory.retryInMs = undefined;
    onConnection?.({ state: 'waiting', ...ended, retryInMs });
    await pause(retryInMs, signal);
  }
}

/** Notes what a failure means for the next attempt; answers why it failed. Throws it when there is to be none. */
function failed(error: unknown, memory: Memory): { reason: string; answered: boolean } {
  if (!(error instanceof ApiError))
    return { reason: error instanceof Error ? error.message : String(error), answered: true };
  if (error.code !== undefined && finalStatuses.includes(error.status)) throw error;
  if (isCode(error, 'cursor.invalid')) memory.lastEventId = undefined;
  if (error.retryAfterSeconds !== undefined) memory.retryInMs = error.retryAfterSeconds * 1_000;
  return { reason: error.message, answered: error.status !== 0 };
}

async function* connection(
  call: Call,
  panelId: string,
  memory: Memory,
  { signal, screen }: PanelEventsOptions,
): AsyncGenerator<PanelEvent> {
  const abort = new AbortController();
  const stop = () => abort.abort();
  signal?.addEventListener('abort', stop);
  try {
    const body = await open(call, panelId, { lastEventId: memory.lastEventId, screen }, abort);
    const silenceMs = () => memory.heartbeatMs * silentHeartbeats;
    const onRetry = (ms: number) => {
      memory.retryMs = ms;
    };
    for await (const message of sseMessages(body, { silenceMs, onRetry })) {
      const event = readPanelEvent(message);
      if (event?.type === 'ready') {
        memory.attempts = 0;
        memory.heartbeatMs = event.data.heartbeatMs;
      }
      if (event?.type === 'bye') memory.retryInMs = event.data.reconnectMs;
      if (event) yield event;
      // Only now: an event the caller has not been given yet must come again.
      if (message.id) memory.lastEventId = message.id;
    }
  } finally {
    signal?.removeEventListener('abort', stop);
    abort.abort();
  }
}

async function open(
  call: Call,
  panelId: string,
  { lastEventId, screen }: { readonly lastEventId: string | undefined; readonly screen: string | undefined },
  abort: AbortController,
): Promise<ReadableStream<Uint8Array>> {
  const timer = setTimeout(() => abort.abort(), connectMs);
  try {
    const response = await call('GET', `/api/panels/${encodeURIComponent(panelId)}/events`, {
      signal: abort.signal,
      headers: {
        accept: 'text/event-stream',
        ...(lastEventId !== undefined && { 'last-event-id': lastEventId }),
        ...(screen !== undefined && { 'belfry-client': screen }),
      },
    });
    const type = response.headers.get('content-type') ?? '';
    if (!response.body || !type.startsWith('text/event-stream')) {
      throw new ApiError(response.status, 'the answer is no event stream: is this a Belfry server?');
    }
    return response.body;
  } finally {
    clearTimeout(timer);
  }
}

interface DataOf {
  readonly ready: ReadyEvent;
  readonly notification: NotificationEvent;
  readonly clear: ClearEvent;
  readonly throttled: ThrottledEvent;
  readonly settings: SettingsEvent;
  readonly heartbeat: HeartbeatEvent;
  readonly gap: RestartEvent;
  readonly reset: RestartEvent;
  readonly bye: ByeEvent;
  readonly identify: IdentifyEvent;
  readonly reload: ReloadEvent;
  readonly test: TestEvent;
}

/** One event of a panel's stream, told apart by `type`. */
export type PanelEvent = {
  [K in keyof DataOf]: { readonly type: K; readonly data: DataOf[K] };
}[keyof DataOf];

const known: Readonly<Record<keyof DataOf, true>> = {
  ready: true,
  notification: true,
  clear: true,
  throttled: true,
  settings: true,
  heartbeat: true,
  gap: true,
  reset: true,
  bye: true,
  identify: true,
  reload: true,
  test: true,
};

/** Reads a message of the stream; undefined for an event that a newer server may have added. */
export function readPanelEvent({ event, data }: SseMessage): PanelEvent | undefined {
  if (!Object.hasOwn(known, event)) return undefined;
  return { type: event, data: JSON.parse(data) } as PanelEvent;
}
