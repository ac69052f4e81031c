/** Disks that fill up on demand, on a plain Linux machine. */
import { execFileSync } from 'node:child_process';
import { closeSync, mkdtempSync, openSync, rmSync, statSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { full } from '../counts.ts';

export interface Disk {
  readonly folder: string;
  /** Whether it is a file system of its own. */
  readonly isOwn: boolean;
  /** From now on nothing can be written that takes more room. */
  fill(pid: number): void;
  /** There is room again. */
  free(pid: number): void;
  remove(): void;
}

/** A small file system of its own; where this user may not mount one, a limit on the size of files does its work. */
export function smallDisk(): Disk {
  const disk = limitedFiles();
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${full ? 128 : 24}m`, 'tmpfs', disk.folder], {
      stdio: 'ignore',
    });
  } catch {
    return disk;
  }
  const ballast = join(disk.folder, 'ballast');
  return {
    folder: disk.folder,
    isOwn: true,
    fill: () => fillWith(ballast),
    free: () => rmSync(ballast, { force: true }),
    remove() {
      execFileSync('umount', [disk.folder]);
      disk.remove();
    },
  };
}

/** A folder in which a server's write-ahead log cannot grow beyond what it is, once filled. */
export function limitedFiles(): Disk {
  const folder = mkdtempSync(join(tmpdir(), 'belfry-disk-'));
  const limit = (pid: number, size: number | 'unlimited') =>
    execFileSync('prlimit', ['--pid', String(pid), `--fsize=${size}:unlimited`]);
  return {
    folder,
    isOwn: false,
    fill: (pid) => limit(pid, statSync(join(folder, 'belfry.db-wal')).size),
    free: (pid) => limit(pid, 'unlimited'),
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
}

/** Writes until the disk takes not one byte more. */
function fillWith(path: string): void {
  const file = openSync(path, 'a');
  try {
    for (let size = 1 << 20; size > 0; ) {
      try {
        writeSync(file, Buffer.alloc(size));
      } catch {
        size >>= 1;
      }
    }
  } finally {
    closeSync(file);
  }
}
