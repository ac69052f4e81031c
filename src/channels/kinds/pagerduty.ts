import { clip } from '#core/routing/message-text.ts';
import {
  type ChannelSetup,
  type HttpKind,
  jsonRequest,
  linksOf,
  severityOf,
  toJson,
  urlWith,
} from '../message.ts';

/**
 * Events API v2. Notifications of one alarm form one incident; a notification with a key and the level success or below resolves it.
 * Nothing takes an acknowledgement back. An alarm on the shelf counts as acknowledged, so that it does not escalate there.
 * https://developer.pagerduty.com/docs/send-alert-event
 */
export const pagerduty: HttpKind = {
  request(setup, notification) {
    const { key, alarm, title, host, ip, tenant, receivedAt } = notification;
    const severity = severityOf(notification);
    const isOver = severity === 'success';
    const links = [{ href: notification.url ?? undefined, text: 'Open' }, ...linksOf(notification)].filter(
      ({ href }) => href !== undefined,
    );
    return enqueue(setup, {
      event_action: isOver && key !== null ? 'resolve' : 'trigger',
      dedup_key: alarm,
      payload: {
        summary: clip(title, 1_024),
        source: host ?? ip ?? tenant,
        severity: isOver ? 'info' : severity,
        timestamp: new Date(receivedAt).toISOString(),
        custom_details: toJson(notification),
      },
      ...{ client: 'Belfry', ...(links.length > 0 && { links }) },
    });
  },

  update: (setup, { alarm }, { event }) =>
    enqueue(setup, { event_action: event === 'ended' ? 'resolve' : 'acknowledge', dedup_key: alarm }),
};

const enqueue = (
  { settings: { url = 'https://events.pagerduty.com' }, secrets: { routingKey = '' } }: ChannelSetup,
  event: object,
) => jsonRequest(urlWith(url, '/v2/enqueue'), { routing_key: routingKey, ...event });
