/** A clock that a test can set while a server runs by it. */
import { existsSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { missingPackage } from '#test/support/skip-reason.ts';

const libraries = ['x86_64', 'aarch64'].map((arch) => `/usr/lib/${arch}-linux-gnu/faketime/libfaketime.so.1`);
const findLibrary = () => libraries.find((path) => existsSync(path));

/** Why there is no libfaketime here; undefined when there is. */
export const missingFaketime = () => missingPackage('faketime', () => findLibrary() !== undefined);

export class FakeClock {
  readonly #file: string;

  constructor(folder: string) {
    this.#file = join(folder, 'clock');
    this.leap(0);
  }

  /** From now on the clock is so far from the real one. */
  leap(seconds: number): void {
    const next = `${this.#file}.next`;
    writeFileSync(next, `${seconds < 0 ? '' : '+'}${seconds}\n`);
    renameSync(next, this.#file);
  }

  /** Settings of a server that goes by it; what passes (timers, monotonic time) passes as ever. */
  get env(): Record<string, string> {
    return {
      LD_PRELOAD: findLibrary() ?? '',
      FAKETIME_TIMESTAMP_FILE: this.#file,
      FAKETIME_NO_CACHE: '1',
      FAKETIME_DONT_FAKE_MONOTONIC: '1',
    };
  }
}
