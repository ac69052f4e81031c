/** The reference for fan-out: nginx with the nchan module, as Debian packages it (libnginx-mod-nchan). */
import { execFileSync, spawn } from 'node:child_process';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { freePort } from '#test/support/free-port.ts';
import { Output } from '#test/support/server-process.ts';

const modules = [
  '/usr/lib/nginx/modules/ngx_nchan_module.so',
  '/usr/lib64/nginx/modules/ngx_nchan_module.so',
];

export interface Nchan {
  readonly port: number;
  stop(): Promise<void>;
}

/** Starts it in the foreground; undefined if it is not installed. */
export async function startNchan(folder: string): Promise<Nchan | undefined> {
  const module = modules.find((path) => existsSync(path));
  if (!module || !hasNginx()) return undefined;
  const port = await freePort();
  mkdirSync(join(folder, 'nginx'), { recursive: true });
  const path = join(folder, 'nginx', 'nginx.conf');
  writeFileSync(path, configuration(module, port, join(folder, 'nginx')));
  const child = spawn('nginx', ['-c', path, '-e', join(folder, 'nginx', 'error.log')], {
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const { exited } = new Output(child);
  await answers(port);
  return {
    port,
    async stop() {
      child.kill('SIGTERM');
      await exited;
    },
  };
}

/** One worker: with more, messages cross shared memory between them, and on few cores that is slower. */
function configuration(module: string, port: number, folder: string): string {
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'];
  return `load_module ${module};
daemon off;
worker_processes 1;
pid ${folder}/pid;
${process.getuid?.() === 0 ? 'user root;' : ''}
events { worker_connections 8192; }
http {
  access_log off;
  tcp_nodelay on;
  keepalive_requests 1000000;
${temporary.map((name) => `  ${name}_temp_path ${folder}/${name};`).join('\n')}
  server {
    listen 127.0.0.1:${port};
    location = /healthz { return 200; }
    location = /pub {
      nchan_publisher;
      nchan_channel_id bench;
      nchan_message_buffer_length 20000;
      nchan_message_timeout 10m;
    }
    location = /sub {
      nchan_subscriber eventsource;
      nchan_channel_id bench;
      nchan_subscriber_first_message newest;
    }
  }
}
`;
}

async function answers(port: number): Promise<void> {
  for (let tries = 0; ; tries++) {
    try {
      await fetch(`http://127.0.0.1:${port}/healthz`);
      return;
    } catch (error) {
      if (tries >= 50) throw error;
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
  }
}

function hasNginx(): boolean {
  try {
    execFileSync('nginx', ['-v'], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}
