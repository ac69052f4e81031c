import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { Load } from '#test/support/load.ts';
import { endServers, ServerProcess } from '#test/support/server-process.ts';
import { skipReason } from '#test/support/skip-reason.ts';
import { credentials } from '#test/support/storage.ts';
import { countOf, timeLimit } from '../counts.ts';
import { report } from '../report.ts';
import { missingStrace, straced } from './strace.ts';
import { SyncTrace, syncTraceOptions } from './sync-trace.ts';

const answers = countOf('answers');
const folder = mkdtempSync(join(tmpdir(), 'belfry-fsync-'));
afterAll(async () => {
  await endServers();
  rmSync(folder, { recursive: true, force: true });
});

test(`each of ${answers} answers leaves the server after the fsync of what it promises`, {
  timeout: timeLimit(120_000),
}, async (context) => {
  const missing = skipReason(missingStrace());
  context.skip(missing !== undefined, missing);
  const { token } = await credentials(folder);
  const trace = new SyncTrace();
  const server = await ServerProcess.start({
    folder,
    under: straced(...syncTraceOptions),
    onTrace: (text) => trace.feed(text),
  });
  const load = new Load({ token, writers: 8 });
  load.start(server.url);
  await load.next(() => load.acknowledged >= answers, timeLimit(90_000));
  await load.stop();
  expect(await server.end('SIGTERM')).toEqual({ code: 0, signal: null });
  report({
    promise: 'the server answers only after the fsync of what it promises',
    method:
      'strace of every read, write and sync: request, row in the log, sync begun after it and ended, answer',
    count: `${load.acknowledged} answers`,
    result: `${trace.durable} after the fsync, ${trace.early.length} before`,
  });
  expect(trace.early).toEqual([]);
  expect(trace.durable).toBe(load.acknowledged);
});

test('a notification that comes alone costs one fsync, and none behind it', async (context) => {
  const missing = skipReason(missingStrace());
  context.skip(missing !== undefined, missing);
  const { token } = await credentials(folder);
  const trace = new SyncTrace();
  const server = await ServerProcess.start({
    folder,
    under: straced(...syncTraceOptions),
    onTrace: (text) => trace.feed(text),
  });
  const load = new Load({ token, writers: 1, prefix: 'w1' });
  const began = performance.now();
  load.start(server.url);
  await load.next(() => load.acknowledged >= 100, timeLimit(90_000));
  await load.stop();
  const seconds = (performance.now() - began) / 1000;
  // The trace is complete only then.
  expect(await server.end('SIGTERM')).toEqual({ code: 0, signal: null });
  // Last uses and hits are written every 5 s and at the end, in a few commits; so are starts and ends.
  const background = 5 * Math.ceil(2 + seconds / 5);
  expect(trace.syncs).toBeGreaterThanOrEqual(load.acknowledged);
  expect(trace.syncs).toBeLessThanOrEqual(load.acknowledged + background);
});

describe('the reader of traces', () => {
  const socket = '31<TCP:[127.0.0.1:8080->127.0.0.1:42356]>';
  const other = '32<TCP:[127.0.0.1:8080->127.0.0.1:42368]>';
  const wal = '29</data/belfry.db-wal>';
  const asked = `10 read(${socket}, "POST /api/notify HTTP/1.1\\r\\n\\r\\n{\\"message\\":\\"sent as <w0-1>\\"}", 65536) = 242`;
  const written = `11 pwrite64(${wal}, "\\0\\17sent as <w0-1>", 4096, 56) = 4096`;
  const synced = `11 fsync(${wal})             = 0`;
  const answered = `10 write(${socket}, "HTTP/1.1 200 OK\\r\\n\\r\\n{\\"ok\\":true}", 134) = 134`;

  const read = (...lines: string[]) => {
    const trace = new SyncTrace();
    trace.feed(`${lines.join('\n')}\n`);
    return { durable: trace.durable, early: trace.early.length };
  };

  test('takes an answer after the write and the sync, in whole or interrupted lines, cut anywhere', () => {
    expect(read(asked, written, synced, answered)).toEqual({ durable: 1, early: 0 });
    const interrupted = [
      `10 read(${socket},  <unfinished ...>`,
      `11 pwrite64(${wal}, "\\0\\17sent as <w0-2>", 4096, 56 <unfinished ...>`,
      '10 <... read resumed>"POST /api/notify HTTP/1.1\\r\\n<w0-1>", 65536) = 242',
      '11 <... pwrite64 resumed>)     = 4096',
      written,
      `11 fsync(${wal} <unfinished ...>`,
      `12 futex(0x1, FUTEX_WAIT <unfinished ...>`,
      '11 <... fsync resumed>)        = 0',
      answered,
    ].join('\n');
    const trace = new SyncTrace();
    for (const piece of `${interrupted}\n`.match(/.{1,7}/gs) ?? []) trace.feed(piece);
    expect(trace).toMatchObject({ durable: 1, early: [] });
  });

  test('catches an answer without a sync, before it, or while it is under way', () => {
    const began = `11 fsync(${wal} <unfinished ...>`;
    const ended = '11 <... fsync resumed>) = 0';
    expect(read(asked, written, answered)).toEqual({ durable: 0, early: 1 });
    expect(read(asked, written, answered, synced)).toEqual({ durable: 0, early: 1 });
    expect(read(asked, written, began, answered, ended)).toEqual({ durable: 0, early: 1 });
    expect(read(asked, synced, answered)).toEqual({ durable: 0, early: 1 });
  });

  test('catches an answer whose only sync began before its row was written', () => {
    const began = `11 fsync(${wal} <unfinished ...>`;
    expect(read(asked, began, written.replace('11', '12'), '11 <... fsync resumed>) = 0', answered)).toEqual({
      durable: 0,
      early: 1,
    });
  });

  test('catches an answer after a sync that failed, or of another file, or of the row of another request', () => {
    expect(read(asked, written, `11 fsync(${wal}) = -1 EIO (Input/output error)`, answered)).toEqual({
      durable: 0,
      early: 1,
    });
    expect(read(asked, written, '11 fsync(28</data/belfry.db>) = 0', answered).early).toBe(1);
    expect(read(asked, written.replace('w0-1', 'w0-11'), synced, answered).early).toBe(1);
    const second = asked.replace(socket, other).replace('w0-1', 'w1-1');
    const answers = [answered, answered.replace(socket, other)];
    expect(read(asked, second, written, synced, ...answers)).toEqual({ durable: 1, early: 1 });
  });
});
