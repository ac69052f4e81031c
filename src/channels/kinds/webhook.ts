import { createHmac } from 'node:crypto';
import { type HttpKind, jsonRequest, toJson } from '../message.ts';

/** A signed request in the format of Standard Webhooks: https://www.standardwebhooks.com. */
export const webhook: HttpKind = {
  request({ settings: { url = '' }, secrets: { signingKey = '', authorization } }, notification, now) {
    const request = jsonRequest(url, {
      type: 'notification.created',
      timestamp: new Date(notification.receivedAt).toISOString(),
      data: toJson(notification),
    });
    const seconds = Math.floor(now / 1000);
    return {
      ...request,
      headers: {
        ...request.headers,
        'webhook-id': notification.id,
        'webhook-timestamp': String(seconds),
        'webhook-signature': sign(signingKey, `${notification.id}.${seconds}.${request.body ?? ''}`),
        ...(authorization !== undefined && { authorization }),
      },
    };
  },
};

/** @throws Error without a key, because anybody could sign with an empty one. */
function sign(signingKey: string, content: string): string {
  if (signingKey === '') throw new Error('the channel has no signing key: enter one');
  const key = Buffer.from(signingKey.replace(/^whsec_/, ''), 'base64');
  return `v1,${createHmac('sha256', key).update(content).digest('base64')}`;
}
