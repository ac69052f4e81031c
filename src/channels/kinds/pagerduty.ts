import { clip, type HttpKind, jsonRequest, runbookLinkOf, severityOf, toJson, urlWith } from '../message.ts';

/**
 * Events API v2. Notifications with the same key form one incident; a notification with the level success or below resolves it.
 * https://developer.pagerduty.com/docs/send-alert-event
 */
export const pagerduty: HttpKind = {
  request(
    { settings: { url = 'https://events.pagerduty.com' }, secrets: { routingKey = '' } },
    notification,
  ) {
    const { id, key, title, host, ip, tenant, receivedAt } = notification;
    const severity = severityOf(notification);
    const isOver = severity === 'success';
    const links = [
      { href: notification.url ?? undefined, text: 'Open' },
      { href: runbookLinkOf(notification), text: 'Runbook' },
    ].filter(({ href }) => href !== undefined);
    return jsonRequest(urlWith(url, '/v2/enqueue'), {
      routing_key: routingKey,
      event_action: isOver && key !== null ? 'resolve' : 'trigger',
      dedup_key: key ?? id,
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
};
