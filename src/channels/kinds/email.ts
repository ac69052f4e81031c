/** Email: what is sent, over which server, and how much of the installation's own server a tenant may use. */
import { createHash } from 'node:crypto';
import { createLruMap } from '#core/limits/lru-map.ts';
import type { TenantId } from '#core/log/route.ts';
import { messageText } from '#core/routing/message-text.ts';
import { createTrustedOutbound, deadline, inTime, type Outbound } from '#outbound/outbound.ts';
import {
  attemptMs,
  type ChannelSetup,
  detailsWithLinksOf,
  type OutgoingNotification,
  type OutgoingUpdate,
  type SendResult,
  updateText,
} from '../message.ts';

/** The installation's own mail server. The operator configures it, so any address is allowed. */
export interface MailServer {
  /** As in smtp://user:password@host:587. */
  readonly url: string;
  readonly from: string | undefined;
}

interface Options {
  readonly outbound: Outbound;
  readonly mail: MailServer | undefined;
  /** Set for what happened to the alarm: a reply to the mail of the notification. */
  readonly update?: OutgoingUpdate | undefined;
  /** undefined: replies go to the sender. */
  readonly replyTo?: string | undefined;
  readonly signal: AbortSignal;
}

interface Route {
  readonly outbound: Outbound;
  readonly url: URL;
  readonly user: string;
  readonly password: string;
  readonly from: string;
}

/** The time limit of one attempt after connecting: a server may be slow for each of 50 recipients. A lease lasts longer. */
const mailMs = 45_000;

/** Sends the notification as a mail. @throws Error when the server cannot be reached. */
export async function sendMail(
  setup: ChannelSetup,
  notification: OutgoingNotification,
  { timeoutMs = mailMs, ...options }: Options & { readonly timeoutMs?: number },
): Promise<SendResult> {
  const { createTransport } = await import('nodemailer');
  const signal = deadline({ timeoutMs, signal: options.signal });
  const { outbound, url, user, password, from } = routeOf(setup, options);
  const isSecure = url.protocol === 'smtps:';
  const host = url.hostname.replace(/^\[(.*)\]$/, '$1');
  const endpoint = { host, port: Number(url.port || (isSecure ? 465 : 587)), isSecure: false };
  const connection = await outbound.connect(endpoint, { timeoutMs: attemptMs, signal });
  try {
    const transport = createTransport({
      // TLS starts on this connection, so that the name is not resolved again.
      ...{ host, connection, secure: isSecure, tls: { servername: host } },
      // A password never travels in the clear.
      ...(user !== '' && { auth: { user, pass: password }, requireTLS: true }),
      ...{
        socketTimeout: attemptMs,
        greetingTimeout: attemptMs,
        disableFileAccess: true,
        disableUrlAccess: true,
      },
    });
    const { replyTo } = options;
    const envelope = { to: setup.settings.to ?? '', from, ...(replyTo !== undefined && { replyTo }) };
    const mail = options.update
      ? replyOf(envelope, notification, options.update)
      : mailOf(envelope, notification);
    const { response, rejectedErrors = [] } = await inTime({ timeoutMs, signal }, () =>
      transport.sendMail(mail),
    );
    // A retry would send a duplicate to the other recipients.
    const missed = rejectedErrors.map(({ recipient, response: why }) => `; not to ${recipient}: ${why}`);
    return { outcome: 'delivered', answer: `answered ${response}${missed.join('')}` };
  } catch (error) {
    const { code, responseCode = 0, message } = error as Error & { code?: string; responseCode?: number };
    const isRefused = responseCode >= 500 && (code === 'EENVELOPE' || code === 'EMESSAGE');
    return { outcome: isRefused ? 'failed' : 'retry', answer: message };
  } finally {
    connection.destroy();
  }
}

/** The channel's own server and sender, or the installation's. A tenant cannot choose the sender of the installation's mails. */
function routeOf({ settings, secrets }: ChannelSetup, { outbound, mail }: Options): Route {
  if (settings.server !== undefined) {
    const { user = '', from } = settings;
    if (from === undefined) throw new Error('the channel names a server and no sender: enter "from"');
    return { outbound, url: new URL(settings.server), user, password: secrets.password ?? '', from };
  }
  if (mail?.from === undefined)
    throw new Error(
      'there is no mail server: name one, or have the operator set BELFRY_SMTP_URL and BELFRY_SMTP_FROM',
    );
  const url = new URL(mail.url);
  const [user, password] = [url.username, url.password].map(decodeURIComponent) as [string, string];
  return { outbound: createTrustedOutbound(), url, user, password, from: mail.from };
}

interface Envelope {
  readonly from: string;
  readonly to: string;
  readonly replyTo?: string;
}

const domainOf = ({ from }: Envelope): string => from.split('@')[1] ?? 'belfry';

