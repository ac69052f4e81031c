/** What listeners get to work with: the way in of notifications, whatever protocol they come by. */
import { compileAddressSet, findAddressKey, parseAddressRange } from '#core/addresses.ts';
import type { RetryKey } from '#core/idempotency.ts';
import type { CheckedFields } from '#core/notification.ts';
import type { Sender } from '#core/own-sender.ts';
import { fieldsOf, type Item, retryKeyOf } from '#integrations/incoming.ts';
import { parseLevelMap } from '#integrations/severity.ts';

export type ListenerName = 'syslog-udp' | 'syslog-tcp' | 'syslog-tls' | 'smtp' | 'mqtt';
export type MessageResult = 'stored' | 'refused' | 'dropped';

export interface ListenerIntake {
  /** The sender of a token with the scope notify; undefined for any other text. */
  findSender(
    token: string,
    source: string,
    /** A wrong token of the sender's own counts as a failed sign-in; the one of a setting does not. */
    mode?: 'failures count',
  ): Promise<Sender | undefined>;
  /** Before anything is read or parsed. @throws AppError with `retryAfterSeconds` when nothing could be stored now. */
  admit(sender: Sender): Promise<void>;
  /** Resolves once it is durable. @throws AppError with `retryAfterSeconds` when it may be sent again. */
  accept(sender: Sender, source: string, fields: CheckedFields, retryKey: RetryKey | null): Promise<string>;
  /** Counts messages by what came of them. */
  count(listener: ListenerName, result: MessageResult): void;
}

export interface ListenAddress {
  /** Undefined: every address of this machine. */
  readonly host: string | undefined;
  readonly port: number;
}

export interface Listener {
  readonly name: ListenerName;
  /** undefined: it listens on none, as it is a client itself. */
  readonly port?: number;
  /** Takes nothing more; resolves once what was taken is stored, or after a moment. */
  close(): Promise<void>;
}

/** A listener that others connect to. */
export interface OpenPort extends Listener {
  readonly port: number;
}

export interface ListenerLog {
  info(message: string): void;
  warn(details: object, message: string): void;
}

/** Whether an address is in one of the networks. */
export function allowsFrom(networks: readonly string[]): (address: string) => boolean {
  const allowed = compileAddressSet(networks.map(parseAddressRange));
  return (address) => {
    const key = findAddressKey(address);
    return key !== undefined && allowed(key);
  };
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
