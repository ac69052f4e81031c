import { Board, type BoardChange, boardEvents, type Card } from '#client/board.ts';
import { ApiError } from '#client/call.ts';
import type { ScreenClient } from '#client/client.ts';
import type { Connection } from '#client/event-stream.ts';
import type { PanelEvent } from '#client/panel-events.ts';
import { ReceiptOutbox } from '#client/receipt-outbox.ts';
import { type ElapsedClock, pause } from '#client/timing.ts';
import type { PanelCommand } from '#contract/panels/panel.ts';

/** Why a screen has to be paired again. */
export type EndReason = 'revoked' | 'refused' | 'deleted';

/** A command from the dashboard; it changes nothing of what the panel shows. */
export type CommandEvent = Extract<PanelEvent, { readonly type: PanelCommand }>;

export interface SessionOptions {
  readonly client: ScreenClient;
  readonly panelId: string;
  /** What this screen is, as in panel/0.9.0. */
  readonly screen: string;
  /** The board or the connection has changed; `changes` lists the cards concerned. */
  readonly onChange: (changes: readonly BoardChange[]) => void;
  /** Somebody sent a command to this screen. */
  readonly onCommand: (command: CommandEvent) => void;
  /** The server is back after it was away. */
  readonly onReturn: () => void;
  /** Measures when cards expire and how long the server is silent. */
  readonly clock: ElapsedClock;
}

/** How many ids of shown notifications are remembered, so that a stream reset does not play their sounds again. */
const maxKnown = 5_000;
/** The pause after an error that does not come from Belfry but, for example, from a proxy while Belfry is down. */
const proxyErrorPauseMs = 10_000;
const usualHeartbeatMs = 15_000;
/** Short, because somebody is waiting at the screen. */
const unpairMs = 5_000;

