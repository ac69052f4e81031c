/** Listener for email. The token is the password of AUTH, or the local part of the recipient's address; a signed address takes replies to mails. */
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { SMTPServer, type SMTPServerDataStream, type SMTPServerSession } from 'smtp-server';
import { addressSet, canonicalAddress } from '#core/addresses.ts';
import type { ReadAddress } from '#core/channels/reply-addresses.ts';
import { AppError } from '#core/errors.ts';
import { FairQueue } from '#core/limits/concurrency.ts';
import type { Certificate } from './certificate.ts';
import {
  type ListenAddress,
  type ListenerIntake,
  type ListenerLog,
  type OpenPort,
  type ReplyIntake,
  storeItem,
} from './intake.ts';
import { itemOfMail, MailStart } from './mail.ts';
import { readReply } from './mail-reply.ts';

/** The most bytes of a message with its attachments, which are not kept. Cameras send some pictures with an alarm. */
const mailBytes = 25 * 1024 * 1024;
const mostConnections = 200;
const mostOfAddress = 20;
const silentMs = 60_000;
/** The time limit for a connection to present a token. */
const signInMs = 60_000;

/** Tokens that were valid when they were presented; each mail checks them again. */
interface Session {
  /** From AUTH; used for all mails of the connection. */
  password?: string;
  /** From the recipient's address; used for the current mail. */
  recipient?: string | undefined;
  /** The current mail is a reply to a mail of a channel; its address is signed. */
  reply?: ReadAddress | undefined;
}

/** An error reply. After 4xx the sender retries, after 5xx it does not. */
class Reply extends Error {
  readonly responseCode: number;

  constructor(responseCode: number, message: string) {
    super(message);
    this.responseCode = responseCode;
  }
}

