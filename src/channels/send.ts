/** One attempt to deliver one notification, or what happened to its alarm, through one channel. */
import type { ChannelKind } from '#contract/channels/channel-fields.ts';
import type { Outbound } from '#outbound/outbound.ts';
import { answerLine, createMask, type Mask, pauseOf } from './delivery-answer.ts';
import { alertmanager, authorizationOf } from './kinds/alertmanager.ts';
import { apprise } from './kinds/apprise.ts';
import { discord } from './kinds/discord.ts';
import { type MailServer, sendMail } from './kinds/email.ts';
import { gotify } from './kinds/gotify.ts';
import type { Brokers } from './kinds/mqtt.ts';
import { ntfy } from './kinds/ntfy.ts';
import { pagerduty } from './kinds/pagerduty.ts';
import { type PushAudience, sendPush } from './kinds/push.ts';
import { slack } from './kinds/slack.ts';
import { teams } from './kinds/teams.ts';
import { telegram } from './kinds/telegram.ts';
import { webhook } from './kinds/webhook.ts';
import {
  attemptMs,
  type ChannelSetup,
  type HttpKind,
  type OutgoingNotification,
  type OutgoingUpdate,
  type SendResult,
} from './message.ts';

const httpKinds: Readonly<Record<Exclude<ChannelKind, 'email' | 'push' | 'mqtt'>, HttpKind>> = {
  webhook,
  ntfy,
  gotify,
  slack,
  teams,
  discord,
  telegram,
  pagerduty,
  alertmanager,
  apprise,
};

/** Statuses that refuse the message itself, so that a retry is useless. */
const refusals = [400, 413, 415, 422];

export interface SendOptions {
  readonly outbound: Outbound;
  readonly mail: MailServer | undefined;
  /** Of mails: where replies go. */
  readonly replyTo?: string | undefined;
  /** Set for what happened to the alarm of the notification. */
  readonly update?: OutgoingUpdate | undefined;
  /** Set for push channels. */
  readonly audience?: PushAudience | undefined;
  readonly brokers: Brokers;
  readonly now: () => number;
  readonly signal: AbortSignal;
}

/** Never throws: an error becomes a result. */
export async function send(
  kind: ChannelKind,
  setup: ChannelSetup,
  notification: OutgoingNotification,
  options: SendOptions,
): Promise<SendResult> {
  const mask = createMask(secretsOf(kind, setup, options));
  try {
    if (isHttp(kind)) return await sendOverHttp(httpKinds[kind], setup, notification, { ...options, mask });
    const result = await attempt(kind, setup, notification, options);
    return { ...result, answer: mask(result.answer) };
  } catch (error) {
    return { outcome: 'retry', answer: mask(error instanceof Error ? error.message : String(error)) };
  }
}

const isHttp = (kind: ChannelKind): kind is keyof typeof httpKinds => kind in httpKinds;

/** What no record may hold: the path of an address often works as a secret, too. */
function secretsOf(kind: ChannelKind, { settings, secrets }: ChannelSetup, { mail }: SendOptions): string[] {
  const url = URL.parse(settings.url ?? '');
  const hasPath = url !== null && /^https?:$/.test(url.protocol) && `${url.pathname}${url.search}` !== '/';
  return [
    ...Object.values(secrets),
    ...(hasPath ? [settings.url ?? ''] : []),
    ...(kind === 'alertmanager' ? Object.values(authorizationOf({ settings, secrets })) : []),
    ...(kind === 'email' ? secretsOfMail(URL.parse(mail?.url ?? '')) : []),
  ];
}

/** The password as it is, and as AUTH PLAIN and AUTH LOGIN send it. */
export function secretsOfMail(url: URL | null): string[] {
  if (!url?.password) return [];
  const [user, password] = [decodeURIComponent(url.username), decodeURIComponent(url.password)];
  return [password, base64(`\0${user}\0${password}`), base64(password)];
}

const base64 = (text: string) => Buffer.from(text).toString('base64');

async function attempt(
  kind: Exclude<ChannelKind, keyof typeof httpKinds>,
  setup: ChannelSetup,
  notification: OutgoingNotification,
  options: SendOptions,
): Promise<SendResult> {
  if (kind === 'email') return sendMail(setup, notification, options);
  if (kind === 'push') return sendPush(options.audience, notification, options);
  // Loaded with the first delivery of this kind.
  const { sendMqtt } = await import('./kinds/mqtt.ts');
  return sendMqtt(setup, notification, options);
}

async function sendOverHttp(
  kind: HttpKind,
  setup: ChannelSetup,
  notification: OutgoingNotification,
  { outbound, now, signal, mask, update }: SendOptions & { readonly mask: Mask },
): Promise<SendResult> {
  const needless = kind.needlessFor?.(notification);
  if (needless !== undefined) return { outcome: 'delivered', answer: needless };
  const request = update
    ? kind.update(setup, notification, update, now())
    : kind.request(setup, notification, now());
  if (!request)
    return {
      ...{ outcome: 'failed', isFinal: true },
      answer:
        'the message of the notification is not known: it was sent before an upgrade of this server, or its delivery is no longer listed',
    };
  const response = await outbound.request(request, { timeoutMs: attemptMs, signal });
  const { status } = response;
  const answer = answerLine(response, mask);
  const known = kind.outcomeOf?.(response);
  if (known) return { answer, ...known };
  if (status >= 200 && status < 300)
    return { outcome: 'delivered', answer, reference: update ? undefined : kind.referenceOf?.(response) };
  if (status >= 300 && status < 400)
    return {
      outcome: 'retry',
      answer: `${answer}; redirects are not followed; use the final URL`,
    };
  if (refusals.includes(status)) return { outcome: 'failed', answer };
  const retryAfterMs = pauseOf(response, now(), kind.retryAfterMs?.(response));
  return { outcome: 'retry', answer, ...(retryAfterMs !== undefined && { retryAfterMs }) };
}
