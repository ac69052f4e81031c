import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, afterEach, expect, test } from 'vitest';
import { endServers, ServerProcess } from '#test/support/server-process.ts';
import { credentials } from '#test/support/storage.ts';
import { readHistory } from '../api-clients.ts';
import { withDefect } from '../control/defects.ts';
import { countOf, full, timeLimit } from '../counts.ts';
import { report } from '../report.ts';
import { type LoadResult, perSecond, runLoad } from './http-load.ts';

const folder = mkdtempSync(join(tmpdir(), 'belfry-overload-'));
afterEach(endServers);
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const seconds = countOf('overloadSeconds');
const closed = { connections: 64, seconds };
/** Asserted with full counts only, because the short form runs beside other tests and measures them too. */
const bounds = { waitMs: 1_000, goodput: 0.8, neighbour: 2, neighbourMs: 20, refusal: 0.4, storm: 0.9 };

const median = (values: readonly number[]) => values.toSorted((a, b) => a - b)[values.length >> 1] as number;

/** The processor time of a process, in seconds. */
function processorSeconds(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8')
    .replace(/^.*\) /s, '')
    .split(' ');
  return (Number(fields[11]) + Number(fields[12])) / 100;
}

/** The acknowledged names that history does not have under the acknowledged id. */
async function findLost(url: string, key: string, loads: readonly LoadResult[]): Promise<string[]> {
  const recorded = new Map((await readHistory(url, key)).map(({ name, id }) => [name, id]));
  return loads.flatMap(({ acknowledged }) =>
    acknowledged.filter(([name, id]) => recorded.get(name) !== id).map(([name]) => name),
  );
}

test('five times as much as there is room for: what is accepted is answered in time, the rest is refused, nothing is lost', {
  timeout: timeLimit(120_000),
}, async () => {
  const own = join(folder, 'flood');
  const { token, key } = await credentials(own);
  const server = await ServerProcess.start({ folder: own });
  const common = { port: server.port, token };
  await runLoad({ ...common, ...closed, name: 'warm', seconds: full ? 2 : 1 });
  const before = await runLoad({ ...common, ...closed, name: 'before' });
  const offered = 5 * perSecond(before, '200');
  const flood = await runLoad({ ...common, name: 'flood', perSecond: offered, connections: 2_000, seconds });
  const after = await runLoad({ ...common, ...closed, name: 'after' });

  const peak = median([perSecond(before, '200'), perSecond(after, '200')]);
  const goodput = perSecond(flood, '200') / peak;
  const missing = await findLost(server.url, key, [before, flood, after]);
  const refused = flood.statuses['503'] ?? 0;
  report({
    promise: 'overload: accepted p99 ≤ 1 s, goodput ≥ 80 % of peak, the rest refused, nothing lost',
    method:
      'peak by 64 connections that wait for their answers, then five times that at a fixed rate over at most 2,000 connections',
    count: `${Math.round(offered)}/s offered for ${seconds} s`,
    result: `peak ${Math.round(peak)}/s, goodput ${Math.round(goodput * 100)} %, accepted p99 ${flood.accepted.p99} ms, ${refused} × 503, ${flood.unsent} not sent as no connection was free, ${missing.length} lost`,
  });
  expect(missing).toEqual([]);
  expect(Object.keys(flood.statuses).filter((status) => !['200', '503'].includes(status))).toEqual([]);
  expect(flood.withoutRetryAfter).toBe(0);
  if (full) {
    expect(goodput).toBeGreaterThanOrEqual(bounds.goodput);
    expect(flood.accepted.p99).toBeLessThanOrEqual(bounds.waitMs);
  }
  expect((await fetch(`${server.url}/readyz`)).status).toBe(200);
});

if (full)
  test(
    'a refusal under overload costs a part of what an answer does',
    { timeout: timeLimit(60_000) },
    refusalsAreCheap,
  );

async function refusalsAreCheap(): Promise<void> {
  const taken = await costOfEach('200', () => belfryThat('takes', {}), 64);
  const refused = await costOfEach('503', () => belfryThat('refuses', withDefect('refuses-all')), 1_000);
  const bare = await costOfEach('503', bareServer, 1_000);
  const share = refused / taken;
  const micros = (seconds: number) => Math.round(seconds * 1e6);
  report({
    promise: 'a refusal under overload costs a fifth of an answer',
    method:
      'processor time of the server for each, all accepted or all refused, after connecting and warming up; for comparison a bare HTTP server of the same runtime that only refuses',
    count: `${seconds} s each`,
    result: `${micros(taken)} µs a 200, ${micros(refused)} µs a 503: ${Math.round(share * 100)} %; the bare server’s 503 takes ${micros(bare)} µs`,
  });
  // The goal is a fifth; a bare server shows the lower limit.
  expect(share).toBeLessThan(bounds.refusal);
}

interface Target {
  readonly server: ServerProcess;
  readonly token: string;
}

async function belfryThat(name: string, env: Record<string, string>): Promise<Target> {
  const own = join(folder, name);
  const { token } = await credentials(own);
  return { server: await ServerProcess.start({ folder: own, env }), token };
}

async function bareServer(): Promise<Target> {
  const script = fileURLToPath(new URL('./bare-server.ts', import.meta.url));
  const command = [process.execPath, '--disable-warning=ExperimentalWarning', script];
  return { server: await ServerProcess.run(command, process.env, { status: null }), token: 'none' };
}

