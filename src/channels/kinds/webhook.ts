import { createHmac } from 'node:crypto';
import { type ChannelSetup, type HttpKind, jsonRequest, toJson, updateJson } from '../message.ts';

/**
 * A signed request in the format of Standard Webhooks: https://www.standardwebhooks.com. What happens to an alarm is an event of its own
 * type and id; receivers ignore the types that they do not know.
 */
export const webhook: HttpKind = {
  request(setup, notification, now) {
    const { id, receivedAt: at } = notification;
    return signed(setup, { id, type: 'notification.created', at, data: toJson(notification) }, now);
  },

  update(setup, notification, update, now) {
    const { id, event, at } = update;
    const data = { ...updateJson(update), notification: toJson(notification) };
    return signed(setup, { id, type: `alarm.${event}`, at, data }, now);
  },
};

interface Message {
  readonly id: string;
  readonly type: string;
  readonly at: number;
  readonly data: object;
}

function signed(
  { settings: { url = '' }, secrets: { signingKey = '', authorization } }: ChannelSetup,
  { id, type, at, data }: Message,
  now: number,
) {
  const request = jsonRequest(url, { type, timestamp: new Date(at).toISOString(), data });
  const seconds = Math.floor(now / 1000);
  return {
    ...request,
    headers: {
      ...request.headers,
      'webhook-id': id,
      'webhook-timestamp': String(seconds),
      'webhook-signature': sign(signingKey, `${id}.${seconds}.${request.body ?? ''}`),
      ...(authorization !== undefined && { authorization }),
    },
  };
}

/** @throws Error without a key, because anybody could sign with an empty one. */
function sign(signingKey: string, content: string): string {
  if (signingKey === '') throw new Error('the channel has no signing key: enter one');
  const key = Buffer.from(signingKey.replace(/^whsec_/, ''), 'base64');
  return `v1,${createHmac('sha256', key).update(content).digest('base64')}`;
}
