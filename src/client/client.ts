/** Belfry's HTTP API as typed functions, for programs and pages alike. */
import type { Static } from 'typebox';
import type { HistoryPage, NotifyAccepted, NotifyBody } from '#contract/notification.ts';
import type {
  ClearAccepted,
  Panel,
  PanelList,
  PanelRegister,
  Receipts,
  ReceiptsAccepted,
} from '#contract/panel.ts';
import { type CallerOptions, type CallOptions, createCall, jsonOf, withTimeLimit } from './call.ts';
import { type PanelEvent, type PanelEventsOptions, panelEvents } from './panel-events.ts';

export type NotificationToSend = Static<typeof NotifyBody>;

/** What POST /api/panels answers. */
export type RegisteredPanel = Pick<Panel, 'id' | 'name' | 'tags' | 'location' | 'events' | 'createdAt'>;

export interface HistoryRequest {
  /** In the query language; empty finds everything. */
  readonly q?: string;
  readonly limit?: number;
  /** `nextCursor` of the page before. A page with `searchedTo` may hold few or none, and still has one. */
  readonly cursor?: string;
}

export interface ClientOptions extends CallerOptions {
  /** The longest wait for a whole answer; streams end by their own silence. Default: 15 s. */
  readonly timeoutMs?: number;
}

const usualTimeoutMs = 15_000;

/** Every function throws an ApiError when there is no answer in time, or one that is no success. */
export interface Client {
  /** Resolves once the notification is durable. With a retry key, sending the same again stores nothing. */
  send(
    notification: NotificationToSend,
    options?: { readonly idempotencyKey?: string },
  ): Promise<NotifyAccepted>;
  /** The panel of that name, made when there is none. */
  registerPanel(panel: PanelRegister): Promise<RegisteredPanel>;
  listPanels(): Promise<Panel[]>;
  /** Takes a notification off every panel; false when it was on none any more. */
  clear(notificationId: string): Promise<boolean>;
  /** Proof of display, at most 1,000 at once; answers how many were new. */
  receipts(panelId: string, receipts: Receipts, options?: Pick<CallOptions, 'signal'>): Promise<number>;
  /** Revokes the token of this client, which it got by pairing. */
  unpair(panelId: string, options?: Pick<CallOptions, 'signal'>): Promise<void>;
  history(request?: HistoryRequest): Promise<HistoryPage>;
  /** A panel's events, without end: see panelEvents. */
  panelEvents(panelId: string, options?: PanelEventsOptions): AsyncGenerator<PanelEvent, void, void>;
}

export function createClient({ timeoutMs = usualTimeoutMs, ...options }: ClientOptions): Client {
  const call = createCall(options);
  const ask = <T>(method: string, path: string, more: CallOptions = {}) =>
    withTimeLimit(timeoutMs, more.signal, async (signal) =>
      jsonOf<T>(await call(method, path, { ...more, signal })),
    );
  const at = (id: string) => encodeURIComponent(id);

  return {
    send: (body, { idempotencyKey } = {}) =>
      ask('POST', '/api/notify', {
        body,
        ...(idempotencyKey !== undefined && { headers: { 'idempotency-key': idempotencyKey } }),
      }),
    registerPanel: (body) => ask('POST', '/api/panels', { body }),
    listPanels: async () => (await ask<Static<typeof PanelList>>('GET', '/api/panels')).panels,
    clear: async (id) =>
      (await ask<Static<typeof ClearAccepted>>('POST', `/api/notifications/${at(id)}/clear`)).cleared,
    receipts: async (panelId, body, { signal } = {}) => {
      const path = `/api/panels/${at(panelId)}/receipts`;
      return (await ask<Static<typeof ReceiptsAccepted>>('POST', path, { body, signal })).recorded;
    },
    unpair: async (panelId, { signal } = {}) => {
      await withTimeLimit(timeoutMs, signal, (limited) =>
        call('POST', `/api/panels/${at(panelId)}/unpair`, { signal: limited }),
      );
    },
    history: (request = {}) => ask('GET', `/api/history${queryOf(request)}`),
    panelEvents: (panelId, events) => panelEvents(call, panelId, events),
  };
}

function queryOf({ q, limit, cursor }: HistoryRequest): string {
  const query = new URLSearchParams();
  if (q !== undefined) query.set('q', q);
  if (limit !== undefined) query.set('limit', String(limit));
  if (cursor !== undefined) query.set('cursor', cursor);
  return query.size === 0 ? '' : `?${query}`;
}
