import { closeSync, openSync, writeSync } from 'node:fs';

const pageBytes = 4_096;

/** Overwrites a page of a closed database file, like a bad block. */
export function damagePage(path: string, page: number): void {
  const file = openSync(path, 'r+');
  writeSync(file, Buffer.alloc(pageBytes, 0xa5), 0, pageBytes, (page - 1) * pageBytes);
  closeSync(file);
}
