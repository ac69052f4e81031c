/**
 * The checksum of a backup. It follows the last page of the file, where SQLite reads nothing, so that a backup stays one file and a
 * database. SQLite itself notices damage of its pages, but not of the texts in them.
 */
import { createHash } from 'node:crypto';
import { appendFileSync, closeSync, fstatSync, openSync, readSync } from 'node:fs';

const mark = Buffer.from('belfry sha256 ');
const hashBytes = 32;
const trailerBytes = mark.length + hashBytes;
/** The smallest page of SQLite: the size of a database is a multiple of it. */
const pageBytes = 512;
const pieceBytes = 1024 * 1024;

/** Appends the checksum of all that the file contains. */
export function addChecksum(path: string): void {
  const file = openSync(path, 'r');
  try {
    const { size } = fstatSync(file);
    appendFileSync(path, Buffer.concat([mark, hashOf(file, size)]));
  } finally {
    closeSync(file);
  }
}

/** Whether a file is as its checksum says. One without a checksum is: a copy of a database. */
export function matchesChecksum(path: string): boolean {
  const file = openSync(path, 'r');
  try {
    const { size } = fstatSync(file);
    if (size % pageBytes === 0) return true;
    const end = Math.max(0, size - trailerBytes);
    const trailer = Buffer.alloc(trailerBytes);
    readSync(file, trailer, 0, trailerBytes, end);
    return trailer.equals(Buffer.concat([mark, hashOf(file, end)]));
  } finally {
    closeSync(file);
  }
}

function hashOf(file: number, size: number): Buffer {
  const hash = createHash('sha256');
  const piece = Buffer.alloc(pieceBytes);
  for (let at = 0; at < size; ) {
    const bytes = readSync(file, piece, 0, Math.min(pieceBytes, size - at), at);
    if (bytes === 0) break;
    hash.update(piece.subarray(0, bytes));
    at += bytes;
  }
  return hash.digest();
}
