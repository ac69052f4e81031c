import type { Card } from '#client/board.ts';
import { noTexts } from '#contract/history/fields.ts';
import type { NotificationEvent } from '#contract/history/notification.ts';

/** A card for tests, with defaults for omitted fields. */
export function cardOf(over: Partial<NotificationEvent> = {}, count = 0): Card {
  const notification: NotificationEvent = {
    ...noTexts,
    id: 'n',
    position: 1,
    title: 'Title',
    message: 'Message',
    level: 'info',
    rank: 20,
    ttl: 0,
    labels: {},
    sourceIp: '127.0.0.1',
    receivedAt: '2026-11-20T10:00:00.000Z',
    expiresAt: null,
    remainingMs: null,
    count,
    acknowledged: null,
    escalated: null,
    ...over,
  };
  const { receivedAt, expiresAt, escalated } = notification;
  return {
    notification,
    receivedAt: Date.parse(receivedAt),
    since: Date.parse(escalated?.since ?? receivedAt),
    endsAt: expiresAt === null ? null : Date.parse(expiresAt),
    count,
  };
}
