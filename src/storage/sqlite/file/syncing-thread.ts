/** A worker thread that syncs a file to disk again and again while another thread writes to it. */
import { closeSync, fdatasyncSync, openSync } from 'node:fs';
import { workerData } from 'node:worker_threads';

export interface SyncingData {
  readonly path: string;
  /** Its first element becomes 1 when the thread shall end. */
  readonly ended: Int32Array<SharedArrayBuffer>;
}

const pauseMs = 10;

const { path, ended } = workerData as SyncingData;
let file: number | undefined;
try {
  file = openSync(path, 'r+');
  while (Atomics.wait(ended, 0, 0, pauseMs) === 'timed-out') fdatasyncSync(file);
} catch {
  // The thread that writes the file syncs it at the end, and reports an error of the disk. It may have renamed the file by now.
} finally {
  if (file !== undefined) closeSync(file);
}
