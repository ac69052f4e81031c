/** A NATS server for tests. */
import { spawn } from 'node:child_process';
import { freePort } from './free-port.ts';
import { Output } from './server-process.ts';
import { missingPackage, runs } from './skip-reason.ts';

export interface TestNats {
  readonly url: string;
  readonly port: number;
  /** Kills the server, does `work`, and starts it again on the same port. */
  restart(work?: () => Promise<void>): Promise<void>;
  stop(): Promise<void>;
}

/** Why there is no NATS server here; undefined when there is. */
export const missingNats = () => missingPackage('nats-server', () => runs(['--version'], 'nats-server'));

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
