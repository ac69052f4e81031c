/**
 * What other systems send about what people did there: webhooks of PagerDuty, and presses of buttons in Slack and Telegram. Each is
 * verified with the secret of its channel before anything in it is read.
 */
import { createHash, createHmac, timingSafeEqual } from 'node:crypto';
import type { ChannelKind } from '#contract/channels/channel-fields.ts';
import type { Answered, ChannelAnswer, SentToChannel, SystemAnswer } from '#core/channels/answers.ts';
import { personIn } from '#core/channels/person-names.ts';
import { clip } from '#core/routing/message-text.ts';
import type { OutboundRequest } from '#outbound/outbound.ts';
import { readData } from '../buttons.ts';
import { escaped } from '../kinds/slack.ts';
import { jsonRequest } from '../message.ts';

type Secrets = Readonly<Record<string, string>>;
interface Sent extends SentToChannel {
  readonly now: number;
  readonly settings: Readonly<Record<string, string>>;
}
type Read = (sent: Sent, secret: string) => SystemAnswer | undefined;

/** undefined: it is not signed with the channel's secret, or too old, or the channel takes no answers. */
export function readSystemAnswer(kind: ChannelKind, secrets: Secrets, sent: Sent): SystemAnswer | undefined {
  if (kind === 'pagerduty' && secrets.webhookSecret) return readPagerduty(sent, secrets.webhookSecret);
  if (kind === 'slack' && secrets.signingSecret) return readSlack(sent, secrets.signingSecret);
  if (kind === 'telegram' && secrets.webhookSecret) return readTelegram(sent, secrets.webhookSecret);
  return undefined;
}

/** Secrets are rotated one by one; hundreds of signatures are an attack. */
const mostSignatures = 10;
const toleranceMs = 5 * 60_000;

const hmacHex = (secret: string, ...parts: (string | Buffer)[]) => {
  const hmac = createHmac('sha256', secret);
  for (const part of parts) hmac.update(part);
  return hmac.digest('hex');
};
/** In a time that does not depend on how much of it is right. */
const equal = (a: string, b: string) => timingSafeEqual(digestOf(a), digestOf(b));
const digestOf = (text: string) => createHash('sha256').update(text).digest();

const kindsOfPagerduty: ReadonlyMap<string, ChannelAnswer['kind']> = new Map([
  ['incident.acknowledged', 'acknowledge'],
  ['incident.unacknowledged', 'unacknowledge'],
  ['incident.resolved', 'clear'],
]);

/**
 * V3 webhooks: https://developer.pagerduty.com/docs/webhooks-overview. What an integration did is what Belfry, or another sender to that
 * service, has done: it is nobody's answer. Of what PagerDuty does by itself, only the end of an acknowledgement counts.
 */
const readPagerduty: Read = ({ headers, body }, secret) => {
  const expected = `v1=${hmacHex(secret, body)}`;
  const given = String(headers['x-pagerduty-signature'] ?? '').split(',', mostSignatures);
  if (!given.some((each) => equal(each.trim(), expected))) return undefined;
  const event = fieldOf(parsed(body.toString('utf8')), 'event');
  const kind = kindsOfPagerduty.get(textOf(event, 'event_type'));
  const agent = fieldOf(event, 'agent');
  const incident = fieldOf(event, 'data');
  const alarm = textOf(incident, 'incident_key');
  const isOwn = !fieldOf(agent, 'type') && kind !== 'unacknowledge';
  if (!kind || alarm === '' || isOwn || textOf(agent, 'type').includes('integration')) return {};
  const at = Date.parse(textOf(event, 'occurred_at'));
  const by = personIn('PagerDuty', fieldOf(agent, 'summary'));
  const stoodMs = at - Date.parse(textOf(incident, 'created_at')) || undefined;
  return { answer: { kind, alarm, by, note: null, ...(!Number.isNaN(at) && { at, stoodMs }) } };
};

/** https://docs.slack.dev/authentication/verifying-requests-from-slack */
const readSlack: Read = ({ headers, body, now }, secret) => {
  const time = String(headers['x-slack-request-timestamp'] ?? '');
  if (!/^\d{1,12}$/.test(time) || Math.abs(Number(time) * 1_000 - now) > toleranceMs) return undefined;
  const expected = `v0=${hmacHex(secret, `v0:${time}:`, body)}`;
  if (!equal(String(headers['x-slack-signature'] ?? ''), expected)) return undefined;
  const payload = parsed(new URLSearchParams(body.toString('utf8')).get('payload') ?? '');
  if (textOf(payload, 'type') !== 'block_actions') return {};
  const [action] = listOf(payload, 'actions');
  const user = fieldOf(payload, 'user');
  const at = Number(textOf(action, 'action_ts')) * 1_000;
  return pressed({
    ...{ system: 'Slack', name: fieldOf(user, 'name') ?? fieldOf(user, 'username') },
    ...{ data: fieldOf(action, 'value'), message: textOf(payload, 'response_url') },
    ...(at > 0 && { at: Math.round(at) }),
  });
};

