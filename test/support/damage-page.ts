import { closeSync, openSync, writeSync } from 'node:fs';

const pageBytes = 4_096;

/** Overwrites a page of a database file that nobody has open, as a bad block does. */
export function damagePage(path: string, page: number): void {
  const file = openSync(path, 'r+');
  writeSync(file, Buffer.alloc(pageBytes, 0xa5), 0, pageBytes, (page - 1) * pageBytes);
  closeSync(file);
}
