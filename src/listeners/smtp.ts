/** Listener for e-mail. The password of AUTH is the token, or the name of the recipient's address is. */
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import PostalMime from 'postal-mime';
import { SMTPServer, type SMTPServerDataStream, type SMTPServerSession } from 'smtp-server';
import { limits } from '#contract/limits.ts';
import { canonicalAddress } from '#core/addresses.ts';
import { AppError } from '#core/errors.ts';
import type { Sender } from '#core/own-sender.ts';
import type { Incoming } from '#integrations/incoming.ts';
import {
  type ListenAddress,
  type Listener,
  type ListenerIntake,
  type ListenerLog,
  storeItem,
} from './intake.ts';

export interface TlsFiles {
  readonly cert: Buffer;
  readonly key: Buffer;
}

/** Of a whole message with its attachments, of which nothing is kept. */
const mailBytes = 5 * 1024 * 1024;
const mostConnections = 200;
const silentMs = 60_000;

/** Only what this connection has proved; the session of the library goes from mail to mail. */
interface Session {
  sender?: Sender | undefined;
}

/** A reply with its code: 4xx is sent again by the sender, 5xx is not. */
class Reply extends Error {
  readonly responseCode: number;

  constructor(responseCode: number, message: string) {
    super(message);
    this.responseCode = responseCode;
  }
}

export async function listenSmtp(
  { host, port }: ListenAddress,
  { intake, log, tls }: { intake: ListenerIntake; log: ListenerLog; tls?: TlsFiles | undefined },
): Promise<Listener> {
  const sessions = new WeakMap<SMTPServerSession, Session>();
  const of = (session: SMTPServerSession): Session => {
    const known = sessions.get(session) ?? {};
    sessions.set(session, known);
    return known;
  };
  /** Of the mail that is under way, where its recipient names the token. */
  const recipients = new WeakMap<SMTPServerSession, Sender>();
  const find = async (token: string, session: SMTPServerSession) => {
    try {
      return await intake.findSender(token, canonicalAddress(session.remoteAddress) ?? '', 'failures count');
    } catch (error) {
      throw replyTo(error);
    }
  };
  const receive = async (
    stream: SMTPServerDataStream,
    session: SMTPServerSession,
    sender: Sender | undefined,
  ) => {
    const bytes = await readMail(stream);
    if (!sender) throw new Reply(530, 'sign in first: the password is a token');
    const source = canonicalAddress(session.remoteAddress) ?? '';
    const item = await itemOfMail(bytes);
    return storeItem(
      intake,
      sender,
      { source, listener: 'smtp' },
      { ...item, source: item.source ?? source },
    );
  };
  const server = new SMTPServer({
    ...(tls ?? { hideSTARTTLS: true, disabledCommands: ['STARTTLS'] }),
    name: 'belfry',
    banner: 'Belfry',
    size: mailBytes,
    authOptional: true,
    authMethods: ['PLAIN', 'LOGIN'],
    // Many devices can do nothing else; where there is a certificate, the token must not travel in the clear.
    allowInsecureAuth: tls === undefined,
    disableReverseLookup: true,
    maxClients: mostConnections,
    socketTimeout: silentMs,
    closeTimeout: 1_000,
    logger: false,
    onAuth({ password }, session, callback) {
      find(password ?? '', session).then((sender) => {
        if (!sender) return callback(new Reply(535, 'the password must be a token with the scope notify'));
        of(session).sender = sender;
        return callback(null, { user: sender.id });
      }, callback);
    },
    onRcptTo({ address }, session, callback) {
      if (of(session).sender) return callback();
      const mayBeToken = tls === undefined || session.secure;
      const name = address.slice(0, Math.max(address.lastIndexOf('@'), 0));
      (mayBeToken && name.startsWith('bfy_') ? find(name, session) : Promise.resolve(undefined)).then(
        (sender) => {
          if (!sender) return callback(new Reply(530, 'sign in first: the password is a token'));
          recipients.set(session, sender);
          return callback();
        },
        callback,
      );
    },
    onData(stream, session, callback) {
      const sender = of(session).sender ?? recipients.get(session);
      recipients.delete(session);
      receive(stream, session, sender).then(
        (id) => {
          intake.count('smtp', 'stored');
          callback(null, `stored as ${id}`);
        },
        (error: unknown) => {
          const reply = replyTo(error);
          if (!(error instanceof AppError) && !(error instanceof Reply))
            log.warn({ err: error }, 'smtp: a message could not be stored');
          intake.count('smtp', 'refused');
          callback(reply);
        },
      );
    },
  });
  // Connections that break off are the senders' affair.
  server.on('error', () => undefined);
  server.listen(port, host);
  await once(server.server, 'listening');
  return {
    name: 'smtp',
    port: (server.server.address() as AddressInfo).port,
    close: () => new Promise((resolve) => server.close(() => resolve())),
  };
}

/** The whole stream is read, so that the sender reads the answer. @throws Reply when it is too long. */
async function readMail(stream: SMTPServerDataStream): Promise<Buffer> {
  const parts: Buffer[] = [];
  let bytes = 0;
  for await (const part of stream as AsyncIterable<Buffer>) {
    bytes += part.length;
    if (bytes <= mailBytes) parts.push(part);
  }
  if (bytes > mailBytes || stream.sizeExceeded) throw new Reply(552, `a message may have ${mailBytes} bytes`);
  return Buffer.concat(parts);
}

/** Its subject and text; the priority that the sender gave chooses the level. */
export async function itemOfMail(bytes: Buffer): Promise<Incoming> {
  const mail = await PostalMime.parse(new Uint8Array(bytes), {
    maxNestingDepth: 20,
    maxHeadersSize: 64 * 1024,
  });
  const header = (name: string) => mail.headers.find(({ key }) => key === name)?.value?.trim();
  const priority = /^[1-5]/.exec(header('x-priority') ?? '')?.[0];
  const importance = header('importance')?.toLowerCase();
  const severity =
    header('x-level')?.toLowerCase() ??
    (priority === '1' || priority === '2' || importance === 'high' ? 'high' : 'message');
  const text = mail.text?.trim() || textOfHtml(mail.html ?? '');
  return {
    title: mail.subject || mail.from?.address || 'E-mail',
    message: text.slice(0, 2 * limits.messageChars),
    severity,
    level:
      limits.levelPattern.test(severity) && header('x-level')
        ? severity
        : severity === 'high'
          ? 'error'
          : 'info',
    key: header('x-key'),
    source: header('x-host'),
    url: header('x-url'),
    identity: mail.messageId,
  };
}

/** Good enough to be read: mail that has no text of its own is rare. */
function textOfHtml(html: string): string {
  return html
    .slice(0, 200_000)
    .replace(/<(style|script|head)\b[\s\S]*?<\/\1>/gi, '')
    .replace(/<(?:br|\/p|\/div|\/tr|\/h\d|\/li)\b[^>]*>/gi, '\n')
    .replace(/<[^>]*>/g, '')
    .replaceAll('&nbsp;', ' ')
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&amp;', '&')
    .replace(/\n\s*\n\s*/g, '\n\n')
    .trim();
}

function replyTo(error: unknown): Reply {
  if (error instanceof Reply) return error;
  if (!(error instanceof AppError)) return new Reply(451, 'internal error: try again later');
  return new Reply(error.retryAfterSeconds === undefined ? 554 : 451, error.message);
}
