/** HAProxy in front of several nodes: a request goes to any that is ready. A node that is slow to say so, on a busy machine, still is. */
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from '#test/support/free-port.ts';
import { Output } from '#test/support/server-process.ts';
import { missingPackage, runs } from '#test/support/skip-reason.ts';

export interface Balancer {
  readonly url: string;
  stop(): Promise<void>;
}

/** Why there is no HAProxy here; undefined when there is. */
export const missingHaproxy = () => missingPackage('haproxy', () => runs(['-v'], 'haproxy'));

export async function startHaproxy(ports: readonly number[]): Promise<Balancer> {
  const folder = mkdtempSync(join(tmpdir(), 'belfry-haproxy-'));
  const port = await freePort();
  const file = join(folder, 'haproxy.cfg');
  writeFileSync(
    file,
    `global
  maxconn 2000
defaults
  mode http
  timeout connect 1s
  timeout check 5s
  timeout client 60s
  timeout server 60s
  option redispatch 1
frontend all
  bind 127.0.0.1:${port}
  default_backend nodes
backend nodes
  balance roundrobin
  option httpchk GET /healthz
  default-server inter 200ms fall 1 rise 1
${ports.map((each, i) => `  server n${i} 127.0.0.1:${each} check`).join('\n')}
`,
  );
  const child = spawn('haproxy', ['-f', file, '-db'], { stdio: ['ignore', 'pipe', 'pipe'] });
  const output = new Output(child);
  const url = `http://127.0.0.1:${port}`;
  for (let attempt = 0; ; attempt++) {
    const isReady = await fetch(`${url}/healthz`).then(
      ({ ok }) => ok,
      () => false,
    );
    if (isReady) break;
    if (attempt > 200) throw new Error(`haproxy does not answer\n${output.text}`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  return {
    url,
    async stop() {
      child.kill('SIGTERM');
      await output.exited;
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
