/** The contract types that `belfry/client` exports. scripts/client-types.ts writes them out for the package. */
import type { Static } from 'typebox';
import type {
  AlarmActionsDone as AlarmActionsDoneSchema,
  AlarmActions as AlarmActionsSchema,
  Alarm as AlarmSchema,
} from '#contract/history/alarm.ts';
import type {
  HistoryNotification as HistoryNotificationSchema,
  NotifyBody,
} from '#contract/history/notification.ts';
import type { PanelEvent } from './panel-events.ts';

/** A notification to send. */
export type Notification = Static<typeof NotifyBody>;

/** A notification as history has it. */
export type HistoryNotification = Static<typeof HistoryNotificationSchema>;

/** What the notifications of one key share while it stands. */
export type Alarm = Static<typeof AlarmSchema>;

/** What to do with which alarms: `ids` of their notifications, or all that match `q`. */
export type AlarmActions = Static<typeof AlarmActionsSchema>;

/** How many alarms were changed, and why the others were not. */
export type AlarmActionsDone = Static<typeof AlarmActionsDoneSchema>;

/** The data of each event of a panel. */
export type PanelEventData = {
  [Type in PanelEvent['type']]: Extract<PanelEvent, { type: Type }>['data'];
};
