/** An external load tool: wrk, or autocannon where that cannot be installed: it needs more of the machine. */
import { execFile, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { installPackages } from '#test/support/packages.ts';
import { root, type ServerProcess } from '#test/support/server-process.ts';
import { threadMicros } from './machine.ts';

export interface LoadOptions {
  readonly url: string;
  /** Headers of each request in addition to the content type. Several sets alternate, if the tool can do that (wrk). */
  readonly headers: readonly Readonly<Record<string, string>>[];
  readonly body: string;
  readonly connections: number;
  readonly seconds: number;
}

export interface LoadResult {
  readonly perSecond: number;
  readonly p50: number;
  readonly p99: number;
}

/** With the processor time of a request on the main thread and on the busiest other thread, the writer. */
export interface MeasuredLoad extends LoadResult {
  readonly mainMicros: number;
  readonly writerMicros: number;
}

const run = promisify(execFile);
export const bearer = (token: string) => ({ Authorization: `Bearer ${token}` });
const isWrkThere = () => spawnSync('wrk', ['-v'], { stdio: 'ignore' }).error === undefined;
if (!isWrkThere()) installPackages(['wrk']);
export const loadTool = isWrkThere() ? 'wrk' : 'autocannon';

/** POSTs one body over and over. @throws Error when any answer is not a 2xx, or a connection failed. */
export function runLoad(load: LoadOptions): Promise<LoadResult> {
  return loadTool === 'wrk' ? runWrk(load) : runAutocannon(load);
}

async function runWrk({ url, headers, body, connections, seconds }: LoadOptions): Promise<LoadResult> {
  const folder = mkdtempSync(join(tmpdir(), 'belfry-wrk-'));
  const script = join(folder, 'post.lua');
  const set = (name: string, value: string) => `["${name}"] = "${value}"`;
  const each = headers.map((more) => {
    const all = { 'Content-Type': 'application/json', ...more };
    return `{ ${Object.entries(all)
      .map(([name, value]) => set(name, value))
      .join(', ')} },`;
  });
  const lines = [
    'local all, made, turn = {',
    ...each,
    '}, {}, 0',
    `init = function() for i, headers in ipairs(all) do made[i] = wrk.format("POST", nil, headers, [==[${body}]==]) end end`,
    'request = function() turn = turn % #made + 1; return made[turn] end',
  ];
  writeFileSync(script, lines.join('\n'));
  try {
    const args = [
      '-t',
      '1',
      '--timeout',
      '10s',
      '-c',
      String(connections),
      '-d',
      `${seconds}s`,
      '--latency',
      '-s',
      script,
      url,
    ];
    const { stdout } = await run('wrk', args);
    const trouble = /Non-2xx.*|Socket errors.*/.exec(stdout)?.[0];
    if (trouble) throw new Error(`wrk on ${url}: ${trouble}`);
    const find = (pattern: RegExp) => pattern.exec(stdout)?.[1] ?? '';
    return {
      perSecond: Number(find(/Requests\/sec:\s+([\d.]+)/)),
      p50: inMs(find(/^\s+50%\s+(\S+)/m)),
      p99: inMs(find(/^\s+99%\s+(\S+)/m)),
    };
  } finally {
    rmSync(folder, { recursive: true });
  }
}

async function runAutocannon({ url, headers, body, connections, seconds }: LoadOptions): Promise<LoadResult> {
  const { stdout } = await run(
    process.execPath,
    [
      join(root, 'node_modules/autocannon/autocannon.js'),
      ...['-c', String(connections), '-d', String(seconds), '-m', 'POST', '-b', body, '--json', '-n'],
      ...['-H', 'content-type=application/json'],
      ...Object.entries(headers[0] ?? {}).flatMap(([name, value]) => ['-H', `${name}=${value}`]),
      url,
    ],
    { maxBuffer: 2 ** 24 },
  );
  const { requests, latency, non2xx, errors } = JSON.parse(stdout) as {
    requests: { average: number };
    latency: { p50: number; p99: number };
    non2xx: number;
    errors: number;
  };
  if (non2xx + errors > 0) throw new Error(`autocannon on ${url}: ${non2xx} not 2xx, ${errors} errors`);
  return { perSecond: requests.average, p50: latency.p50, p99: latency.p99 };
}

function inMs(text: string): number {
  const [, number = '', unit = ''] = /^([\d.]+)(us|ms|s|m)$/.exec(text) ?? [];
  return Number(number) * ({ us: 0.001, ms: 1, s: 1000, m: 60_000 }[unit] ?? Number.NaN);
}

/** A load of notifications, and what the server spent on it. */
export async function measureLoad(
  server: ServerProcess,
  options: Omit<LoadOptions, 'url'>,
): Promise<MeasuredLoad> {
  const before = threadMicros(server.pid);
  const result = await runLoad({ ...options, url: `${server.url}/api/notify` });
  const requests = result.perSecond * options.seconds;
  const spent = [...threadMicros(server.pid)].map(([thread, after]) => ({
    isMain: thread === String(server.pid),
    micros: (after - (before.get(thread) ?? 0)) / requests,
  }));
  return {
    ...result,
    mainMicros: spent.find(({ isMain }) => isMain)?.micros ?? Number.NaN,
    writerMicros: Math.max(...spent.filter(({ isMain }) => !isMain).map(({ micros }) => micros)),
  };
}
