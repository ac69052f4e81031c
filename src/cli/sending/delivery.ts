/** How the command line gets a notification to the server: it tries again, and keeps what it cannot send. */
import { randomUUID } from 'node:crypto';
import { type Command, InvalidArgumentError, Option } from 'commander';
import { ApiError, isTemporary } from '#client/api-error.ts';
import type { Client, NotificationToSend } from '#client/client.ts';
import { type Outgoing, sendUntil } from '#client/send-until.ts';
import { parseDurationOrMs } from '#contract/duration.ts';
import type { Io } from '../io.ts';
import type { ServerClient } from '../server-client.ts';
import { visibleText } from '../terminal-text.ts';
import { Spool } from './spool.ts';

export interface DeliveryOptions {
  /** For how many milliseconds it is tried again. */
  readonly retry: number;
  /** A folder that keeps what cannot be sent. */
  readonly spool?: string;
}

export function addDeliveryOptions(command: Command): Command {
  return command
    .addOption(
      new Option('--retry <duration>', 'how long to try again while the server is away or busy; 0 for once')
        .argParser(readDuration)
        .default(5_000, '5s'),
    )
    .option(
      '--spool <folder>',
      'store in this folder what cannot be sent; the next command with the same folder sends it',
    );
}

/**
 * @returns the id; undefined when it is kept for later.
 * @throws Failure or ApiError when it is neither sent nor kept, and when it is kept until there is a valid token.
 */
export async function deliver(
  io: Io,
  server: ServerClient,
  { notification, idempotencyKey = randomUUID() }: Partial<Outgoing> & { notification: NotificationToSend },
  { retry, spool: folder }: DeliveryOptions,
): Promise<string | undefined> {
  const outgoing = { notification, idempotencyKey };
  const spool = folder === undefined ? undefined : new Spool(folder);
  const until = performance.now() + retry;
  return server.ask(async (client) => {
    try {
      if (spool) await sendSpooled(io, client, spool, until);
      const { id, warning } = await sendUntil(client, outgoing, until);
      if (warning !== undefined) io.stderr.write(`belfry: ${visibleText(String(warning))}\n`);
      // What answers may be something else than Belfry.
      return String(id);
    } catch (error) {
      if (!spool || !(isTemporary(error) || isTokenRefused(error))) throw error;
      spool.add(outgoing);
      io.stderr.write(`belfry: kept in ${spool.folder}: ${visibleText(error.message)}\n`);
      // Another token can send it, but somebody must make one.
      if (isTokenRefused(error)) throw error;
      return undefined;
    }
  });
}

const isTokenRefused = (error: unknown): error is ApiError =>
  error instanceof ApiError && [401, 403].includes(error.status);

/** What the server refuses for good is not tried again, and stands in nobody's way. */
async function sendSpooled(io: Io, client: Client, spool: Spool, until: number): Promise<void> {
  for (const spooled of spool.list()) {
    try {
      await sendUntil(client, spooled, until);
    } catch (error) {
      if (!(error instanceof ApiError) || ![400, 409, 413].includes(error.status)) throw error;
      io.stderr.write(
        `belfry: "${visibleText(spooled.notification.title)}" of ${spool.folder} is dropped: ${visibleText(error.message)}\n`,
      );
    }
    spool.remove(spooled);
  }
}

function readDuration(text: string): number {
  const ms = parseDurationOrMs(text);
  if (ms === undefined) throw new InvalidArgumentError('Write 30s, 5m, 2h, 1d, milliseconds, or 0.');
  return ms;
}
