import { execFileSync } from 'node:child_process';
import {
  closeSync,
  fdatasyncSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeSync,
} from 'node:fs';
import { cpus, totalmem } from 'node:os';
import { join } from 'node:path';
import { root } from '#test/support/server-process.ts';
import { ms, quantile } from './statistics.ts';

/** A new folder on the disk of the checkout, because a temporary folder may be in memory. The caller removes it. */
export function benchFolder(): string {
  mkdirSync(join(root, 'data'), { recursive: true });
  return mkdtempSync(join(root, 'data', 'bench-'));
}

/** When, where and what was measured, as one line. */
export function machine(): string {
  const { p50, p99 } = measureFsync();
  const date = new Date().toISOString().slice(0, 16).replace('T', ' ');
  const cores = `${cpus().length} cores (${cpus()[0]?.model.trim()})`;
  const memory = `${Math.round(totalmem() / 2 ** 30)} GiB`;
  const disk = `disk ${fileSystem()}, fdatasync of 4 KiB p50 ${ms(p50)}, p99 ${ms(p99)}`;
  return `${date} UTC · ${cores}, ${memory} · Node ${process.versions.node} · ${disk} · commit ${commit()}`;
}

/** The resident memory of a process. */
export function residentMiB(pid: number): number {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  return Number(/VmRSS:\s+(\d+)/.exec(status)?.[1]) / 1024;
}

/** Processor time of a process's threads so far, in µs, by thread id. The main thread has the id of the process. */
export function threadMicros(pid: number): ReadonlyMap<string, number> {
  const tasks = `/proc/${pid}/task`;
  return new Map(
    readdirSync(tasks).map((thread) => {
      const [nanos = ''] = readFileSync(`${tasks}/${thread}/schedstat`, 'utf8').split(' ');
      return [thread, Number(nanos) / 1000];
    }),
  );
}

/** Processor time so far of a process, its threads and its child processes, in µs, including children that ended. */
export function treeMicros(pid: number): number {
  const ticks = (stat: string, from: number, count: number) =>
    stat
      .slice(stat.lastIndexOf(')') + 2)
      .split(' ')
      .slice(from, from + count)
      .reduce((sum, each) => sum + Number(each), 0);
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ');
  let sum = 0;
  // User and system time in hundredths of a second; for the process itself also those of its ended children.
  for (const [each, fields] of [[String(pid), 4], ...children.map((child) => [child, 2] as const)] as const)
    if (each !== '') sum += ticks(readFileSync(`/proc/${each}/stat`, 'utf8'), 11, fields);
  return sum * 10_000;
}

/** How long the disk takes to make 4 KiB durable. */
export function measureFsync(): { p50: number; p99: number } {
  const folder = benchFolder();
  const file = openSync(join(folder, 'fsync'), 'w');
  const block = Buffer.alloc(4096, 1);
  try {
    const took = Array.from({ length: 500 }, () => {
      writeSync(file, block);
      const began = performance.now();
      fdatasyncSync(file);
      return performance.now() - began;
    });
    return { p50: quantile(took, 0.5), p99: quantile(took, 0.99) };
  } finally {
    closeSync(file);
    rmSync(folder, { recursive: true });
  }
}

function fileSystem(): string {
  return quiet('stat', ['-f', '-c', '%T', root]) ?? 'unknown';
}

function commit(): string {
  const hash = quiet('git', ['-C', root, 'rev-parse', '--short', 'HEAD']) ?? 'unknown';
  const changed = quiet('git', ['-C', root, 'status', '--porcelain', '--', 'src', 'package-lock.json']);
  return changed ? `${hash} with changes` : hash;
}

function quiet(command: string, args: string[]): string | undefined {
  try {
    return execFileSync(command, args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).trim();
  } catch {
    return undefined;
  }
}
