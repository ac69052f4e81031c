/** A typed client of Belfry's HTTP API, for programs and for browsers. */
import type { Static } from 'typebox';
import { backoffMs } from '#contract/backoff.ts';
import type {
  AcknowledgeAlarm,
  AlarmAcknowledged,
  AlarmActions,
  AlarmActionsDone,
  AlarmPage,
} from '#contract/history/alarm.ts';
import type {
  AcknowledgeAccepted,
  HistoryPage,
  NotifyAccepted,
  NotifyBody,
} from '#contract/history/notification.ts';
import type {
  ClearAccepted,
  PairingCreated,
  PairingState,
  Panel,
  PanelList,
  PanelRegister,
  Receipts,
  ReceiptsAccepted,
} from '#contract/panels/panel.ts';
import { type CallerOptions, type CallOptions, createCall, createRequest, isTemporary } from './call.ts';
import { type PanelEvent, type PanelEventsOptions, panelEvents } from './panel-events.ts';
import { pause } from './timing.ts';

export type NotificationToSend = Static<typeof NotifyBody>;

/** The response of POST /api/panels. */
type RegisteredPanel = Pick<Panel, 'id' | 'name' | 'tags' | 'location' | 'events' | 'createdAt'>;

interface HistoryRequest {
  /** In the query language; empty finds everything. */
  readonly q?: string;
  readonly limit?: number;
  /** `nextCursor` of the previous page. A page with `searchedTo` may be empty and still have a next page. */
  readonly cursor?: string;
}

interface AlarmsRequest extends HistoryRequest {
  /** States with commas between; without it, those that are open or acknowledged. */
  readonly state?: string;
}

interface ClientOptions extends CallerOptions {
  /** The time limit of a request; streams have a limit of silence instead. Default: 15 s. */
  readonly timeoutMs?: number;
}

/** Ten thousand alarms are many commits. */
const actionsMs = 120_000;

/** Every function throws an ApiError on an error response and on a timeout. */
export interface Client {
  /** Resolves once the notification is durable. A repeat with the same idempotency key stores nothing. */
  send(
    notification: NotificationToSend,
    options?: { readonly idempotencyKey?: string; readonly signal?: AbortSignal },
  ): Promise<NotifyAccepted>;
  /** Returns the panel of that name, and creates it when there is none. */
  registerPanel(panel: PanelRegister, options?: Pick<CallOptions, 'signal'>): Promise<RegisteredPanel>;
  listPanels(): Promise<Panel[]>;
  /** Removes a notification, or what has replaced it, from every panel; false when no panel showed it any more. */
  clear(notificationId: string): Promise<boolean>;
  /** Acknowledges a notification, or what stands in its place now; only the first acknowledgement counts. */
  acknowledge(notificationId: string, note?: string): Promise<AcknowledgeAccepted>;
  /** Sends display receipts, at most 1,000; returns how many were new. */
  receipts(panelId: string, receipts: Receipts, options?: Pick<CallOptions, 'signal'>): Promise<number>;
  /** Revokes the token of this client, which it got by pairing. */
  unpair(panelId: string, options?: { readonly timeoutMs: number }): Promise<void>;
  history(request?: HistoryRequest, options?: Pick<CallOptions, 'signal'>): Promise<HistoryPage>;
  /** A page of the alarms that stand, the highest level first. */
  alarms(request?: AlarmsRequest, options?: Pick<CallOptions, 'signal'>): Promise<AlarmPage>;
  /** Acknowledges the alarm of a notification, or changes that. `first` is false if somebody else had acknowledged it. */
  acknowledgeAlarm(
    notificationId: string,
    given?: Static<typeof AcknowledgeAlarm>,
  ): Promise<Static<typeof AlarmAcknowledged>>;
  /** Changes many alarms, named by ids or by a search. */
  actOnAlarms(actions: Static<typeof AlarmActions>): Promise<AlarmActionsDone>;
  /** A panel's events, until the caller stops; see panelEvents. */
  panelEvents(panelId: string, options?: PanelEventsOptions): AsyncGenerator<PanelEvent, void, void>;
}

/** What a screen calls. A page that needs no more loads no more. */
export type ScreenClient = Pick<Client, 'clear' | 'acknowledge' | 'receipts' | 'unpair' | 'panelEvents'>;

export function createScreenClient({ timeoutMs, ...options }: ClientOptions): ScreenClient {
  const call = createCall(options);
  const request = createRequest(call, timeoutMs);
  return {
    clear: async (id) =>
      (await request<Static<typeof ClearAccepted>>('POST', `/api/notifications/${encode(id)}/clear`)).cleared,
    acknowledge: (id, note) =>
      request('POST', `/api/notifications/${encode(id)}/acknowledge`, {
        body: note === undefined ? {} : { note },
      }),
    receipts: async (panelId, body, { signal } = {}) => {
      const path = `/api/panels/${encode(panelId)}/receipts`;
      return (await request<Static<typeof ReceiptsAccepted>>('POST', path, { body, signal })).recorded;
    },
    unpair: (panelId, given) => request('POST', `/api/panels/${encode(panelId)}/unpair`, given),
    panelEvents: (panelId, events) => panelEvents(call, panelId, events),
  };
}

export function createClient(options: ClientOptions): Client {
  const { timeoutMs, ...caller } = options;
  const request = createRequest(createCall(caller), timeoutMs);
  return {
    ...createScreenClient(options),
    send: (body, { idempotencyKey, signal } = {}) =>
      request('POST', '/api/notify', {
        body,
        signal,
        ...(idempotencyKey !== undefined && { headers: { 'idempotency-key': idempotencyKey } }),
      }),
    registerPanel: (body, { signal } = {}) => request('POST', '/api/panels', { body, signal }),
    listPanels: async () => (await request<Static<typeof PanelList>>('GET', '/api/panels')).panels,
    history: (query = {}, given = {}) => request('GET', `/api/history${queryOf(query)}`, given),
    alarms: (query = {}, given = {}) => request('GET', `/api/alarms${queryOf(query)}`, given),
    acknowledgeAlarm: (id, body = {}) => request('POST', `/api/alarms/${encode(id)}/acknowledge`, { body }),
    actOnAlarms: (body) => request('POST', '/api/alarms/actions', { body, timeoutMs: actionsMs }),
  };
}

const encode = encodeURIComponent;

function queryOf(request: AlarmsRequest): string {
  const query = new URLSearchParams();
  for (const name of ['q', 'state', 'limit', 'cursor'] as const)
    if (request[name] !== undefined) query.set(name, String(request[name]));
  return query.size === 0 ? '' : `?${query}`;
}

/** The calls of a screen without a token. Both throw an ApiError if the call fails. */
export interface PairingCalls {
  /** Returns a code to show, and a secret to poll with. */
  open(): Promise<Static<typeof PairingCreated>>;
  /** Whether the screen is approved; only the first answer after the approval holds the token. */
  collect(secret: string): Promise<Static<typeof PairingState>>;
}

/** @param url where the server is, as in http://127.0.0.1:8080. */
export function createPairingCalls(url: string, timeoutMs?: number): PairingCalls {
  const request = createRequest(createCall({ url }), timeoutMs);
  return {
    open: () => request('POST', '/api/pairings'),
    collect: (secret) => request('GET', `/api/pairings/${encodeURIComponent(secret)}`),
  };
}

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