/** The thread of a key. */
function threadOf({ tenant, key }: OutgoingNotification): string[] {
  if (key === null) return [];
  return [createHash('sha256').update(`${tenant} ${key}`).digest('hex').slice(0, 32)];
}

const idsOf = (ids: readonly string[], envelope: Envelope) =>
  ids.map((id) => `<${id}@${domainOf(envelope)}>`);

/** Other programs must not answer. The second one is for Exchange, whose rules do not know the first. */
const ofProgram = { 'auto-submitted': 'auto-generated', 'x-auto-response-suppress': 'OOF, AutoReply' };

/** A reply in the thread. Every attempt has the same id. */
function replyOf(envelope: Envelope, notification: OutgoingNotification, update: OutgoingUpdate) {
  const { id, tenant, title, level, url } = notification;
  const end = [detailsWithLinksOf(notification), url, `Belfry · ${tenant}`].filter((line) => line !== null);
  const [messageId] = idsOf([update.id], envelope);
  const [inReplyTo] = idsOf([id], envelope);
  return {
    ...{ ...envelope, messageId, inReplyTo, date: new Date(update.at) },
    subject: `Re: [${level}] ${title}`,
    text: `${updateText(update)}\n\n-- \n${end.join('\n')}\n`,
    references: idsOf([...threadOf(notification), id], envelope),
    headers: ofProgram,
  };
}

function mailOf(envelope: Envelope, notification: OutgoingNotification) {
  const { id, tenant, title, level, url, receivedAt } = notification;
  const [messageId] = idsOf([id], envelope);
  const thread = idsOf(threadOf(notification), envelope);
  const end = [detailsWithLinksOf(notification), url, `Belfry · ${tenant}`].filter((line) => line !== null);
  return {
    ...{ ...envelope, messageId },
    subject: `[${level}] ${title}`,
    text: `${messageText(notification)}\n\n-- \n${end.join('\n')}\n`,
    date: new Date(receivedAt),
    // A retry has the same id; mails about one key form one thread.
    ...(thread.length > 0 && { references: thread }),
    headers: ofProgram,
  };
}

const hourMs = 3_600_000;
const maxTenants = 10_000;

/**
 * Limits the mails that a tenant sends through the installation's own mail server; each recipient counts as one mail. A token
 * bucket, which refills within an hour. Each node has its own.
 */
interface Bucket {
  /** Negative while mails are reserved in advance. */
  tokens: number;
  at: number;
  /** By channel: the tokens that are reserved for its next mail, and when it may be sent. */
  readonly reservations: Map<string, { readonly tokens: number; readonly dueAt: number }>;
}

/** Serves channels in the order of their first attempts. Otherwise a mail to many recipients might wait forever behind small ones. */
export class MailBudget {
  readonly #perHour: number;
  readonly #buckets = createLruMap<TenantId, Bucket>(maxTenants);

  constructor(perHour: number) {
    this.#perHour = perHour;
  }

  /** Returns 0 if the mail may be sent now. Otherwise reserves `count` tokens, and returns after how long the channel must call again. */
  take(
    { tenant, id }: { readonly tenant: TenantId; readonly id: string },
    count: number,
    now: number,
  ): number {
    const bucket = this.#bucketOf(tenant, now);
    const { reservations } = bucket;
    // A mail to more recipients than the bucket can hold takes a full bucket.
    const tokens = Math.min(count, this.#perHour);
    const reservation = reservations.get(id);
    if (reservation?.tokens !== tokens) {
      bucket.tokens -= tokens;
      if (bucket.tokens >= 0) return 0;
      const waitMs = this.#refillMs(-bucket.tokens);
      reservations.set(id, { tokens, dueAt: now + waitMs });
      return waitMs;
    }
    // If the bucket is not negative, every reservation is covered, even if the clock was set back.
    const waitMs = Math.min(reservation.dueAt - now, this.#refillMs(-bucket.tokens));
    if (waitMs > 0) return waitMs;
    reservations.delete(id);
    return 0;
  }

  #bucketOf(tenant: TenantId, now: number): Bucket {
    const bucket = this.#buckets.get(tenant) ?? { tokens: this.#perHour, at: now, reservations: new Map() };
    bucket.tokens = Math.min(
      this.#perHour,
      bucket.tokens + (Math.max(0, now - bucket.at) * this.#perHour) / hourMs,
    );
    bucket.at = now;
    // The bucket is full again, so channels that did not return in this time have given up their mails.
    if (bucket.tokens >= this.#perHour) bucket.reservations.clear();
    this.#buckets.set(tenant, bucket);
    return bucket;
  }

  #refillMs(tokens: number): number {
    return Math.max(0, Math.ceil((tokens * hourMs) / this.#perHour));
  }
}
