/** Watches the free space of the database's disk, and reserves some space for the time when other programs have filled it. */
import { randomBytes } from 'node:crypto';
import { appendFileSync, rmSync, statfsSync, statSync } from 'node:fs';
import { dirname } from 'node:path';

const lookMs = 1_000;
const restMs = 60_000;
const mostReservedBytes = 16 * 1024 * 1024;
/** The reserve as a share of `minFreeBytes`. It is less than 1, so that deleting the reserve does not start intake again. */
const reservedShare = 0.25;
/** The reserve is deleted when less than this share of it is free. */
const fullShare = 0.25;
const pieceBytes = 1024 * 1024;

/**
 * Below `minFreeBytes` intake is refused, so that SQLite itself never gets a full disk. If other programs fill the disk
 * completely, the reserve is deleted, a file that only takes up space. This makes room for changes that must still be
 * possible, such as a sign-in or a shorter retention. The file is created again once there is room for it.
 */
export class DiskSpace {
  readonly #path: string;
  readonly #minFreeBytes: number;
  readonly #keepsReserve: boolean;
  /** 0: there is no reserve, and an existing one is deleted. */
  readonly #reservedBytes: number;
  #releasedAt = Number.NEGATIVE_INFINITY;
  #isLow = false;
  #timer: NodeJS.Timeout | undefined;

  /** `keepsReserve`: true for the server; a command beside it only reads the free space. */
  constructor(path: string, minFreeBytes: number, { keepsReserve }: { readonly keepsReserve: boolean }) {
    this.#path = path;
    this.#minFreeBytes = minFreeBytes;
    this.#keepsReserve = keepsReserve;
    this.#reservedBytes = Math.min(mostReservedBytes, Math.floor(minFreeBytes * reservedShare));
  }

  /** Checks now and every second. `onChange` gets a sentence when there is too little space, undefined when there is enough. */
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

  /** Deletes the reserve on a full disk; creates it if there is room. Returns the bytes that are free afterwards. */
  makeRoom(): number | undefined {
    const free = this.freeBytes();
    const reserved = this.#reservedBytes;
    if (free === undefined || !this.#keepsReserve) return free;
    const found = statSync(this.#reservePath, { throwIfNoEntry: false })?.size;
    if (found === undefined) {
      // Wait before creating it again: because of a quota, a disk may refuse writes although it has space.
      const mayReserve = performance.now() - this.#releasedAt > restMs;
      if (!mayReserve || reserved === 0 || free - reserved < this.#minFreeBytes * 1.1) return free;
      this.#reserve();
    } else if (found !== reserved || free < reserved * fullShare) this.release();
    else return free;
    return this.freeBytes();
  }

  /** Deletes the reserve. */
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
      // Random bytes, because no file system can compress them.
      for (let left = this.#reservedBytes; left > 0; left -= pieceBytes)
        appendFileSync(this.#reservePath, randomBytes(Math.min(left, pieceBytes)), { mode: 0o600 });
    } catch {
      this.release();
    }
  }

  /** Undefined when the system does not say. */
  freeBytes(): number | undefined {
    try {
      const { bavail, bsize } = statfsSync(dirname(this.#path));
      return bavail * bsize;
    } catch {
      return undefined;
    }
  }
}
