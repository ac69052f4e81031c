/**
 * Intake compared with other services, each with its own protocol. Settings name their URLs: BENCH_PEER_NTFY, BENCH_PEER_GOTIFY
 * (with BENCH_PEER_GOTIFY_TOKEN) and BENCH_PEER_ALERTMANAGER are their base URLs, BENCH_PEER_URL any address that takes the
 * notification as JSON. Alertmanager is also started where Debian's prometheus-alertmanager is.
 */
import { spawn, spawnSync } from 'node:child_process';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { freePort } from '#test/support/free-port.ts';
import { ServerProcess } from '#test/support/server-process.ts';
import { credentials } from '#test/support/storage.ts';
import { bearer, type LoadOptions, type LoadResult, runLoad } from './http-load.ts';
import { benchFolder } from './machine.ts';
import { notification } from './notification-sample.ts';
import { median, ms, spread, table, times, whole } from './statistics.ts';

type Target = Pick<LoadOptions, 'url' | 'headers' | 'body'>;

const rounds = Number(process.env.BENCH_ROUNDS ?? 5);
const goal = 3;
const { env } = process;
const folder = benchFolder();
const stops: (() => unknown)[] = [];
try {
  const { token } = await credentials(folder);
  const server = await ServerProcess.start({ folder });
  stops.push(() => server.end('SIGTERM'));
  const ours: Target = { url: `${server.url}/api/notify`, headers: [bearer(token)], body: notification };
  const alertmanager = env.BENCH_PEER_ALERTMANAGER ?? (await startAlertmanager());
  const peers: [name: string, target: Target | undefined, how: string][] = [
    ['ntfy', env.BENCH_PEER_NTFY ? ntfy(env.BENCH_PEER_NTFY) : undefined, 'BENCH_PEER_NTFY'],
    ['Gotify', env.BENCH_PEER_GOTIFY ? gotify(env.BENCH_PEER_GOTIFY) : undefined, 'BENCH_PEER_GOTIFY'],
    [
      'Alertmanager',
      alertmanager ? alerts(alertmanager) : undefined,
      'BENCH_PEER_ALERTMANAGER, or apt-get install prometheus-alertmanager',
    ],
    [
      'the service at BENCH_PEER_URL',
      env.BENCH_PEER_URL ? { url: env.BENCH_PEER_URL, headers: [{}], body: notification } : undefined,
      'BENCH_PEER_URL',
    ],
  ];
  for (const [name, target, how] of peers)
    if (!target) console.log(`${name} is skipped: it is not here (${how}).`);
  const lines = [['peer', 'Belfry', 'peer', 'ratio', 'p99, Belfry', 'p99, peer', 'goal']];
  for (const [name, target] of peers) if (target) lines.push(await compare(name, ours, target));
  if (lines.length > 1) console.log(`\n${table(lines)}`);
} finally {
  for (const stop of stops.reverse()) await stop();
  rmSync(folder, { recursive: true, force: true });
}

async function compare(name: string, ours: Target, theirs: Target): Promise<string[]> {
  const [a, b]: [LoadResult[], LoadResult[]] = [[], []];
  for (let round = 0; round < rounds; round++) {
    const turns = [
      async () => a.push(await measureLoad(ours)),
      async () => b.push(await measureLoad(theirs)),
    ];
    for (const turn of round % 2 === 0 ? turns : turns.toReversed()) await turn();
  }
  const ratios = a.map(({ perSecond }, i) => perSecond / (b[i]?.perSecond ?? Number.NaN));
  const rate = (runs: readonly LoadResult[]) =>
    spread(
      runs.map(({ perSecond }) => perSecond),
      whole,
    );
  const tail = (runs: readonly LoadResult[]) => ms(median(runs.map(({ p99 }) => p99)));
  return [
    name,
    rate(a),
    rate(b),
    spread(ratios, times),
    tail(a),
    tail(b),
    `≥ ${goal}×: ${median(ratios) >= goal ? 'reached' : 'missed'}`,
  ];
}

async function measureLoad(target: Target): Promise<LoadResult> {
  await runLoad({ ...target, connections: 64, seconds: 1 });
  return runLoad({ ...target, connections: 64, seconds: 3 });
}

function ntfy(base: string): Target {
  const { title, message } = JSON.parse(notification) as { title: string; message: string };
  return {
    url: new URL('/belfry-bench', base).href,
    headers: [{ Title: title, Priority: '4', 'Content-Type': 'text/plain' }],
    body: message,
  };
}

function gotify(base: string): Target {
  const { title, message } = JSON.parse(notification) as { title: string; message: string };
  return {
    url: new URL('/message', base).href,
    headers: [{ 'X-Gotify-Key': env.BENCH_PEER_GOTIFY_TOKEN ?? '' }],
    body: JSON.stringify({ title, message, priority: 5 }),
  };
}

function alerts(base: string): Target {
  const { title, message, host } = JSON.parse(notification) as Record<string, string>;
  const body = JSON.stringify([
    { labels: { alertname: title, instance: host, severity: 'warning' }, annotations: { summary: message } },
  ]);
  return { url: new URL('/api/v2/alerts', base).href, headers: [{}], body };
}

async function startAlertmanager(): Promise<string | undefined> {
  if (spawnSync('prometheus-alertmanager', ['--version'], { stdio: 'ignore' }).status !== 0) return undefined;
  const port = await freePort();
  const child = spawn(
    'prometheus-alertmanager',
    [
      `--web.listen-address=127.0.0.1:${port}`,
      '--cluster.listen-address=',
      `--storage.path=${join(folder, 'alertmanager')}`,
      '--config.file=/etc/prometheus/alertmanager.yml',
    ],
    { stdio: 'ignore' },
  );
  stops.push(() => child.kill('SIGTERM'));
  const url = `http://127.0.0.1:${port}`;
  for (let tries = 0; tries < 50; tries++) {
    const well = await fetch(`${url}/-/ready`).then(
      ({ ok }) => ok,
      () => false,
    );
    if (well) return url;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  return undefined;
}
