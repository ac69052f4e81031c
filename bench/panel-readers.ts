/**
 * Many panels in one process, reading raw sockets. It counts events by a mark in their text, and optionally reads the time of
 * sending after the mark. Talks to its parent by messages.
 */
import { connect, type Socket } from 'node:net';
import { mark, stampDigits } from './publishing.ts';

export interface ReadersOrder {
  readonly port: number;
  readonly requests: readonly string[];
  /** Those of them whose latency is reported apart. */
  readonly apart?: readonly string[];
}

/** Latency in milliseconds. */
export interface Quantiles {
  readonly p50: number;
  readonly p99: number;
}

export type ToReaders =
  | { readonly kind: 'connect'; readonly order: ReadersOrder }
  /** Restarts counting; sends `done` once each panel has this many. */
  | { readonly kind: 'expect'; readonly each: number; readonly latency: boolean };

export type FromReaders =
  | { readonly kind: 'connected' }
  | { readonly kind: 'expecting' }
  | ({
      readonly kind: 'done';
      readonly at: number;
      readonly bytes: number;
      readonly apart: Quantiles;
    } & Quantiles);

const needle = Buffer.from(mark);
const report = (message: FromReaders) => process.send?.(message);
/** The monotonic clock, which is the same in every process. */
const nowMicros = () => Number(process.hrtime.bigint() / 1000n);

const sockets: Socket[] = [];
let counts = new Uint32Array(0);
let each = Number.POSITIVE_INFINITY;
let finished = 0;
let bytes = 0;
let latencies: { readonly others: number[]; readonly apart: number[] } | undefined;

process.on('message', (message: ToReaders) => {
  if (message.kind === 'connect') void open(message.order);
  else expect(message.each, message.latency);
});
process.on('disconnect', () => process.exit(0));

async function open({ port, requests, apart = [] }: ReadersOrder): Promise<void> {
  counts = new Uint32Array(requests.length);
  const isApart = new Set(apart);
  for (const [index, request] of requests.entries())
    await openOne(port, request, index, isApart.has(request) ? 'apart' : 'others');
  report({ kind: 'connected' });
}

/** Resolves when the head of the response has arrived. */
function openOne(port: number, request: string, index: number, group: 'others' | 'apart'): Promise<void> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1', () => socket.write(request));
    sockets.push(socket);
    // The last byte of a chunk may be the first of a mark.
    let split = false;
    socket.once('data', (head: Buffer) => {
      if (/^HTTP\/1\.1 (200|101)/.test(head.toString('latin1', 0, 12))) resolve();
      else reject(new Error(`a panel was answered ${head.toString('latin1', 0, 200)}`));
    });
    socket.on('data', (chunk: Buffer) => {
      const at = latencies ? nowMicros() : 0;
      let seen = split && chunk[0] === needle[1] ? 1 : 0;
      for (let i = chunk.indexOf(needle); i >= 0; i = chunk.indexOf(needle, i + 2)) {
        seen += 1;
        if (latencies && i + 2 + stampDigits <= chunk.length)
          latencies[group].push(at - Number(chunk.toString('latin1', i + 2, i + 2 + stampDigits)));
      }
      split = chunk[chunk.length - 1] === needle[0];
      bytes += chunk.length;
      if (seen > 0) count(index, seen);
    });
    socket.once('error', reject);
  });
}

function expect(target: number, latency: boolean): void {
  counts.fill(0);
  each = target;
  finished = 0;
  bytes = 0;
  latencies = latency ? { others: [], apart: [] } : undefined;
  report({ kind: 'expecting' });
}

function count(index: number, seen: number): void {
  const before = counts[index] as number;
  counts[index] = before + seen;
  if (before >= each || before + seen < each) return;
  finished += 1;
  if (finished < counts.length) return;
  const { others = [], apart = [] } = latencies ?? {};
  report({ kind: 'done', at: nowMicros(), bytes, ...quantiles(others), apart: quantiles(apart) });
}

function quantiles(micros: readonly number[]): Quantiles {
  const sorted = Float64Array.from(micros).sort();
  const quantileMs = (q: number) => (sorted[Math.floor(q * sorted.length)] ?? Number.NaN) / 1000;
  return { p50: quantileMs(0.5), p99: quantileMs(0.99) };
}
