/** A NATS server for tests. */
import { spawn, spawnSync } from 'node:child_process';
import { freePort } from './postgres.ts';
import { Output } from './server-process.ts';

export interface TestNats {
  readonly url: string;
  readonly port: number;
  /** Kills the server, does `work`, and starts it again on the same port. */
  restart(work?: () => Promise<void>): Promise<void>;
  stop(): Promise<void>;
}

const works = () => spawnSync('nats-server', ['--version'], { stdio: 'ignore' }).status === 0;

/** Why there is no NATS server here; undefined when there is. Root installs Debian's package. Pass it to {@link gap}. */
export function missingNats(): string | undefined {
  if (works()) return undefined;
  if (process.getuid?.() === 0) {
    console.error('installing nats-server with apt-get, which takes some seconds');
    for (const step of [['update'], ['install', '-y', '--no-install-recommends', 'nats-server']])
      spawnSync('apt-get', step, { stdio: 'ignore', timeout: 300_000 });
    if (works()) return undefined;
  }
  return 'nats-server is needed here and cannot be installed by this user: sudo apt-get install nats-server';
}

export async function startNats(args: readonly string[] = []): Promise<TestNats> {
  const port = await freePort();
  const start = async () => {
    const child = spawn('nats-server', ['-a', '127.0.0.1', '-p', String(port), ...args], {
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const output = new Output(child);
    await output.match(/Server is ready/);
    return { child, output };
  };
  let server = await start();
  const end = async () => {
    server.child.kill('SIGKILL');
    await server.output.exited;
  };
  return {
    url: `nats://127.0.0.1:${port}`,
    port,
    async restart(work = async () => undefined) {
      await end();
      await work();
      server = await start();
    },
    stop: end,
  };
}
