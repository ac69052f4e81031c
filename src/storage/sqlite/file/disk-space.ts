/** Watches the free space of the database's disk, and keeps some room for when others have filled it. */
import { randomBytes } from 'node:crypto';
import { appendFileSync, rmSync, statfsSync, statSync } from 'node:fs';
import { dirname } from 'node:path';

const lookMs = 1_000;
const restMs = 60_000;
const mostReservedBytes = 16 * 1024 * 1024;
/** Of the bound below which intake stops: what is given up must not bring intake back. */
const reservedShare = 0.25;
/** With less free than this share of the reserve, it is given up. */
const fullShare = 0.25;
const pieceBytes = 1024 * 1024;

/**
 * Below `minFreeBytes` intake is refused, so that SQLite itself never meets a full disk. Where others fill the disk
 * completely, a file that only takes up room is deleted: what must still be written, such as a sign-in or a shorter
 * retention, fits into its place. The file is made again once there is room for it.
 */
export class DiskSpace {
  readonly #path: string;
  readonly #minFreeBytes: number;
  readonly #keepsReserve: boolean;
  /** 0: none is kept, and one from before is deleted. */
  readonly #reservedBytes: number;
  #releasedAt = Number.NEGATIVE_INFINITY;
  #isLow = false;
  #timer: NodeJS.Timeout | undefined;

  /** `keepsReserve`: for the one server of a database; a command beside it only looks. */
  constructor(path: string, minFreeBytes: number, { keepsReserve }: { readonly keepsReserve: boolean }) {
    this.#path = path;
    this.#minFreeBytes = minFreeBytes;
    this.#keepsReserve = keepsReserve;
    this.#reservedBytes = Math.min(mostReservedBytes, Math.floor(minFreeBytes * reservedShare));
  }

  /** Looks now and every second. `onChange` gets a sentence when there is too little room, undefined when there is enough. */
  watch(onChange: (problem: string | undefined) => void): void {
    const look = () => {
      const free = this.makeRoom();
      if (free === undefined) return;
      const isLow = free < (this.#isLow ? this.#minFreeBytes * 1.1 : this.#minFreeBytes);
      if (isLow === this.#isLow) return;
      this.#isLow = isLow;
      onChange(isLow ? `the disk is nearly full (${Math.floor(free / 1024)} KiB free)` : undefined);
    };
    look();
    this.#timer = setInterval(look, lookMs).unref();
  }

  /** Gives the reserve up on a full disk, and makes it where there is room. Answers the bytes that are free then. */
  makeRoom(): number | undefined {
    const free = this.#free();
    const reserved = this.#reservedBytes;
    if (free === undefined || !this.#keepsReserve) return free;
    const found = statSync(this.#reservePath, { throwIfNoEntry: false })?.size;
    if (found === undefined) {
      // Not at once again: a disk can refuse writes, by a quota, though it has room.
      const mayReserve = performance.now() - this.#releasedAt > restMs;
      if (!mayReserve || reserved === 0 || free - reserved < this.#minFreeBytes * 1.1) return free;
      this.#reserve();
    } else if (found !== reserved || free < reserved * fullShare) this.release();
    else return free;
    return this.#free();
  }

  /** Gives the reserve up. */
  release(): void {
    this.#releasedAt = performance.now();
    rmSync(this.#reservePath, { force: true });
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  get #reservePath(): string {
    return `${this.#path}-reserve`;
  }

  #reserve(): void {
    try {
      // Of bytes that no file system can compress to less.
      for (let left = this.#reservedBytes; left > 0; left -= pieceBytes)
        appendFileSync(this.#reservePath, randomBytes(Math.min(left, pieceBytes)), { mode: 0o600 });
    } catch {
      this.release();
    }
  }

  #free(): number | undefined {
    try {
      const { bavail, bsize } = statfsSync(dirname(this.#path));
      return bavail * bsize;
    } catch {
      return undefined;
    }
  }
}
