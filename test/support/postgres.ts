/** A PostgreSQL for tests: a new cluster in a temporary folder, with its own port. */
import { type ChildProcess, execFileSync, spawn, spawnSync } from 'node:child_process';
import { chmodSync, chownSync, existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import pg from 'pg';
import { freePort } from './free-port.ts';
import { missingPackage } from './skip-reason.ts';

/** The time limit of hooks that create and start a cluster. */
export const startMs = 180_000;

const debianFolder = '/usr/lib/postgresql';
/** The owner of test databases: not a superuser, so that policies apply as for a real server. */
const ownerRole = 'belfry_server';

export interface TestPostgres {
  /** The URL of the database `postgres`, as a superuser. */
  readonly url: string;
  /** The folder of its data. */
  readonly folder: string;
  readonly pid: number;
  /** Stops the server immediately like a crash, or with `'SIGINT'` like an operator, does `work`, and starts it again. */
  restart(work: () => Promise<void>, signal?: 'SIGINT' | 'SIGQUIT'): Promise<void>;
  stop(): Promise<void>;
}

/** Why there is no PostgreSQL here; undefined when there is. */
export const missingPostgres = () => missingPackage('postgresql', () => findPostgres() !== undefined);

/** Where initdb and postgres are; undefined when this machine has none. */
export function findPostgres(): string | undefined {
  const versions = existsSync(debianFolder)
    ? readdirSync(debianFolder).sort((a, b) => Number(b) - Number(a))
    : [];
  const folders = [
    ...versions.map((version) => join(debianFolder, version, 'bin')),
    ...(process.env.PATH ?? '').split(':'),
  ];
  return folders.find((folder) => existsSync(join(folder, 'initdb')) && existsSync(join(folder, 'postgres')));
}

export interface PostgresOptions {
  /** Keeps fsync on. Otherwise the cluster is faster, but not safe against power cuts. */
  readonly durable?: boolean;
  /** As in postgresql.conf. */
  readonly settings?: Readonly<Record<string, string>>;
}

export async function startPostgres({
  durable = false,
  settings: own = {},
}: PostgresOptions = {}): Promise<TestPostgres> {
  const binaries = findPostgres();
  if (!binaries) throw new Error('there is no PostgreSQL: look at missingPostgres() first');
  const { folder, data, options } = makeFolder();
  const init = ['-D', data, '-U', 'belfry', '-A', 'trust', '-E', 'UTF8', '--locale=C', '--no-sync'];
  execFileSync(join(binaries, 'initdb'), init, options);
  const port = await freePort();
  const settings = {
    listen_addresses: '127.0.0.1',
    port: String(port),
    unix_socket_directories: '',
    max_connections: '500',
    ...(durable ? {} : { fsync: 'off', full_page_writes: 'off', autovacuum_naptime: '5s' }),
    ...own,
  };
  const flags = Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
  const url = `postgres://belfry@127.0.0.1:${port}/postgres`;
  const start = async () => {
    const started = spawn(join(binaries, 'postgres'), ['-D', data, ...flags], options);
    started.unref();
    await untilReady(url, started);
    return started;
  };
  let server = await start();
  await withClient(url, (client) => client.query(`CREATE ROLE ${ownerRole} LOGIN`));
  const end = async (signal: 'SIGINT' | 'SIGQUIT') => {
    if (server.exitCode !== null) return;
    const ended = new Promise((resolve) => server.once('exit', resolve));
    server.ref();
    server.kill(signal);
    await ended;
  };
  return {
    url,
    folder,
    get pid() {
      return server.pid as number;
    },
    async restart(work, signal = 'SIGQUIT') {
      await end(signal);
      await work();
      server = await start();
    },
    async stop() {
      await end('SIGINT');
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** The path of a program of PostgreSQL's, such as pg_dump. */
export const postgresProgram = (name: string) => join(findPostgres() ?? '', name);

let databases = 0;

/** Creates an empty database; returns its URL. */
export async function createDatabase(serverUrl: string): Promise<string> {
  databases += 1;
  const name = `test_${process.pid}_${databases}`;
  await withClient(serverUrl, (client) => client.query(`CREATE DATABASE ${name} OWNER ${ownerRole}`));
  return ownUrl(serverUrl, name);
}

const known = new Set<string>();

/** The URL of a folder's database, which is created if it is missing. Synchronous, like creating a file. */
export function databaseOf(serverUrl: string, folder: string): string {
  const name = `test_${basename(folder).replace(/\W/g, '_')}`;
  if (known.has(name)) return ownUrl(serverUrl, name);
  known.add(name);
  const create = `CREATE DATABASE "${name}" OWNER ${ownerRole}`;
  const psql = spawnSync(postgresProgram('psql'), [serverUrl, '-qc', create], {
    encoding: 'utf8',
  });
  if (psql.status !== 0 && !psql.stderr.includes('already exists')) throw new Error(psql.stderr);
  return ownUrl(serverUrl, name);
}

function ownUrl(serverUrl: string, database: string): string {
  const url = new URL(serverUrl);
  url.username = ownerRole;
  url.pathname = `/${database}`;
  return url.href;
}

export async function dropDatabase(serverUrl: string, url: string): Promise<void> {
  const name = new URL(url).pathname.slice(1);
  await withClient(serverUrl, (client) => client.query(`DROP DATABASE "${name}" WITH (FORCE)`));
}

export async function withClient<T>(url: string, work: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client(url);
  client.on('error', () => undefined);
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}

/** A folder for a cluster, and the options to run its programs, because PostgreSQL refuses to run as root. */
export function makeFolder() {
  const folder = mkdtempSync(join(tmpdir(), 'belfry-postgres-'));
  const user = otherUser();
  if (user) {
    chmodSync(folder, 0o755);
    chownSync(folder, user.uid, user.gid);
  }
  return { folder, data: join(folder, 'data'), options: { ...user, cwd: folder, stdio: 'ignore' } as const };
}

export function otherUser(): { uid: number; gid: number } | undefined {
  if (process.getuid?.() !== 0) return undefined;
  const id = (flag: string) => Number(execFileSync('id', [flag, 'nobody'], { encoding: 'utf8' }));
  return { uid: id('-u'), gid: id('-g') };
}

export async function untilReady(url: string, server: ChildProcess): Promise<void> {
  const until = performance.now() + startMs / 2;
  for (;;) {
    try {
      await withClient(url, (client) => client.query('SELECT 1'));
      return;
    } catch (error) {
      if (server.exitCode !== null || performance.now() > until)
        throw new Error('PostgreSQL did not start', { cause: error });
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }
}
