import { createHash } from 'node:crypto';
import { createTrustedOutbound, deadline, inTime, type Outbound } from '#outbound/outbound.ts';
import {
  attemptMs,
  type ChannelSetup,
  type OutgoingNotification,
  originOf,
  type SendResult,
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
    const mail = mailOf(setup.settings.to ?? '', from, notification);
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

function mailOf(to: string, from: string, notification: OutgoingNotification) {
  const { id, tenant, key, title, message, level, url, receivedAt } = notification;
  const domain = from.split('@')[1] ?? 'belfry';
  const thread =
    key === null ? undefined : createHash('sha256').update(`${tenant} ${key}`).digest('hex').slice(0, 32);
  const end = [originOf(notification), url, `Belfry · ${tenant}`].filter((line) => line !== null);
  return {
    ...{ from, to },
    subject: `[${level}] ${title}`,
    text: `${message}\n\n-- \n${end.join('\n')}\n`,
    date: new Date(receivedAt),
    // A retry has the same id; mails about one key form one thread.
    messageId: `<${id}@${domain}>`,
    ...(thread !== undefined && { references: `<${thread}@${domain}>` }),
    headers: { 'auto-submitted': 'auto-generated' },
  };
}