export async function listenSmtp(
  { host, port, allow }: ListenAddress & { readonly allow: readonly string[] },
  {
    intake,
    log,
    certificate,
  }: { intake: ListenerIntake & ReplyIntake; log: ListenerLog; certificate?: Certificate | undefined },
): Promise<OpenPort> {
  const tls = certificate?.current;
  const isAllowed = addressSet(allow);
  /** Tenants take turns, and other work of the process gets as much time as each mail took. */
  const turns = new FairQueue(1, (tookMs) => tookMs);
  const sessions = new WeakMap<SMTPServerSession, Session>();
  const of = (session: SMTPServerSession): Session => {
    const known = sessions.get(session) ?? {};
    sessions.set(session, known);
    return known;
  };
  /** @throws Reply for a wrong token, and when its sender cannot store anything now. */
  const find = async (token: string | null | undefined, { remoteAddress }: SMTPServerSession) => {
    try {
      const source = canonicalAddress(remoteAddress) ?? '';
      const sender = token && (await intake.findSender(token, source, 'failures count'));
      if (!sender) return undefined;
      await intake.admit(sender);
      return sender;
    } catch (error) {
      throw replyTo(error);
    }
  };
  const addRecipient = async (address: string, session: SMTPServerSession) => {
    const known = of(session);
    const isFirst = session.envelope.rcptTo.length === 0;
    if (isFirst) [known.recipient, known.reply] = [undefined, undefined];
    const reply = intake.readReplyAddress(address);
    if (!isFirst && (reply ?? known.reply)) throw oneRecipient();
    known.reply = reply;
    if (reply || known.password !== undefined) return;
    const name = address.slice(0, Math.max(address.lastIndexOf('@'), 0));
    if (!name.startsWith('bfy_')) throw signInFirst();
    if (tls && !session.secure) throw new Reply(530, 'issue STARTTLS first: a token is taken only over TLS');
    if (!(await find(name, session))) throw signInFirst();
    // A mail is stored for one recipient only, so the sender must send it again for the other.
    if (known.recipient !== undefined && known.recipient !== name) throw oneRecipient();
    known.recipient = name;
  };
  /** A mail without a return path reports that another one was not delivered. */
  const takeReply = async (to: ReadAddress, bytes: Buffer, { envelope }: SMTPServerSession) => {
    const isReport = !envelope.mailFrom || envelope.mailFrom.address === '';
    const reply = isReport
      ? null
      : await turns.run(to.tenant, () =>
          readReply(bytes).catch(() => {
            throw new Reply(554, 'the message cannot be read');
          }),
        );
    if (!reply) return 'ignored: sent by a program';
    const outcome = await intake.takeReply(to, reply);
    if (outcome === 'not-found') throw new Reply(554, 'this address takes no replies any more');
    if (outcome === 'done') return outcome;
    // A reply of SMTP is ASCII.
    const why = `the alarm was not changed: ${outcome.why}`.replaceAll(/[^ -~]/g, '?');
    if (outcome.kind === 'nothing') throw new Reply(554, why);
    return why;
  };
  const receive = async (stream: SMTPServerDataStream, session: SMTPServerSession) => {
    const bytes = await readMail(stream);
    const { password, recipient, reply } = of(session);
    if (reply) return takeReply(reply, bytes, session);
    const sender = await find(password ?? recipient, session);
    if (!sender) throw signInFirst();
    const source = canonicalAddress(session.remoteAddress) ?? '';
    const item = await turns.run(sender.tenant, () =>
      itemOfMail(bytes).catch(() => {
        throw new Reply(554, 'the message cannot be read');
      }),
    );
    const stored = { ...item, source: item.source ?? source };
    return `stored as ${await storeItem(intake, sender, { source, listener: 'smtp' }, stored)}`;
  };
  const connections = new Connections((session) => {
    for (const connection of server.connections) if (connection.session === session) connection.close();
  });
  const server = new SMTPServer({
    ...(tls ?? { hideSTARTTLS: true, disabledCommands: ['STARTTLS'] }),
    name: 'belfry',
    banner: 'Belfry',
    size: mailBytes,
    authOptional: true,
    authMethods: ['PLAIN', 'LOGIN'],
    // Many devices cannot use TLS. If there is a certificate, the token must be encrypted.
    allowInsecureAuth: tls === undefined,
    disableReverseLookup: true,
    lenientAddressParsing: true,
    maxClients: mostConnections,
    socketTimeout: silentMs,
    closeTimeout: 1_000,
    logger: false,
    onConnect(session, callback) {
      const source = canonicalAddress(session.remoteAddress) ?? '';
      const mayConnect = connections.add(session);
      for (const connection of server.connections)
        if (connection.session === session) acceptLoosely(connection as unknown as CommandReader);
      if (!isAllowed(source)) {
        intake.count('smtp', 'refused');
        return callback(new Reply(554, 'your network may not send'));
      }
      callback(mayConnect ? null : new Reply(421, 'too many connections from your address'));
    },
    onClose: (session) => connections.delete(session),
    onAuth({ password }, session, callback) {
      find(password, session).then((sender) => {
        if (!sender) return callback(new Reply(535, 'the password must be a token with the scope notify'));
        of(session).password = password ?? '';
        connections.prove(session);
        return callback(null, { user: sender.id });
      }, callback);
    },
    onRcptTo({ address }, session, callback) {
      addRecipient(address, session).then(() => {
        connections.prove(session);
        callback();
      }, callback);
    },
    onData(stream, session, callback) {
      receive(stream, session).then(
        (answer) => {
          intake.count('smtp', 'stored');
          callback(null, answer);
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
  // Broken connections are not logged.
  server.on('error', () => undefined);
  server.listen(port, host);
  await once(server.server, 'listening');
  const unwatch = certificate?.onRenewal((files) => server.updateSecureContext(files));
  return {
    name: 'smtp',
    port: (server.server.address() as AddressInfo).port,
    close: () => {
      unwatch?.();
      return new Promise((resolve) => server.close(() => resolve()));
    },
  };
}

/** A connection of the library, which is not public. Between two commands it may read the lines of a sign-in. */
interface CommandReader {
  _nextHandler: unknown;
  _onCommand(command: Buffer | string, callback: unknown): void;
}

/** Devices send addresses without brackets or without a domain, and no name in HELO. */
function acceptLoosely(connection: CommandReader): void {
  const onCommand = connection._onCommand.bind(connection);
  connection._onCommand = (command, callback) =>
    onCommand(connection._nextHandler ? command : inStrictForm(String(command)), callback);
}

const inStrictForm = (command: string): string =>
  command
    .replace(/^(HELO|EHLO)\s*$/i, '$1 unknown')
    .replace(/^(MAIL FROM|RCPT TO):\s*(?!<)(\S+)/i, '$1:<$2>')
    .replace(/^(MAIL FROM|RCPT TO):\s*<([^<>@\s]+)>/i, '$1:<$2@localhost>');

/** Reads the whole stream, so that the sender reads the answer. @throws Reply when it is too long. */
async function readMail(stream: SMTPServerDataStream): Promise<Buffer> {
  const start = new MailStart();
  let bytes = 0;
  for await (const part of stream as AsyncIterable<Buffer>) {
    bytes += part.length;
    start.push(part);
  }
  if (bytes > mailBytes || stream.sizeExceeded) throw new Reply(552, `a message may have ${mailBytes} bytes`);
  return start.bytes;
}

/** Limits connections: a few for each address, and each must soon present a token. */
class Connections {
  readonly #end: (session: SMTPServerSession) => void;
  readonly #countOf = new Map<string, number>();
  /** Each with the timer that ends it, unless it presents a token before. */
  readonly #open = new Map<SMTPServerSession, NodeJS.Timeout>();

  constructor(end: (session: SMTPServerSession) => void) {
    this.#end = end;
  }

  /** Returns false if its address has too many. In both cases it is removed when it closes. */
  add(session: SMTPServerSession): boolean {
    const count = (this.#countOf.get(session.remoteAddress) ?? 0) + 1;
    this.#countOf.set(session.remoteAddress, count);
    this.#open.set(session, setTimeout(() => this.#end(session), signInMs).unref());
    return count <= mostOfAddress;
  }

  /** The connection has presented a valid token. */
  prove(session: SMTPServerSession): void {
    clearTimeout(this.#open.get(session));
  }

  delete(session: SMTPServerSession): void {
    this.prove(session);
    // Connections that the library refused were never added.
    if (!this.#open.delete(session)) return;
    const count = (this.#countOf.get(session.remoteAddress) ?? 0) - 1;
    if (count > 0) this.#countOf.set(session.remoteAddress, count);
    else this.#countOf.delete(session.remoteAddress);
  }
}

const oneRecipient = () => new Reply(452, 'one recipient for each mail: send it once more');

const signInFirst = () => new Reply(530, 'sign in first: the password is a token');

function replyTo(error: unknown): Reply {
  if (error instanceof Reply) return error;
  if (!(error instanceof AppError)) return new Reply(451, 'internal error: try again later');
  return new Reply(error.retryAfterSeconds === undefined ? 554 : 451, error.message);
}
