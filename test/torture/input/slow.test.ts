import { spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { wrongWith } from '#test/support/fuzz.ts';
import { limitMs } from '#test/support/patience.ts';
import { RawConnection } from '#test/support/raw-http.ts';
import { endServers, ServerProcess } from '#test/support/server-process.ts';
import { missingPackage } from '#test/support/skip-reason.ts';
import { credentials } from '#test/support/storage.ts';
import { countOf, full, timeLimit } from '../counts.ts';
import { report } from '../report.ts';

const slowClients = countOf('slowClients');
/** Of 16 kB each. */
const messages = countOf('messagesToRead');
/** The promise is 10 s for a head and 15 s for a request; the server looks every two. */
const endsWithinMs = 20_000;

let folder: string;
let server: ServerProcess;
let token: string;
let key: string;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'belfry-slow-'));
  ({ token, key } = await credentials(folder));
  server = await ServerProcess.start({ folder, env: { BELFRY_RATE_AUTH: 'off' } });
  // Something for slow readers to read.
  const message = 'm'.repeat(16_000);
  for (let i = 0; i < messages; i += 50)
    for (const { status } of await Promise.all(
      Array.from({ length: 50 }, (_, k) => send({ title: `${i + k}`, message })),
    ))
      expect(status).toBe(200);
});
afterAll(async () => {
  await endServers();
  rmSync(folder, { recursive: true, force: true });
});

const send = (json: object) =>
  fetch(`${server.url}/api/notify`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: JSON.stringify(json),
  });

const head = () => `POST /api/notify HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${token}\r\n`;
/** How each begins, and what follows, bit by bit. */
const kinds: Record<string, { begin(): string; drip: string }> = {
  'slow heads': { begin: () => `${head()}X-Title: `, drip: 'x' },
  'slow header lines': { begin: head, drip: 'X-A: b\r\n' },
  'slow bodies': {
    begin: () => `${head()}Content-Type: text/plain\r\nContent-Length: 60000\r\n\r\n`,
    drip: 'x',
  },
  'slow chunks': {
    begin: () => `${head()}Content-Type: text/plain\r\nTransfer-Encoding: chunked\r\n\r\n`,
    drip: '1\r\nx\r\n',
  },
  silence: { begin: () => '', drip: '' },
};

/** The slowest of some requests of a client that is not slow. */
async function slowestMs(count: number): Promise<number> {
  let slowest = 0;
  for (let i = 0; i < count; i++) {
    const started = performance.now();
    expect((await send({ title: 'quick', message: 'M' })).status).toBe(200);
    slowest = Math.max(slowest, performance.now() - started);
  }
  return slowest;
}

test(`${slowClients} slow clients of each kind are refused and let go in time, and nobody else notices`, {
  timeout: timeLimit(120_000),
}, async () => {
  const alone = await slowestMs(30);
  const began = performance.now();
  const all = await Promise.all(
    Object.entries(kinds).flatMap(([name, kind]) =>
      Array.from({ length: slowClients }, async () => ({
        name,
        kind,
        connection: await RawConnection.open(server.url),
      })),
    ),
  );
  for (const { kind, connection } of all) void connection.write(kind.begin());
  const dripping = setInterval(() => {
    for (const { kind, connection } of all) if (!connection.isClosed) void connection.write(kind.drip);
  }, 1_000);
  const beside = await slowestMs(60);
  const answers = await Promise.all(all.map(({ connection }) => connection.all(endsWithinMs + 15_000)));
  clearInterval(dripping);
  const tookMs = performance.now() - began;
  const problems = all.flatMap(({ name }, i) => {
    const [answer] = answers[i] ?? [];
    // Who never said a word is owed none.
    if (!answer) return name === 'silence' ? [] : [`${name}: closed without an answer`];
    const wrong = wrongWith(answer);
    return wrong || answer.status !== 408 ? [`${name}: ${answer.status} ${wrong ?? ''}`] : [];
  });
  report({
    promise: 'slow clients are disconnected in time, and others still get fast answers',
    method: `${Object.keys(kinds).join(', ')}: a byte or a line a second`,
    count: `${all.length} connections`,
    result: `${problems.length} without a 408; all gone after ${(tookMs / 1_000).toFixed(1)} s; another client's slowest request took ${beside.toFixed(0)} ms, ${alone.toFixed(0)} ms without them`,
  });
  expect(problems).toEqual([]);
  expect(beside).toBeLessThan(Math.max(limitMs(1_000), 10 * alone));
  expect((await fetch(`${server.url}/readyz`)).status).toBe(200);
});

test(`${slowClients} readers of exports and streams that take nothing hold no memory, and nobody else notices`, {
  timeout: timeLimit(120_000),
}, async () => {
  const memory = () => {
    const [, kib = '0'] = /VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${server.pid}/status`, 'utf8')) ?? [];
    return Number(kib) / 1024;
  };
  const paths = [
    '/api/history/export?format=ndjson',
    '/api/history/export?format=csv',
    '/api/history/stream',
  ];
  // What a run of exports grows the heap by is not what readers that take nothing hold.
  for (const path of paths.slice(0, 2)) {
    const whole = await fetch(`${server.url}${path}`, { headers: { authorization: `Bearer ${key}` } });
    expect((await whole.arrayBuffer()).byteLength).toBeGreaterThan(messages * 15_000);
  }
  const before = memory();
  const readers = await Promise.all(
    Array.from({ length: slowClients }, async (_, i) => {
      const connection = await RawConnection.open(server.url);
      connection.pause();
      await connection.write(
        `GET ${paths[i % paths.length]} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${key}\r\n\r\n`,
      );
      return connection;
    }),
  );
  const beside = await slowestMs(100);
  const after = memory();
  for (const connection of readers) connection.close();
  report({
    promise: 'readers that read nothing cost almost nothing',
    method: 'exports of up to 32 MB and live tails whose readers never read',
    count: `${readers.length} readers`,
    result: `${Math.round(after - before)} MiB more (exports beyond eight at a time get 429); another client's slowest request took ${beside.toFixed(0)} ms`,
  });
  // Held whole, the eight exports there may be at once would be 256 MB.
  if (full) expect(after - before).toBeLessThan(128);
  expect(beside).toBeLessThan(limitMs(2_000));
});

// In the short form the clients above do the same in less time.
if (full)
  test('slowhttptest finds the service available all the while', { timeout: timeLimit(60_000) }, attacked);

async function attacked(): Promise<void> {
  const isThere = () => spawnSync('slowhttptest', ['-h'], { stdio: 'ignore' }).error === undefined;
  const missing = missingPackage('slowhttptest', isThere);
  if (missing !== undefined) throw new Error(missing);
  for (const attack of ['-H', '-B', '-X']) {
    const how = '-c 500 -r 200 -i 2 -l 40 -p 3'.split(' ');
    const child = spawn('slowhttptest', [attack, ...how, '-u', `${server.url}/healthz`], {
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let text = '';
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (text += chunk));
    await new Promise((resolve) => child.once('close', resolve));
    const plain = stripVTControlCharacters(text);
    const failed = /service available:\s*NO/.test(plain);
    report({
      promise: 'the service stays available to others',
      method: `slowhttptest ${attack}`,
      count: '500 connections, 40 s',
      result: failed ? 'not available at some moment' : 'available all the while',
    });
    expect(plain).toMatch(/service available:\s*YES/);
    expect(failed).toBe(false);
  }
}