const readTelegram: Read = ({ headers, body, settings }, secret) =>
  equal(String(headers['x-telegram-bot-api-secret-token'] ?? ''), secret)
    ? readTelegramUpdate(parsed(body.toString('utf8')), settings)
    : undefined;

/** https://core.telegram.org/bots/api#callbackquery A button counts only in the chat of its channel. */
export function readTelegramUpdate(update: unknown, settings: Sent['settings']): SystemAnswer {
  const query = fieldOf(update, 'callback_query');
  if (query === undefined) return {};
  const from = fieldOf(query, 'from');
  const message = fieldOf(query, 'message');
  const chat = fieldOf(message, 'chat');
  const names = [textOf(from, 'first_name'), textOf(from, 'last_name')].filter((part) => part !== '');
  const read = pressed({
    ...{ system: 'Telegram', name: names.join(' ') || textOf(from, 'username') },
    ...{ data: fieldOf(query, 'data'), message: numberOf(message, 'message_id') },
  });
  // Telegram takes its names in upper and lower case alike.
  const isHere = [numberOf(chat, 'id'), `@${textOf(chat, 'username').toLowerCase()}`].includes(
    (settings.chat ?? '').toLowerCase(),
  );
  return { ...read, answer: isHere ? read.answer : undefined, press: textOf(query, 'id') };
}

function pressed({
  system,
  name,
  data,
  message,
  at,
}: {
  readonly system: string;
  readonly name: unknown;
  readonly data: unknown;
  readonly message: string;
  readonly at?: number;
}): SystemAnswer {
  const read = readData(data);
  if (!read) return {};
  const { button: kind, channel, notification: alarm } = read;
  const by = personIn(system, name);
  return { channel, message, answer: { kind, alarm, by, note: null, ...(at !== undefined && { at }) } };
}

/** What a system sends is JSON of any form. */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

export const fieldOf = (value: unknown, name: string): unknown =>
  typeof value === 'object' && value !== null && Object.hasOwn(value, name)
    ? (value as Record<string, unknown>)[name]
    : undefined;
const textOf = (value: unknown, name: string): string => {
  const text = fieldOf(value, name);
  return typeof text === 'string' ? text : '';
};
/** In digits; empty for everything else. */
const numberOf = (value: unknown, name: string): string => {
  const number = fieldOf(value, name);
  return typeof number === 'number' ? String(number) : '';
};
const listOf = (value: unknown, name: string): readonly unknown[] => {
  const list = fieldOf(value, name);
  return Array.isArray(list) ? list : [];
};

/** What the system calls the message that is to say what was done; undefined: no such message of this channel. */
export function messageIn(
  kind: ChannelKind,
  { message = '' }: SystemAnswer,
  { url = '' }: Secrets,
): string | undefined {
  if (kind === 'telegram') return /^\d{1,15}$/.test(message) ? message : undefined;
  // Its address comes with the press: it must be where the channel sends anyway.
  const origin = URL.parse(message)?.origin;
  return kind === 'slack' && origin !== undefined && origin === URL.parse(url)?.origin ? message : undefined;
}

/** As much as Telegram shows of the answer to a press. */
const outcomeChars = 200;

/** What the person who pressed reads. */
export function outcomeText(outcome: Answered): string {
  if (outcome === 'done') return 'Done.';
  if (outcome === 'not-found') return 'This button no longer works.';
  return clip(`Nothing was changed: ${outcome.why}.`, outcomeChars);
}

/** A message that only this person sees; undefined if the answer to the press says it. */
export const outcomeRequest = (
  kind: ChannelKind,
  address: string,
  outcome: Answered,
): OutboundRequest | undefined =>
  kind === 'slack'
    ? jsonRequest(address, {
        ...{ response_type: 'ephemeral', replace_original: false, text: escaped(outcomeText(outcome)) },
      })
    : undefined;

/** What the system gets back, at once. https://core.telegram.org/bots/api#making-requests-when-getting-updates */
export const replyTo = ({ press }: SystemAnswer, outcome: Answered): object =>
  press === undefined || press === ''
    ? {}
    : { method: 'answerCallbackQuery', callback_query_id: press, text: outcomeText(outcome) };
