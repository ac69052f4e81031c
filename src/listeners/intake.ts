/** The intake as listeners use it, and the interface of a listener. */
import type { Answered, ChannelAnswer } from '#core/channels/answers.ts';
import type { ReadAddress } from '#core/channels/reply-addresses.ts';
import type { RetryKey } from '#core/intake/idempotency.ts';
import type { CheckedFields } from '#core/intake/notification.ts';
import type { Sender } from '#core/intake/own-sender.ts';
import { fieldsOf, type Item, parseLevelMap, retryKeyOf } from '#integrations/format.ts';

export type ListenerName = 'syslog-udp' | 'syslog-tcp' | 'syslog-tls' | 'smtp' | 'mqtt';
type MessageResult = 'stored' | 'refused' | 'dropped';

export interface ListenerIntake {
  /** The sender of a token with the scope notify; undefined for any other text. */
  findSender(
    token: string,
    source: string,
    /**
     * Given when the token comes from the sender: then a wrong one counts as a failed attempt. A token from a setting does not
     * count.
     */
    mode?: 'failures count',
  ): Promise<Sender | undefined>;
  /** To be called before a message is read. @throws AppError with `retryAfterSeconds` when nothing could be stored now. */
  admit(sender: Sender): Promise<void>;
  /** Resolves once it is durable. @throws AppError with `retryAfterSeconds` when it may be sent again. */
  accept(sender: Sender, source: string, fields: CheckedFields, retryKey: RetryKey | null): Promise<string>;
  /** Counts messages by result. */
  count(listener: ListenerName, result: MessageResult): void;
}

/** Replies to mails of channels. */
export interface ReplyIntake {
  /** What a reply to a mail of a channel is about; undefined for any other address. */
  readReplyAddress(address: string): ReadAddress | undefined;
  /** Does what the reply says. @throws AppError `unavailable` when it must come again. */
  takeReply(
    to: ReadAddress,
    reply: Pick<ChannelAnswer, 'kind' | 'note'> & { from: string },
  ): Promise<Answered>;
}

export interface ListenAddress {
  /** Undefined: every address of this machine. */
  readonly host: string | undefined;
  readonly port: number;
}

export interface Listener {
  readonly name: ListenerName;
  /** undefined for a listener that is a client of another server. */
  readonly port?: number;
  /** Accepts nothing more. Resolves once everything accepted is stored, or after a short time limit. */
  close(): Promise<void>;
}

/** A listener with a port. */
export interface OpenPort extends Listener {
  readonly port: number;
}

export interface ListenerLog {
  info(message: string): void;
  warn(details: object, message: string): void;
}

const noMap = parseLevelMap([]);

/** Stores one item. @throws AppError as {@link ListenerIntake.accept}, and `bad-request` for an item without a text. */
export async function storeItem(
  intake: ListenerIntake,
  sender: Sender,
  { source, listener }: { readonly source: string; readonly listener: string },
  item: Item,
): Promise<string> {
  const fields = fieldsOf(item, noMap);
  return intake.accept(sender, source, fields, retryKeyOf(listener, item, fields));
}
