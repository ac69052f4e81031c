/** How the command line gets a notification to the server: it tries again, and keeps what it cannot send. */
import { randomBytes, randomUUID } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Command, InvalidArgumentError, Option } from 'commander';
import { ApiError, isTemporary } from '#client/call.ts';
import { type Client, type NotificationToSend, type Outgoing, sendUntil } from '#client/client.ts';
import { parseDurationOrMs } from '#contract/time.ts';
import { Failure } from '../failure.ts';
import type { Io } from '../io.ts';
import type { ServerClient } from '../server-client.ts';
import { visibleText } from '../terminal-text.ts';

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

interface Spooled extends Outgoing {
  readonly file: string;
}

/** A folder holds no more than these; it is for minutes without a server, not for days. */
const mostFiles = 1_000;
const nameOfFile = /^\d{15}-[0-9a-f]{8}\.json$/;

/** Notifications that wait on this machine for the server, one file each. */
class Spool {
  readonly folder: string;

  /** The folder is made by the first notification that is kept. */
  constructor(folder: string) {
    this.folder = folder;
  }

  /** @throws Failure when it is full or cannot be written. */
  add({ notification, idempotencyKey }: Outgoing): void {
    try {
      mkdirSync(this.folder, { recursive: true, mode: 0o700 });
      if (this.#files().length >= mostFiles)
        throw new Failure(
          `${this.folder} holds ${mostFiles} notifications that were not sent: no more are kept`,
        );
      const name = `${String(Date.now()).padStart(15, '0')}-${randomBytes(4).toString('hex')}.json`;
      const partial = join(this.folder, `.${name}`);
      writeFileSync(partial, JSON.stringify({ notification, idempotencyKey }), { mode: 0o600 });
      // A file with its final name is whole.
      renameSync(partial, join(this.folder, name));
    } catch (error) {
      if (error instanceof Failure) throw error;
      throw new Failure(`cannot keep the notification in ${this.folder} (${codeOf(error)})`);
    }
  }

  /** What is kept, the oldest first. A file that is no notification is left out. */
  list(): readonly Spooled[] {
    return this.#files()
      .toSorted()
      .flatMap((file) => {
        const outgoing = readOutgoing(join(this.folder, file));
        return outgoing ? [{ ...outgoing, file }] : [];
      });
  }

  /** Also when another process has removed it. */
  remove({ file }: Spooled): void {
    rmSync(join(this.folder, file), { force: true });
  }

  #files(): string[] {
    try {
      return readdirSync(this.folder).filter((name) => nameOfFile.test(name));
    } catch (error) {
      if (codeOf(error) === 'ENOENT') return [];
      throw new Failure(`cannot read ${this.folder} (${codeOf(error)})`);
    }
  }
}

const codeOf = (error: unknown) => (error as NodeJS.ErrnoException).code ?? String(error);

function readOutgoing(path: string): Outgoing | undefined {
  try {
    const { notification, idempotencyKey } = JSON.parse(readFileSync(path, 'utf8')) as Outgoing;
    return typeof notification === 'object' && typeof idempotencyKey === 'string'
      ? { notification, idempotencyKey }
      : undefined;
  } catch {
    return undefined;
  }
}
