/** A synchronous standby of a test's PostgreSQL. */
import { execFileSync, spawn } from 'node:child_process';
import { appendFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { eventually } from './eventually.ts';
import { freePort } from './free-port.ts';
import { findPostgres, makeFolder, type TestPostgres, untilReady, withClient } from './postgres.ts';

export interface Standby extends Pick<TestPostgres, 'url' | 'pid' | 'stop'> {
  /** Promotes it to the primary. */
  promote(): Promise<void>;
}

/** Copies and follows a primary. Resolves once commits of the primary wait for this standby. */
export async function startStandby(primary: Pick<TestPostgres, 'url'>): Promise<Standby> {
  const binaries = findPostgres() ?? '';
  const { folder, data, options } = makeFolder();
  const copy = ['-d', primary.url, '-D', data, '-R', '-X', 'stream', '--checkpoint=fast', '--no-sync'];
  execFileSync(join(binaries, 'pg_basebackup'), copy, options);
  // The copied configuration may name a standby, which this one does not have.
  const own = join(data, 'postgresql.auto.conf');
  appendFileSync(own, "synchronous_standby_names = ''\n");
  const port = await freePort();
  const settings = [
    ...['listen_addresses=127.0.0.1', `port=${port}`, 'unix_socket_directories='],
    'max_connections=500',
  ];
  const flags = settings.flatMap((setting) => ['-c', setting]);
  const url = new URL(primary.url);
  url.port = String(port);
  const server = spawn(join(binaries, 'postgres'), ['-D', data, ...flags], options);
  server.unref();
  await untilReady(url.href, server);
  await withClient(primary.url, async (client) => {
    await client.query("ALTER SYSTEM SET synchronous_standby_names = '*'");
    await client.query('SELECT pg_reload_conf()');
    await eventually(async () => {
      const { rows } = await client.query("SELECT 1 FROM pg_stat_replication WHERE sync_state = 'sync'");
      if (rows.length === 0) throw new Error('the standby is not synchronous yet');
    });
  });
  return {
    url: url.href,
    pid: server.pid as number,
    promote: () => withClient(url.href, async (client) => void (await client.query('SELECT pg_promote()'))),
    async stop() {
      if (server.exitCode === null && server.signalCode === null) {
        const ended = new Promise((resolve) => server.once('exit', resolve));
        server.kill('SIGQUIT');
        await ended;
      }
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
