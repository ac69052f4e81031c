/** Requests as PagerDuty, Slack and Telegram send them about what people do there. */
import { createHmac } from 'node:crypto';

export interface SignedRequest {
  readonly headers: Record<string, string>;
  readonly body: string;
}

const hmac = (secret: string, text: string) => createHmac('sha256', secret).update(text).digest('hex');

/** https://developer.pagerduty.com/docs/webhooks-overview */
export function pagerdutyWebhook(
  secret: string,
  type: string,
  {
    key,
    person = 'Ann Example',
    agent = 'user_reference',
    at = Date.now(),
  }: {
    readonly key: string;
    readonly person?: string;
    /** Its type; null: PagerDuty itself. */
    readonly agent?: string | null;
    readonly at?: number;
  },
): SignedRequest {
  const body = JSON.stringify({
    event: {
      ...{ id: 'E1', event_type: type, resource_type: 'incident', occurred_at: new Date(at).toISOString() },
      agent: agent === null ? null : { id: 'P1', summary: person, type: agent },
      ...{ client: null, data: { id: 'I1', type: 'incident', incident_key: key, status: 'acknowledged' } },
    },
  });
  // While a secret is rotated, there are several.
  const signature = `v1=${'0'.repeat(64)},v1=${hmac(secret, body)}`;
  return { headers: { 'content-type': 'application/json', 'x-pagerduty-signature': signature }, body };
}

/** https://docs.slack.dev/reference/interaction-payloads/block_actions-payload */
export function slackPress(
  secret: string,
  button: { readonly action_id: string; readonly value: string },
  {
    url,
    person = 'ann.example',
    at = Date.now(),
  }: {
    readonly url: string;
    readonly person?: string;
    readonly at?: number;
  },
): SignedRequest {
  const payload = {
    ...{ type: 'block_actions', user: { id: 'U1', username: person, name: person }, team: { id: 'T1' } },
    actions: [{ ...button, type: 'button', block_id: 'b', action_ts: (at / 1_000).toFixed(6) }],
    response_url: url,
  };
  const body = new URLSearchParams({ payload: JSON.stringify(payload) }).toString();
  const time = String(Math.floor(at / 1_000));
  return {
    headers: {
      'content-type': 'application/x-www-form-urlencoded',
      'x-slack-request-timestamp': time,
      'x-slack-signature': `v0=${hmac(secret, `v0:${time}:${body}`)}`,
    },
    body,
  };
}

/** https://core.telegram.org/bots/api#callbackquery */
export function telegramPress(
  secret: string,
  data: string,
  {
    chat,
    message = 17,
    person = 'Ann',
  }: {
    readonly chat: number;
    readonly message?: number;
    readonly person?: string;
  },
): SignedRequest {
  const callback_query = {
    ...{ id: 'q1', from: { id: 7, is_bot: false, first_name: person, last_name: 'Example' } },
    ...{ message: { message_id: message, chat: { id: chat, type: 'supergroup' } }, data },
  };
  return {
    headers: { 'content-type': 'application/json', 'x-telegram-bot-api-secret-token': secret },
    body: JSON.stringify({ update_id: 1, callback_query }),
  };
}
