import { type Static, Type } from 'typebox';
import { HistoryNotification } from './notification.ts';
import { PanelReceipt } from './panel.ts';
import { RuleTrace } from './routing.ts';

/** One notification with why it is (or is not) on which panels, and what became of it there. */
export const NotificationDetail = Type.Object(
  { ...HistoryNotification.properties, trace: Type.Array(RuleTrace), deliveries: Type.Array(PanelReceipt) },
  { title: 'NotificationDetail', additionalProperties: false },
);
export type NotificationDetail = Static<typeof NotificationDetail>;
