/** Notifications that wait on this machine for the server, one file each. */
import { randomBytes } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Outgoing } from '#client/send-until.ts';
import { Failure } from '../failure.ts';

export interface Spooled extends Outgoing {
  readonly file: string;
}

/** A folder holds no more than these; it is for minutes without a server, not for days. */
const mostFiles = 1_000;
const nameOfFile = /^\d{15}-[0-9a-f]{8}\.json$/;

export class Spool {
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
