/** Real proxies in front of a server, started with the configurations of deploy/ as they are but for names, ports and certificates. */
import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from '#test/support/free-port.ts';
import { Output, root } from '#test/support/server-process.ts';
import { missingPackage, runs } from '#test/support/skip-reason.ts';

export interface StartedProxy {
  readonly url: string;
  readonly port: number;
  /** What it printed, and its access log. */
  log(): string;
  stop(): Promise<void>;
}

export interface ProxyKind {
  readonly name: string;
  /** What is missing on this machine, after trying to install it; undefined: nothing. */
  missing(): string | undefined;
  start(upstreamPort: number): Promise<StartedProxy>;
}

export const nginx: ProxyKind = {
  name: 'nginx',
  missing: () => missingPackage('nginx-light', () => runs(['-v'], 'nginx')),
  async start(upstreamPort) {
    const [folder, port] = [newFolder('nginx'), await freePort()];
    const site = replaced('nginx.conf', [
      ['server 127.0.0.1:8080;', `server 127.0.0.1:${upstreamPort};`],
      ['    listen 80;', `    listen 127.0.0.1:${await freePort()};`],
      ['listen 443 ssl http2;', `listen 127.0.0.1:${port};`],
      ['/var/log/nginx/access.log', join(folder, accessLog)],
      [/^ *ssl_\w+ .*$/gm, ''],
    ]);
    writeFileSync(join(folder, 'belfry.conf'), site);
    const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'];
    for (const name of temporary) mkdirSync(join(folder, name));
    writeFileSync(
      join(folder, 'nginx.conf'),
      `daemon off; ${process.getuid?.() === 0 ? 'user root;' : ''} worker_processes 2; pid ${folder}/pid; error_log stderr warn;
      events { worker_connections 4096; }
      http { access_log off; ${temporary.map((name) => `${name}_temp_path ${folder}/${name};`).join(' ')} include ${folder}/belfry.conf; }`,
    );
    return run('nginx', ['-c', join(folder, 'nginx.conf'), '-e', 'stderr'], { folder, port });
  },
};

export const caddy: ProxyKind = {
  name: 'Caddy',
  missing: () => missingPackage('caddy', () => runs(['version'], 'caddy')),
  async start(upstreamPort) {
    const [folder, port] = [newFolder('caddy'), await freePort()];
    const site = replaced('Caddyfile', [
      ['reverse_proxy 127.0.0.1:8080', `reverse_proxy 127.0.0.1:${upstreamPort}`],
      [/^belfry\.example\.org \{$/m, `http://:${port} {`],
      [/^\{$/m, '{\n\tadmin off\n'],
    ]);
    writeFileSync(join(folder, 'Caddyfile'), site);
    return run('caddy', ['run', '--config', join(folder, 'Caddyfile'), '--adapter', 'caddyfile'], {
      folder,
      port,
    });
  },
};

/** No proxy at all: what is tried behind the others is tried on the server itself too. */
export const nothing: ProxyKind = {
  name: 'nothing',
  missing: () => undefined,
  start: async (port) => ({
    url: `http://127.0.0.1:${port}`,
    port,
    log: () => '',
    stop: async () => undefined,
  }),
};

/** In the folder of a proxy. */
const accessLog = 'access.log';

/** The file of deploy/ with some of its lines replaced. @throws Error when one of them is not there any more. */
function replaced(file: string, changes: readonly (readonly [string | RegExp, string])[]): string {
  let text = readFileSync(join(root, 'deploy', file), 'utf8');
  for (const [what, by] of changes) {
    const next = text.replace(what, by);
    if (next === text) throw new Error(`deploy/${file} has no ${what} any more: mend test/torture/proxies`);
    text = next;
  }
  return text;
}

const newFolder = (name: string) => mkdtempSync(join(tmpdir(), `belfry-${name}-`));

async function run(
  command: string,
  args: readonly string[],
  { folder, port }: { readonly folder: string; readonly port: number },
): Promise<StartedProxy> {
  const child = spawn(command, args, {
    env: { ...process.env, HOME: folder, XDG_DATA_HOME: folder, XDG_CONFIG_HOME: folder },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const output = new Output(child);
  const requests = join(folder, accessLog);
  const url = `http://127.0.0.1:${port}`;
  for (let attempt = 0; ; attempt++) {
    const answered = await fetch(`${url}/healthz`).then(
      () => true,
      () => false,
    );
    if (answered) break;
    if (attempt > 100) throw new Error(`${command} does not answer\n${output.text}`);
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  return {
    url,
    port,
    log: () => output.text + (existsSync(requests) ? readFileSync(requests, 'utf8') : ''),
    async stop() {
      child.kill('SIGTERM');
      const impatient = setTimeout(() => child.kill('SIGKILL'), 10_000);
      await output.exited;
      clearTimeout(impatient);
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
