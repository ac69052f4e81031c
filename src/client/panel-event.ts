/** What a panel's stream tells. */
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
import type { SseMessage } from './sse-messages.ts';

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
