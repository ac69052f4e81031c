/** The events of a panel's stream. */
import type { NotificationEvent } from '#contract/history/notification.ts';
import type {
  AcknowledgeEvent,
  ByeEvent,
  ClearEvent,
  HeartbeatEvent,
  IdentifyEvent,
  ReadyEvent,
  ReloadEvent,
  RestartEvent,
  SettingsEvent,
  ShelveEvent,
  SuppressEvent,
  SuppressesEvent,
  TestEvent,
  ThrottledEvent,
  UnacknowledgeEvent,
  UnshelveEvent,
  UnsuppressEvent,
} from '#contract/panels/panel.ts';
import type { Call } from './call.ts';
import { type EventStreamOptions, eventStream } from './event-stream.ts';

interface DataOf {
  readonly ready: ReadyEvent;
  readonly notification: NotificationEvent;
  readonly clear: ClearEvent;
  readonly acknowledge: AcknowledgeEvent;
  readonly unacknowledge: UnacknowledgeEvent;
  readonly shelve: ShelveEvent;
  readonly unshelve: UnshelveEvent;
  readonly suppress: SuppressEvent;
  readonly unsuppress: UnsuppressEvent;
  readonly suppresses: SuppressesEvent;
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

/** One event of a panel's stream. */
export type PanelEvent = {
  [K in keyof DataOf]: { readonly type: K; readonly data: DataOf[K]; readonly id?: string | undefined };
}[keyof DataOf];

const known: Readonly<Record<keyof DataOf, true>> = {
  ready: true,
  notification: true,
  clear: true,
  acknowledge: true,
  unacknowledge: true,
  shelve: true,
  unshelve: true,
  suppress: true,
  unsuppress: true,
  suppresses: true,
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

const knownTypes = new Set(Object.keys(known));

export interface PanelEventsOptions extends Omit<EventStreamOptions, 'wait'> {
  /** What this screen is, as in panel/0.9.0; shown with the panel. */
  readonly screen?: string;
}

/**
 * The events of a panel, as {@link eventStream}, without types that this client does not know.
 *
 * @throws ApiError with status 401, 403 or 404 of Belfry's own: the token, its scope or the panel is gone.
 */
export async function* panelEvents(
  call: Call,
  panelId: string,
  { screen, ...options }: PanelEventsOptions = {},
): AsyncGenerator<PanelEvent, void, void> {
  const open = (lastEventId: string | undefined, signal: AbortSignal) =>
    call('GET', `/api/panels/${encodeURIComponent(panelId)}/events`, {
      signal,
      headers: {
        accept: 'text/event-stream',
        ...(lastEventId !== undefined && { 'last-event-id': lastEventId }),
        ...(screen !== undefined && { 'belfry-client': screen }),
      },
    });
  for await (const event of eventStream(open, [401, 403, 404], options))
    if (knownTypes.has(event.type)) yield event as PanelEvent;
}
