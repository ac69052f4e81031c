/** What a panel's stream tells. */
import type { NotificationEvent } from '../contract/notification.ts';
import type { ReadyEvent } from '../contract/panel.ts';
import type { SseMessage } from './sse-messages.ts';

export interface ClearEvent {
  readonly id: string;
  readonly position: number;
  readonly reason: 'cleared' | 'replaced';
  /** Who cleared it, or the id of the notification that replaced it. */
  readonly by: string;
}

/** One more that a throttle counted on the notification `id`. */
export interface ThrottledEvent {
  readonly id: string;
  readonly position: number;
  readonly count: number;
  readonly receivedAt: string;
}

export type SettingsEvent = Pick<ReadyEvent, 'panel' | 'tenant' | 'levels'>;

export interface HeartbeatEvent {
  readonly serverTime: string;
  readonly head: number;
}

/** What could not be replayed; what is shown is to be dropped, the live set follows. */
export interface RestartEvent {
  readonly reason: string;
  readonly head: number;
}

/** The server goes away for a while. */
export interface ByeEvent {
  readonly reconnectMs: number;
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
};

/** Reads a message of the stream; undefined for an event that a newer server may have added. */
export function readPanelEvent({ event, data }: SseMessage): PanelEvent | undefined {
  if (!Object.hasOwn(known, event)) return undefined;
  return { type: event, data: JSON.parse(data) } as PanelEvent;
}