/** The processor time of each answer of a kind, in seconds, without the opening of connections. */
async function costOfEach(
  status: string,
  start: () => Promise<Target>,
  connections: number,
): Promise<number> {
  const { server, token } = await start();
  const samples: { processor: number; answers: number }[] = [];
  const common = { port: server.port, token, connections, name: 'cost', seconds: 2 * seconds };
  await runLoad(common, (soFar) =>
    samples.push({ processor: processorSeconds(server.pid), answers: soFar[status] ?? 0 }),
  );
  await server.end('SIGTERM');
  const [warm, last] = [samples[(samples.length >> 1) - 1], samples.at(-1)] as [
    (typeof samples)[0],
    (typeof samples)[0],
  ];
  return (last.processor - warm.processor) / (last.answers - warm.answers);
}

test('a tenant at ten times its limit leaves its neighbour in peace', {
  timeout: timeLimit(120_000),
}, async () => {
  const own = join(folder, 'neighbours');
  const { token: loud, key } = await credentials(own);
  const { token: quiet } = await credentials(own, { tenant: 'quiet' });
  // The short form sends little, so that a busy machine can carry more than the limit.
  const [limit, rounds, turnSeconds] = full ? [100, 3, Math.ceil(seconds / 3)] : [10, 1, seconds];
  const server = await ServerProcess.start({
    folder: own,
    env: { BELFRY_RATE_TENANT: `${limit}:${limit}` },
  });
  const p99s: { alone: number; beside: number }[] = [];
  const louds: LoadResult[] = [];
  const listen = (name: string) =>
    runLoad({
      port: server.port,
      token: quiet,
      name,
      perSecond: limit / 2,
      connections: 8,
      seconds: turnSeconds,
    });
  await listen('warm');
  for (let round = 0; round < rounds; round++) {
    const alone = await listen(`alone-${round}`);
    const [result, beside] = await Promise.all([
      runLoad({
        port: server.port,
        token: loud,
        name: `loud-${round}`,
        perSecond: 10 * limit,
        connections: 64,
        seconds: turnSeconds,
      }),
      listen(`beside-${round}`),
    ]);
    louds.push(result);
    p99s.push({ alone: alone.accepted.p99, beside: beside.accepted.p99 });
    expect(Object.keys(beside.statuses).filter((status) => status !== '200')).toEqual([]);
  }
  const ratio = median(p99s.map(({ alone, beside }) => beside / alone));
  const took = { alone: median(p99s.map((r) => r.alone)), beside: median(p99s.map((r) => r.beside)) };
  const refused = louds.reduce((all, { statuses }) => all + (statuses['429'] ?? 0), 0);
  const missing = await findLost(server.url, key, louds);
  report({
    promise: 'a tenant at ten times its limit: its neighbour’s p99 ≤ 2×',
    method: `${10 * limit}/s against a limit of ${limit}/s, beside ${limit / 2}/s of another tenant, which is also measured alone`,
    count: `${rounds} rounds of ${turnSeconds} s`,
    result: `neighbour’s p99 ${took.alone} ms alone, ${took.beside} ms beside it (${ratio.toFixed(2)}×); ${refused} × 429, ${missing.length} lost`,
  });
  expect(missing).toEqual([]);
  expect(refused).toBeGreaterThan(full ? 100 : 0);
  // Below a few milliseconds the test would measure the machine.
  if (full)
    expect(took.beside).toBeLessThanOrEqual(Math.max(bounds.neighbour * took.alone, bounds.neighbourMs));
});

test('a storm of searches does not hold up intake', { timeout: timeLimit(120_000) }, async () => {
  const own = join(folder, 'storm');
  const { token, key } = await credentials(own);
  const server = await ServerProcess.start({ folder: own });
  const common = { port: server.port, token };
  const filled = await runLoad({ ...common, ...closed, name: 'fill' });
  const rate = perSecond(filled, '200') / 4;
  const alone = await runLoad({ ...common, name: 'alone', perSecond: rate, connections: 256, seconds });
  let searches = 0;
  let failed = 0;
  let stopped = false;
  const queries = [
    'sent',
    'title:fill',
    'level:info',
    'message:sen* -title:before',
    '"sent as" OR host:x',
    '',
  ];
  const searcher = async (i: number) => {
    for (let n = i; !stopped; n++) {
      const q = encodeURIComponent(queries[n % queries.length] as string);
      const answer = await fetch(`${server.url}/api/history?limit=200&q=${q}`, {
        headers: { authorization: `Bearer ${key}` },
      });
      await answer.arrayBuffer();
      searches += 1;
      if (answer.status !== 200) failed += 1;
    }
  };
  const storm = Promise.all(Array.from({ length: 16 }, (_, i) => searcher(i)));
  const beside = await runLoad({ ...common, name: 'beside', perSecond: rate, connections: 256, seconds });
  stopped = true;
  await storm;
  const kept = perSecond(beside, '200') / perSecond(alone, '200');
  const missing = await findLost(server.url, key, [filled, alone, beside]);
  report({
    promise: 'a storm of searches costs intake ≤ 10 %',
    method: 'a quarter of the peak at a fixed rate, alone and beside 16 readers that search without a pause',
    count: `${searches} searches in ${seconds} s, ${Math.round(rate)}/s offered`,
    result: `${Math.round(kept * 100)} % of the intake alone, p99 ${alone.accepted.p99} → ${beside.accepted.p99} ms, ${failed} searches refused, ${missing.length} lost`,
  });
  expect(missing).toEqual([]);
  expect(failed).toBe(0);
  expect(Object.keys(beside.statuses).filter((status) => status !== '200')).toEqual([]);
  if (full) expect(kept).toBeGreaterThanOrEqual(bounds.storm);
});