/** One panel on this screen: its board, its connection to the server, and its receipts. */
export class Session {
  readonly board = new Board();
  readonly #options: SessionOptions;
  readonly #outbox: ReceiptOutbox;
  readonly #known = new Set<string>();
  readonly #receipted = new Set<string>();
  #status: StreamStatus = {
    connection: { state: 'connecting' },
    lastContactAt: undefined,
    lostAt: undefined,
    heartbeatMs: usualHeartbeatMs,
  };

  constructor(options: SessionOptions) {
    this.#options = options;
    this.#outbox = new ReceiptOutbox({
      post: (receipts) => options.client.receipts(options.panelId, receipts),
    });
  }

  get connection(): Connection {
    return this.#status.connection;
  }

  get contact(): Contact {
    return contactOf(this.#status, this.#options.clock.now());
  }

  get lastContactAt(): number | undefined {
    return this.#status.lastContactAt;
  }

  /** Whether anything was ever shown. */
  get wasBusy(): boolean {
    return this.#known.size > 0;
  }

  /** Whether the notification was on this screen before the present change. */
  isKnown(id: string): boolean {
    return this.#known.has(id);
  }

  /** Shows the panel until `signal` aborts, or until the token or the panel is gone; then returns the reason. */
  async run(signal: AbortSignal): Promise<EndReason | undefined> {
    try {
      return await this.#followUntil(signal);
    } finally {
      void this.#outbox.close();
    }
  }

  /** Revokes the token of this screen; false when the server refused or did not respond in time. */
  async unpair(): Promise<boolean> {
    const { client, panelId } = this.#options;
    try {
      await client.unpair(panelId, { timeoutMs: unpairMs });
      return true;
    } catch (error) {
      const reason = endReason(error);
      return reason === 'revoked' || reason === 'deleted';
    }
  }

  async #followUntil(signal: AbortSignal): Promise<EndReason | undefined> {
    while (!signal.aborted) {
      try {
        await this.#follow(signal);
      } catch (error) {
        const reason = endReason(error);
        if (reason) return reason;
        this.#connect({
          state: 'waiting',
          reason: reasonOf(error),
          answered: true,
          retryInMs: proxyErrorPauseMs,
        });
        await pause(proxyErrorPauseMs, signal);
      }
    }
    return undefined;
  }

  /** Acknowledges each, one after the other; how many failed, and the last reason. Ends when the server does not answer. */
  async acknowledge(cards: readonly Card[]): Promise<{ readonly failed: number; readonly reason: string }> {
    let done = 0;
    let reason = '';
    for (const { notification } of cards) {
      try {
        await this.#options.client.acknowledge(notification.id);
        done += 1;
      } catch (error) {
        reason = reasonOf(error);
        if (error instanceof ApiError && error.status === 0) break;
      }
    }
    return { failed: cards.length - done, reason };
  }

  /** Removes expired cards. */
  expire(): void {
    this.#applied(this.board.expire(this.#options.clock.now()));
  }

  /** Sends a `shown` receipt for each card of the items that are visible now, once per notification. */
  shown(items: readonly { readonly cards: readonly Card[] }[]): void {
    for (const { cards } of items)
      for (const { notification } of cards) {
        if (this.#receipted.has(notification.id)) continue;
        remember(this.#receipted, notification.id);
        this.#receipt(notification.id, 'shown', cards.length > 1);
      }
  }

  async #follow(signal: AbortSignal): Promise<void> {
    const { client, panelId, screen, clock, onCommand } = this.#options;
    const { board } = this;
    const onConnection = (connection: Connection) => this.#connect(connection);
    const options = { client, panelId, board, clock, signal, onConnection, screen };
    for await (const { event, changes } of boardEvents(options)) {
      this.#received(event);
      if (isCommand(event)) onCommand(event);
      else this.#applied(changes, event.type !== 'heartbeat');
    }
  }

  #received(event: PanelEvent): void {
    if (event.type === 'ready' && this.#status.lastContactAt !== undefined) this.#options.onReturn();
    const heartbeatMs = event.type === 'ready' ? event.data.heartbeatMs : this.#status.heartbeatMs;
    this.#status = { ...this.#status, heartbeatMs, lastContactAt: this.#options.clock.now() };
  }

  #connect(connection: Connection): void {
    const lostAt =
      connection.state === 'online' ? undefined : (this.#status.lostAt ?? this.#options.clock.now());
    this.#status = { ...this.#status, connection, lostAt };
    this.#options.onChange([]);
  }

  #applied(changes: readonly BoardChange[], always = false): void {
    if (changes.length === 0 && !always) return;
    for (const { kind, card } of changes) {
      const { id } = card.notification;
      if (kind === 'expired') this.#receipt(id, 'expired');
      if (kind === 'cleared' || kind === 'replaced') this.#receipt(id, 'cleared');
    }
    this.#options.onChange(changes);
    for (const { kind, card } of changes) if (kind === 'added') remember(this.#known, card.notification.id);
  }

  #receipt(id: string, state: 'shown' | 'expired' | 'cleared', inGroup = false): void {
    const at = Math.round(this.board.serverTime(this.#options.clock.now()));
    this.#outbox.add({ id, state, at, ...(inGroup && { inGroup }) });
  }
}

/** What an error says to people. */
export const reasonOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

const isCommand = (event: PanelEvent): event is CommandEvent =>
  event.type === 'identify' || event.type === 'reload' || event.type === 'test';

/** undefined for temporary errors, and while the tenant is suspended; an error without a code comes from a proxy in front of Belfry. */
function endReason(error: unknown): EndReason | undefined {
  if (!(error instanceof ApiError) || error.code === undefined || error.code === 'tenant.suspended')
    return undefined;
  if (error.status === 401) return 'revoked';
  if (error.status === 403) return 'refused';
  return error.status === 404 ? 'deleted' : undefined;
}

function remember(known: Set<string>, id: string): void {
  known.add(id);
  if (known.size <= maxKnown) return;
  const oldest = known.values().next().value;
  if (oldest !== undefined) known.delete(oldest);
}

/** Whether the cards on the screen are up to date. */
export interface Contact {
  /**
   * `never`: no stream was ready yet; `lost`: there is no connection, or a heartbeat is late; `stale`: what is shown may be out of
   * date.
   */
  readonly state: 'never' | 'fresh' | 'lost' | 'stale';
  /** Since the server last sent something. */
  readonly silentMs: number;
}

/** A connection that is back sooner was not lost. */
const closedMs = 3_000;
/** How late a heartbeat may be. */
const lateMs = 5_000;
/** One heartbeat may be late and another lost before the cards count as out of date. */
const silentHeartbeats = 2.5;

interface StreamStatus {
  readonly connection: Connection;
  readonly lastContactAt: number | undefined;
  /** Since when there is no connection; undefined while there is one. */
  readonly lostAt: number | undefined;
  readonly heartbeatMs: number;
}

export function contactOf({ lastContactAt, lostAt, heartbeatMs }: StreamStatus, now: number): Contact {
  if (lastContactAt === undefined) return { state: 'never', silentMs: 0 };
  const silentMs = Math.max(0, now - lastContactAt);
  if (silentMs >= heartbeatMs * silentHeartbeats) return { state: 'stale', silentMs };
  const isLost = (lostAt !== undefined && now - lostAt >= closedMs) || silentMs >= heartbeatMs + lateMs;
  return { state: isLost ? 'lost' : 'fresh', silentMs };
}
