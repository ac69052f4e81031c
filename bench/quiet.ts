/**
 * Single notifications: the sender's latency, and the time until a panel has it. Compared with the machine's own latency at the
 * same rate: an fsync, a request to a bare server, a message to a thread and back. Idle threads must wake up with cold caches, so
 * the same work takes longer at 50 a second than without a pause.
 */
import { closeSync, fsyncSync, openSync, rmSync, writeSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { Worker } from 'node:worker_threads';
import { ServerProcess } from '#test/support/server-process.ts';
import { credentials } from '#test/support/storage.ts';
import { benchFolder } from './machine.ts';
import { notification } from './notification-sample.ts';
import { notifyRequest, registerPanel, subscribe } from './processes.ts';
import { ms, quantile, table } from './statistics.ts';

const rounds = Number(process.env.BENCH_ROUNDS ?? 5);
const warmUp = 1_500;
/** The pages that a commit of one notification writes: leaves of the log, of its two indexes, of `live` and of `logs`. */
const commitBytes = 5 * 4096;
const walBytes = 2_000 * 4096;

interface Took {
  readonly p50: number;
  readonly p99: number;
}

const folder = benchFolder();
const { token } = await credentials(folder);
const server = await ServerProcess.start({ folder });
const echo = await ServerProcess.run(
  [process.execPath, fileURLToPath(new URL('./echo-server.ts', import.meta.url))],
  process.env,
  { status: null },
);
const disk = openDisk(join(folder, 'fsync'));
const thread = new Worker(
  "const { parentPort } = require('node:worker_threads'); parentPort.on('message', (m) => parentPort.postMessage(m));",
  { eval: true },
);
try {
  const request = notifyRequest(token, JSON.parse(notification));
  const [sender, echoed] = await Promise.all([requester(server.port), requester(echo.port)]);
  for (let i = 0; i < warmUp; i++) {
    await sender(request);
    await echoed(request);
  }
  const alone = {
    fsync: async () => disk.sync(),
    thread: () =>
      new Promise<void>((resolve) => void thread.once('message', () => resolve()).postMessage(request)),
    echo: () => echoed(request),
    answer: () => sender(request),
  };
  const sequential = await measure(alone, { pauseMs: 0, times: 400 });
  const panel = await connectPanel();
  const toPanel = async () => {
    const event = panel.next();
    await sender(request);
    await event;
  };
  const quiet = await measure({ ...alone, panel: toPanel }, { pauseMs: 20, times: 80 });
  console.log(
    `${rounds} rounds, in each of which everything has its turn; p50 and p99 of all rounds.\n\n${report(sequential, quiet)}`,
  );
} finally {
  disk.close();
  await thread.terminate();
  await Promise.all([server.end('SIGTERM'), echo.end('SIGTERM')]);
  rmSync(folder, { recursive: true, force: true });
}

async function measure<K extends string>(
  kinds: Readonly<Record<K, () => Promise<void>>>,
  { pauseMs, times }: { readonly pauseMs: number; readonly times: number },
): Promise<Record<K, Took>> {
  const all = Object.entries<() => Promise<void>>(kinds).map(([kind, once]) => ({
    kind: kind as K,
    once,
    took: [] as number[],
  }));
  for (let round = 0; round < rounds; round++) {
    for (const { once, took } of all) {
      for (let i = 0; i < times; i++) {
        if (pauseMs > 0) await sleep(pauseMs);
        const began = performance.now();
        await once();
        took.push(performance.now() - began);
      }
    }
  }
  const quantiles = (took: number[]) => ({ p50: quantile(took, 0.5), p99: quantile(took, 0.99) });
  return Object.fromEntries(all.map(({ kind, took }) => [kind, quantiles(took)])) as Record<K, Took>;
}

type Alone = Record<'fsync' | 'thread' | 'echo' | 'answer', Took>;

function report(sequential: Alone, quiet: Alone & { readonly panel: Took }): string {
  const cells = (took: Took) => [ms(took.p50), ms(took.p99)];
  const line = (what: string, kind: keyof Alone) => [
    what,
    ...cells(sequential[kind]),
    ...cells(quiet[kind]),
    '',
  ];
  const goal = (text: string, left: number, most: number) =>
    `${text} + ${ms(most)}: ${left <= most ? 'reached' : 'missed'} (${ms(left)})`;
  const { fsync, panel } = quiet;
  return table([
    ['what', 'p50, without a pause', 'p99', 'p50, 50 a second', 'p99', 'goal'],
    line(`${commitBytes / 4096} pages written and fsynced`, 'fsync'),
    line('a message to a thread and back', 'thread'),
    line('a request to a bare Fastify echo', 'echo'),
    line('POST → answer', 'answer').with(
      5,
      goal('without a pause fsync p50', sequential.answer.p50 - sequential.fsync.p50, 0.2),
    ),
    [
      'POST → answer and panel',
      '',
      '',
      ...cells(panel),
      `${goal('fsync p50', panel.p50 - fsync.p50, 1)}; ${goal('fsync p99', panel.p99 - fsync.p99, 3)}`,
    ],
  ]);
}

/** A file that is overwritten again and again, like a write-ahead log. */
function openDisk(path: string): { sync(): void; close(): void } {
  const file = openSync(path, 'w');
  const pages = Buffer.alloc(commitBytes, 1);
  let at = 0;
  const write = () => {
    writeSync(file, pages, 0, commitBytes, at);
    at = (at + commitBytes) % walBytes;
  };
  do write();
  while (at !== 0);
  fsyncSync(file);
  const sync = () => {
    write();
    fsyncSync(file);
  };
  return { sync, close: () => closeSync(file) };
}

/** Sends one request at a time on one connection; resolves with its answer. */
async function requester(port: number): Promise<(request: string) => Promise<void>> {
  const socket = await open(port);
  return (request) =>
    new Promise((resolve, reject) => {
      socket.once('data', (chunk: Buffer) => {
        if (chunk.toString('latin1', 0, 12) === 'HTTP/1.1 200') resolve();
        else reject(new Error(chunk.toString('latin1')));
      });
      socket.write(request);
    });
}

async function connectPanel(): Promise<{ next(): Promise<void> }> {
  const id = await registerPanel(server.url, token, 'quiet');
  const socket = await open(server.port);
  const next = (text: string) =>
    new Promise<void>((resolve) => {
      const look = (chunk: Buffer) => {
        if (!chunk.includes(text)) return;
        socket.off('data', look);
        resolve();
      };
      socket.on('data', look);
    });
  socket.write(subscribe(id, token));
  await next('event: ready');
  // The live set has been written by now.
  await sleep(500);
  return { next: () => next('event: notification') };
}

function open(port: number): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1', () => resolve(socket.setNoDelay(true)));
    socket.once('error', reject);
  });
}
