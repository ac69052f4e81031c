/** The contract types that `belfry/client` exports. scripts/client-types.ts writes them out for the package. */
import type { Static } from 'typebox';
import type {
  HistoryNotification as HistoryNotificationSchema,
  NotifyBody,
} from '#contract/history/notification.ts';
import type { PanelEvent } from './panel-events.ts';

/** A notification to send. */
export type Notification = Static<typeof NotifyBody>;

/** A notification as history has it. */
export type HistoryNotification = Static<typeof HistoryNotificationSchema>;

/** The data of each event of a panel. */
export type PanelEventData = {
  [Type in PanelEvent['type']]: Extract<PanelEvent, { type: Type }>['data'];
};
