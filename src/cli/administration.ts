import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import type { Config, OpenedStorage } from '#app.ts';
import { databaseFailure, Failure } from './failure.ts';
import type { Io } from './io.ts';

export type Directory = OpenedStorage['directory'];
export type Accounts = OpenedStorage['accounts'];
type Tenant = Awaited<ReturnType<Directory['tenants']['get']>>;

/** The name of the command line in the audit log. */
export const actor = 'cli';

/** Runs `work` on the database itself, whether a server runs on it or not. */
export async function withDirectory<T>(
  io: Io,
  work: (directory: Directory, accounts: Accounts) => Promise<T>,
): Promise<T> {
  const config = io.config();
  const { openStorage, createLogger } = await import('#app.ts');
  return withDatabase(config, async () => {
    const { database } = config;
    const isNew = database.kind === 'sqlite' && !existsSync(database.path);
    const opened = await openStorage(config, createLogger({ level: 'silent', format: 'json' }), 'command');
    if (isNew) io.stderr.write(`belfry: made a new database, ${resolve(database.path)}\n`);
    try {
      return await work(opened.directory, opened.accounts);
    } finally {
      await opened.close();
    }
  });
}

/** Runs `work`, and turns errors of the database file into messages for people. */
export async function withDatabase<T>(config: Config, work: () => T | Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw databaseFailure(error, config.database);
  }
}

/** The file of SQLite, which `command` works on. @throws Failure when the database is PostgreSQL's. */
export function sqliteFile({ database }: Config, command: string): string {
  if (database.kind === 'sqlite') return database.path;
  throw new Failure(`${command} is for SQLite; for PostgreSQL use pg_dump and pg_restore`);
}

export async function getTenant(io: Io, { tenants }: Directory, name: string): Promise<Tenant> {
  const found = await tenants.findByName(name);
  if (found) return found;
  throw new Failure(
    `there is no tenant "${name}": ${io.program} tenant list shows all, tenant create ${name} makes it`,
  );
}
