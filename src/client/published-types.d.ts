/** `belfry/client`: sends, subscribes and searches. Needs only `fetch` and streams: Node 20, browsers, Deno, Bun. */
import type {
  Alarm,
  AlarmActions,
  AlarmActionsDone,
  HistoryNotification,
  Notification,
  PanelEventData,
} from './published-contract.ts';

export type * from './published-contract.ts';

export interface BelfryClientOptions {
  /** Where the server is, as in https://belfry.example.org; a path in front of its own is kept. */
  readonly url: string;
  /**
   * An API token (`bfy_…`): with the scope `notify` it sends, with `panel` it subscribes. An automation key (`bfk_…`)
   * searches.
   */
  readonly token: string;
  /** Sent with every request. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Default: the platform's. */
  readonly fetch?: typeof fetch;
  /** The time limit of one request; a stream has a limit of silence instead. Default: 15,000. */
  readonly timeoutMs?: number;
}

export interface BelfryClient {
  /**
   * Resolves once the notification is durable. While the server is away or busy it is sent again with the same idempotency
   * key, so that it is stored once.
   *
   * @returns its id; with a warning when it is stored, but a field was not read, its level is new or there is no room for its expectation.
   * @throws ApiError when the server refuses it, or when `retryMs` is over.
   */
  send(notification: Notification, options?: SendOptions): Promise<{ id: string; warning?: string }>;
  /**
   * The events of a panel, until `signal` aborts or the loop ends. A connection that breaks is opened again, and continues
   * after the last event that you got: no gap, no repeat.
   *
   * @throws ApiError when the token may not do this, the panel is deleted, or `cursor` is no event's id.
   */
  subscribe(options: SubscribeOptions): AsyncGenerator<PanelEvent, void, void>;
  /**
   * The notifications that a query finds, the newest first, page by page as you go on. Needs an automation key.
   *
   * @throws ApiError when the query is invalid; its message explains how to correct it.
   */
  history(query?: HistoryQuery): AsyncGenerator<HistoryNotification, void, void>;
  /**
   * The alarms that have not ended, the highest level first, page by page as you go on. Needs an automation key.
   *
   * @throws ApiError when the query is invalid; its message explains how to correct it.
   */
  alarms(query?: AlarmsQuery): AsyncGenerator<Alarm, void, void>;
  /**
   * Acknowledges, shelves or clears alarms, or takes that back. Needs an automation key with the role member.
   *
   * @returns how many were changed, and why the others were not.
   */
  actOnAlarms(actions: AlarmActions): Promise<AlarmActionsDone>;
  /** Takes a notification off every panel; false when no panel showed it any more. */
  clear(notificationId: string): Promise<boolean>;
}

export interface SendOptions {
  /** The same key with the same content is stored once. Default: a random one for each call. */
  readonly idempotencyKey?: string;
  /** How long to try again. Default: 60,000. */
  readonly retryMs?: number;
  readonly signal?: AbortSignal;
}

export interface SubscribeOptions {
  /** The panel's name; it is created when there is none. */
  readonly panel?: string;
  /** Or the id of a panel. */
  readonly panelId?: string;
  /** Resume after this event: the `id` of one that you got earlier. */
  readonly cursor?: string;
  readonly signal?: AbortSignal;
  readonly onConnection?: (connection: Connection) => void;
}

export type Connection =
  | { readonly state: 'connecting' }
  | { readonly state: 'online' }
  | {
      readonly state: 'waiting';
      readonly reason: string;
      readonly answered: boolean;
      readonly retryInMs: number;
    };

export interface HistoryQuery {
  /** In the query language: host:db-* level:>=warning since:2h. Without one, everything. */
  readonly q?: string;
  readonly signal?: AbortSignal;
}

export interface AlarmsQuery extends HistoryQuery {
  /** Default: those that are open or acknowledged. */
  readonly states?: readonly ('open' | 'acknowledged' | 'shelved' | 'suppressed')[];
}

/** One event. `id` is the cursor to resume after it. */
export type PanelEvent = {
  [Type in keyof PanelEventData]: {
    readonly type: Type;
    readonly data: PanelEventData[Type];
    readonly id?: string | undefined;
  };
}[keyof PanelEventData];

/** The error of a failed call. */
export declare class ApiError extends Error {
  /** The HTTP status; 0 without an answer, and then `cause` is the reason. */
  readonly status: number;
  /** Belfry's code, as in rate-limited; undefined when the answer is not from Belfry. */
  readonly code: string | undefined;
  /** Where in the request the problem is. */
  readonly place: {
    readonly pointer?: string;
    readonly parameter?: string;
    readonly at?: number;
    readonly length?: number;
    readonly nearest?: readonly string[];
  };
  readonly retryAfterSeconds: number | undefined;
}

export declare function createClient(options: BelfryClientOptions): BelfryClient;
