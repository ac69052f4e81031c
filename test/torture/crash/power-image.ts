/** A disk that loses its power: a file system in a file, of which a copy holds only what was synced. */
import { execFileSync } from 'node:child_process';
import {
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as moment } from 'node:timers/promises';

const writebackTimer = '/proc/sys/vm/dirty_writeback_centisecs';

/** What is missing on this machine for power cuts; undefined when all is there. */
export function missingLoop(): string | undefined {
  const folder = mkdtempSync(join(tmpdir(), 'belfry-loop-'));
  try {
    const image = makeImage(join(folder, 'probe.img'), 16);
    const disk = new PowerImage(image);
    disk.remove();
    writeFileSync(writebackTimer, readFileSync(writebackTimer));
    return undefined;
  } catch (error) {
    const reason = error instanceof Error ? error.message.split('\n').join(' ') : String(error);
    return `power cuts need root, mkfs.ext4 and a loop device (in a container: --privileged): ${reason}`;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

export function makeImage(path: string, sizeMib: number): string {
  execFileSync('truncate', ['-s', `${sizeMib}M`, path], { stdio: 'pipe' });
  const options = 'lazy_itable_init=0,lazy_journal_init=0';
  execFileSync('mkfs.ext4', ['-q', '-F', '-E', options, path], { stdio: 'pipe' });
  return path;
}

/** Runs `work` while the kernel writes nothing back of its own accord: what reaches the image was asked for by a sync. */
export async function withoutWriteback<T>(work: () => Promise<T>): Promise<T> {
  const before = readFileSync(writebackTimer, 'utf8').trim();
  const restore = () => writeFileSync(writebackTimer, before === '0' ? '500' : before);
  process.once('exit', restore);
  writeFileSync(writebackTimer, '0');
  try {
    return await work();
  } finally {
    restore();
    process.removeListener('exit', restore);
  }
}

/** An image that is mounted. */
export class PowerImage {
  readonly folder: string;
  readonly #image: string;

  constructor(image: string) {
    this.#image = image;
    this.folder = `${image}.mounted`;
    mkdirSync(this.folder, { recursive: true });
    execFileSync('mount', ['-o', 'loop,commit=300', image, this.folder], { stdio: 'pipe' });
  }

  /**
   * Takes the power from a process that works on it: everything in the middle of a step stands still, then the image is
   * copied as it is, then the process is killed. The copy is what the disk holds afterwards.
   */
  async cut(pid: number, copy: string): Promise<void> {
    process.kill(pid, 'SIGSTOP');
    await allStopped(pid);
    copyFileSync(this.#image, copy);
    process.kill(pid, 'SIGKILL');
  }

  remove(): void {
    execFileSync('umount', [this.folder], { stdio: 'pipe' });
    rmSync(this.folder, { recursive: true });
    rmSync(this.#image);
  }
}

/** A thread inside a system call stops when that returns: until then it may still be writing. */
async function allStopped(pid: number): Promise<void> {
  const states = () =>
    readdirSync(`/proc/${pid}/task`).map((task) =>
      readFileSync(`/proc/${pid}/task/${task}/stat`, 'utf8').replace(/^.*\) (\w).*$/s, '$1'),
    );
  while (states().some((state) => state !== 'T')) await moment(1);
}
