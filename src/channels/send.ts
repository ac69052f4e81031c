/** One attempt to deliver one notification through one channel. */
import type { ChannelKind } from '#contract/channel-fields.ts';
import type { Outbound, OutboundResponse } from '#outbound/outbound.ts';
import { apprise } from './apprise.ts';
import { discord } from './discord.ts';
import { type MailServer, sendMail } from './email.ts';
import { gotify } from './gotify.ts';
import {
  attemptMs,
  type ChannelSetup,
  type HttpKind,
  type OutgoingNotification,
  type SendResult,
} from './message.ts';
import { ntfy } from './ntfy.ts';
import { pagerduty } from './pagerduty.ts';
import { slack } from './slack.ts';
import { teams } from './teams.ts';
import { telegram } from './telegram.ts';
import { webhook } from './webhook.ts';

const httpKinds: Readonly<Record<Exclude<ChannelKind, 'email'>, HttpKind>> = {
  webhook,
  ntfy,
  gotify,
  slack,
  teams,
  discord,
  telegram,
  pagerduty,
  apprise,
};

/** The message itself is refused, and would be again. */
const refusals = [400, 413, 415, 422];
const answerChars = 160;
const longestRetryAfterMs = 3_600_000;

export interface SendOptions {
  readonly outbound: Outbound;
  readonly mail: MailServer | undefined;
  readonly now: () => number;
  readonly signal: AbortSignal;
}

/** Never throws: what goes wrong is a result. */
export async function send(
  kind: ChannelKind,
  setup: ChannelSetup,
  notification: OutgoingNotification,
  options: SendOptions,
): Promise<SendResult> {
  try {
    if (kind === 'email') return await sendMail(setup, notification, options);
    return await sendOverHttp(httpKinds[kind], setup, notification, options);
  } catch (error) {
    return { outcome: 'retry', answer: error instanceof Error ? error.message : String(error) };
  }
}

async function sendOverHttp(
  kind: HttpKind,
  setup: ChannelSetup,
  notification: OutgoingNotification,
  { outbound, now, signal }: SendOptions,
): Promise<SendResult> {
  const request = kind.request(setup, notification, now());
  const response = await outbound.request(request, { timeoutMs: attemptMs, signal });
  const { status } = response;
  const text = excerpt(response.body, setup);
  const answer = `answered ${status}${text === '' ? '' : `: ${text}`}`;
  const known = kind.outcomeOf?.(status);
  if (known) return { answer, ...known };
  if (status >= 200 && status < 300) return { outcome: 'delivered', answer };
  if (status >= 300 && status < 400)
    return {
      outcome: 'retry',
      answer: `${answer}; redirects are not followed; use the final URL`,
    };
  if (refusals.includes(status)) return { outcome: 'failed', answer };
  const retryAfterMs = kind.retryAfterMs?.(response) ?? retryAfterOf(response, now());
  return {
    ...{ outcome: 'retry', answer },
    ...(retryAfterMs !== undefined && { retryAfterMs: Math.min(retryAfterMs, longestRetryAfterMs) }),
  };
}

/** `Retry-After` in seconds or as a date. */
function retryAfterOf({ headers }: OutboundResponse, now: number): number | undefined {
  const text = String(headers['retry-after'] ?? '').trim();
  if (/^\d{1,9}$/.test(text)) return Number(text) * 1000;
  const at = Date.parse(text);
  return Number.isNaN(at) ? undefined : Math.max(0, at - now);
}

/** The beginning of an answer in one line; a receiver that repeats a secret does not make it readable. */
function excerpt(body: string, { secrets }: ChannelSetup): string {
  let line = body.replaceAll(/[\p{C}\s]+/gu, ' ').trim();
  for (const secret of Object.values(secrets)) line = line.replaceAll(secret, '…');
  return line.slice(0, answerChars);
}
