/** A notification as channels send it, and what the kinds of channels share. */
import type { AlarmEvent } from '#contract/channels/channel-fields.ts';
import type { OptionalTexts } from '#contract/history/fields.ts';
import { labelsOf, runbookLabel, runbookLinkOf, shownLabels } from '#contract/history/labels.ts';
import { builtInLevels, builtInStyles } from '#contract/routing/level-styles.ts';
import { returnReason } from '#core/alarms/reasons.ts';
import { belfryAsActor } from '#core/log/log.ts';
import { clip, clipBytes } from '#core/routing/message-text.ts';
import { wallText } from '#core/time/time.ts';
import type { OutboundRequest, OutboundResponse } from '#outbound/outbound.ts';

export interface OutgoingNotification extends OptionalTexts {
  /** The same for every attempt, so that receivers can detect a repeat. */
  readonly id: string;
  /** The tenant's name. */
  readonly tenant: string;
  readonly receivedAt: number;
  readonly title: string;
  readonly message: string;
  readonly level: string;
  readonly rank: number;
  /** How long panels show it; 0: until it is cleared. */
  readonly ttl: number;
  /** What to do, as its rules say now; null: they say nothing. */
  readonly instructions: string | null;
  /** The same for all notifications of its alarm: the key, or without one the id of the first notification. */
  readonly alarm: string;
  readonly state: AlarmState;
  /** Its page in the dashboard; undefined: the public address of the server is not known, or it is a test. */
  readonly page?: string | undefined;
}

/** What is known of the alarm when the message is sent. */
export type AlarmState = 'open' | 'acknowledged' | 'shelved' | 'ended';

/** What happened to the alarm of a notification that the channel had. */
export interface OutgoingUpdate {
  /** The same for every attempt, and another one for each event. Without `.`, which separates it from what else a webhook signs. */
  readonly id: string;
  readonly event: AlarmEvent;
  readonly at: number;
  /** The name of a person, token or key; null: Belfry itself, as when its time was over. */
  readonly by: string | null;
  readonly note: string | null;
  /** When the acknowledgement or the shelf ends by itself; null: it does not. */
  readonly until: number | null;
  /** The time zone of the tenant, in which people read times. */
  readonly timeZone: string;
  /** What the receiver calls the message of the notification. */
  readonly reference: string | null;
}

/** The time limit of one attempt, for every kind; a lease lasts longer. */
export const attemptMs = 15_000;

type Texts = Readonly<Record<string, string>>;

/** The settings and secrets of a channel. */
export interface ChannelSetup {
  readonly settings: Texts;
  readonly secrets: Texts;
  /** The id of the channel, for buttons; absent: of a test, which has none. */
  readonly id?: string | undefined;
}

export interface SendResult {
  /** `failed`: another attempt would fail too. */
  readonly outcome: 'delivered' | 'retry' | 'failed';
  /** One sentence, without a secret. */
  readonly answer: string;
  /** The pause that the receiver requires. */
  readonly retryAfterMs?: number;
  /** What the receiver calls the message, where {@link HttpKind.update} needs it. */
  readonly reference?: string | undefined;
  /** With `failed`: there is no recipient, so no further attempt is made, even while the channel fails. */
  readonly isFinal?: boolean;
}

/** A kind of channel that is one HTTP request. */
export interface HttpKind {
  request(setup: ChannelSetup, notification: OutgoingNotification, now: number): OutboundRequest;
  /** undefined: it cannot be sent, because the receiver's name of the message is not known. */
  update(
    setup: ChannelSetup,
    notification: OutgoingNotification,
    update: OutgoingUpdate,
    now: number,
  ): OutboundRequest | undefined;
  /** Why a notification is not sent, as the answer of its delivery: the receiver has the alarm already. undefined: it is sent. */
  readonly needlessFor?: (notification: OutgoingNotification) => string | undefined;
  /** What the receiver calls the message, from its answer to `request`. */
  readonly referenceOf?: (response: OutboundResponse) => string | undefined;
  /** The pause that the receiver names in its body instead of in `Retry-After`. */
  readonly retryAfterMs?: (response: OutboundResponse) => number | undefined;
  /** Set where an answer means something else than for the other kinds. */
  readonly outcomeOf?: (
    response: OutboundResponse,
  ) => (Pick<SendResult, 'outcome' | 'isFinal'> & { readonly answer?: string }) | undefined;
}

