import { statSync } from 'node:fs';
import { resolve } from 'node:path';
import type { Config, OpenedStorage } from '#server/app.ts';
import { databaseFailure, Failure } from '../failure.ts';
import type { Io } from '../io.ts';

export type Directory = OpenedStorage['directory'];
export type Accounts = OpenedStorage['accounts'];
type Tenant = Awaited<ReturnType<Directory['tenants']['get']>>;

/** The name of the command line in the audit log. */
export const actor = 'cli';

/** Whether a command may create the database. Other commands fail without one. */
export interface DatabaseUse {
  readonly makes: boolean;
}

/** Runs `work` on the database itself, whether a server runs on it or not. */
export async function withDirectory<T>(
  io: Io,
  use: DatabaseUse,
  work: (directory: Directory, accounts: Accounts) => Promise<T>,
): Promise<T> {
  const { openStorage, createLogger } = await import('#server/app.ts');
  return withOwnDatabase(io, use, async (config) => {
    const logger = createLogger({ level: 'silent', format: 'json' });
    const opened = await openStorage(config, logger, 'command', use);
    try {
      return await work(opened.directory, opened.accounts);
    } finally {
      await opened.close();
    }
  });
}

/** As {@link withDatabase}, for `work` that opens the database. Reports a database that it created. */
export async function withOwnDatabase<T>(
  io: Io,
  { makes }: DatabaseUse,
  work: (config: Config) => Promise<T>,
): Promise<T> {
  const config = io.config();
  return withDatabase(config, async () => {
    const { database } = config;
    const isNew = database.kind === 'sqlite' && !hasFile(database.path);
    if (isNew && !(makes && isPlaceChosen(io))) requireFile(io, database.path);
    const result = await work(config);
    if (isNew) io.stderr.write(`belfry: made a new database, ${resolve(database.path)}\n`);
    return result;
  });
}

const isNamed = ({ env }: Io): boolean =>
  Boolean(env.BELFRY_DATABASE_URL) || Boolean(env.BELFRY_DATABASE_URL_FILE);

/** Elsewhere a command may run in a wrong folder, and then it must not make a database there. */
const isPlaceChosen = (io: Io): boolean => isNamed(io) || io.program.startsWith('npm');

/** @throws Failure when there is no database of SQLite at `path`; Error when this user may not look. */
export function requireFile(io: Io, path: string): void {
  if (hasFile(path)) return;
  throw new Failure(
    isPlaceChosen(io)
      ? `there is no database at ${resolve(path)}: set BELFRY_DATABASE_URL to where it is`
      : `there is no database at ${resolve(path)}: start the server there first, or set BELFRY_DATABASE_URL to where it is; after an install by systemd, use /usr/local/bin/belfry`,
  );
}

/** Unlike existsSync, it throws where this user may not look. */
const hasFile = (path: string): boolean => statSync(path, { throwIfNoEntry: false }) !== undefined;

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

/** A new database has this tenant alone: a command that needs another one must not make it. */
export const isInNewDatabase = (tenant: string): boolean => tenant === 'default';

export async function getTenant(io: Io, { tenants }: Directory, name: string): Promise<Tenant> {
  const found = await tenants.findByName(name);
  if (found) return found;
  throw new Failure(
    `there is no tenant "${name}": ${io.program} tenant list shows all, tenant create ${name} makes it`,
  );
}
