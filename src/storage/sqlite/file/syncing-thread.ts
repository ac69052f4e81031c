/** A worker thread that syncs a file to disk again and again while another thread writes to it. */
import { closeSync, fdatasyncSync, openSync } from 'node:fs';
import { workerData } from 'node:worker_threads';

export interface SyncingData {
  readonly path: string;
  /** Its first element becomes 1 when the thread must end. */
  readonly ended: Int32Array<SharedArrayBuffer>;
}

/** The pause between two syncs is at least this long, and as long as the last sync took: half of the time the disk is free. */
const leastPauseMs = 10;

const { path, ended } = workerData as SyncingData;
let file: number | undefined;
try {
  file = openSync(path, 'r+');
  let pauseMs = leastPauseMs;
  while (Atomics.wait(ended, 0, 0, pauseMs) === 'timed-out') {
    const began = performance.now();
    fdatasyncSync(file);
    pauseMs = Math.max(leastPauseMs, performance.now() - began);
  }
} catch {
  // SQLite syncs the file itself, by a handle that it opened earlier, and reports an error of the disk. By now the file may
  // have been renamed or removed.
} finally {
  if (file !== undefined) closeSync(file);
}