/** A custom level counts as the built-in one at or below its rank. */
export function severityOf({ rank }: OutgoingNotification): keyof typeof builtInStyles {
  return builtInLevels.findLast((level) => rank >= builtInStyles[level].rank) ?? 'success';
}

export const colorOf = (notification: OutgoingNotification): string =>
  builtInStyles[severityOf(notification)].color;

/** The notification as JSON, as the webhook and MQTT carry it. */
export function toJson({
  receivedAt,
  ttl: _,
  alarm: __,
  state: ___,
  page: ____,
  ...notification
}: OutgoingNotification) {
  const labels = labelsOf(notification.labels);
  return { ...notification, labels, receivedAt: new Date(receivedAt).toISOString() };
}

/** What happened as JSON, as the webhook and MQTT carry it. */
export const updateJson = ({ at, by, note, until }: OutgoingUpdate) => ({
  ...{ at: new Date(at).toISOString(), by, note },
  until: until === null ? null : new Date(until).toISOString(),
});

/** What happened, in one sentence, as in "Acknowledged by Ann until 2026-11-29 18:00 Europe/Berlin: on my way". */
export function updateText({ event, by, note, until, timeZone }: OutgoingUpdate): string {
  const who = by === null ? '' : ` by ${by}`;
  const end = until === null ? '' : ` until ${wallText(until, timeZone)} ${timeZone}`;
  const texts: Readonly<Record<AlarmEvent, string>> = {
    acknowledged: `Acknowledged${who}${end}`,
    unacknowledged: returnReason({ from: 'acknowledged', by: by ?? belfryAsActor }),
    shelved: `Shelved${who}${end}`,
    unshelved: returnReason({ from: 'shelved', by: by ?? belfryAsActor }),
    ended: `Cleared${who}`,
  };
  return note === null ? texts[event] : `${texts[event]}: ${note}`;
}

/** Level, host and key in one line, as in "error · db-1 · disk". */
export function originOf({ level, host, ip, key }: OutgoingNotification): string {
  return [level, host ?? ip, key].filter((part) => part !== null).join(' · ');
}

/** The most UTF-16 units of labels in a message for people. */
const labelsChars = 500;

/** {@link originOf}, and in a second line the labels without the runbook, as in "env=prod · site=plant 2". */
export function detailsOf(notification: OutgoingNotification): string {
  const { [runbookLabel]: runbook, ...others } = labelsOf(notification.labels);
  const isLink = runbookLinkOf(notification) !== undefined;
  const given = isLink || runbook === undefined ? others : { ...others, [runbookLabel]: runbook };
  const labels = clip(shownLabels(given), labelsChars);
  return labels === '' ? originOf(notification) : `${originOf(notification)}\n${labels}`;
}

/** {@link detailsOf}, of at most `most` bytes, and below the links of the runbook and of the alarm, for messages that are one plain text. */
export const detailsWithLinksOf = (
  notification: OutgoingNotification,
  most = Number.POSITIVE_INFINITY,
): string =>
  [
    clipBytes(detailsOf(notification), most),
    ...linksOf(notification).map(({ text, href }) => `${text}: ${href}`),
  ].join('\n');

/** The runbook, and the page of the alarm. */
export function linksOf(
  notification: OutgoingNotification,
): readonly { readonly text: string; readonly href: string }[] {
  const runbook = runbookLinkOf(notification);
  return [
    ...(runbook === undefined ? [] : [{ text: 'Runbook', href: runbook }]),
    ...(notification.page === undefined ? [] : [{ text: 'Open in Belfry', href: notification.page }]),
  ];
}

/** Markdown without links whose text hides their target: an invisible space separates the two parts. */
export function withoutLinks(text: string): string {
  return text.replaceAll(/\](?=[([:])/g, ']\u200B');
}

/** The pause, in seconds, that Discord and Telegram name in their JSON. */
export function retryAfterInBody({ body }: OutboundResponse): number | undefined {
  const seconds = /"retry_after"\s*:\s*(\d{1,6}(?:\.\d+)?)/.exec(body)?.[1];
  return seconds === undefined ? undefined : Math.ceil(Number(seconds) * 1000);
}

export function jsonRequest(
  url: string,
  body: unknown,
  headers: Readonly<Record<string, string>> = {},
  method: OutboundRequest['method'] = 'POST',
): OutboundRequest {
  return {
    ...{ url, method },
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  };
}

/** The URL with a path added to its own. */
export function urlWith(base: string, path: string): string {
  return `${base.replace(/\/+$/, '')}${path}`;
}
