/** HAProxy in front of several nodes: a request goes to any that is ready. A node that is slow to say so, on a busy machine, still is. */
import { spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from '#test/support/postgres.ts';
import { Output } from '#test/support/server-process.ts';

export interface Balancer {
  readonly url: string;
  stop(): Promise<void>;
}

const works = () => spawnSync('haproxy', ['-v'], { stdio: 'ignore' }).status === 0;

/** Why there is no HAProxy here; undefined when there is. Root installs Debian's package. */
export function missingHaproxy(): string | undefined {
  if (works()) return undefined;
  if (process.getuid?.() === 0) {
    console.error('installing haproxy with apt-get, which takes some seconds');
    for (const step of [['update'], ['install', '-y', '--no-install-recommends', 'haproxy']])
      spawnSync('apt-get', step, { stdio: 'ignore', timeout: 300_000 });
    if (works()) return undefined;
  }
  return 'haproxy is needed here and cannot be installed by this user: sudo apt-get install haproxy';
}

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
