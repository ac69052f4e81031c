/**
 * Detects damage in the write-ahead log that SQLite ignores. SQLite ends the log at the first frame with a wrong checksum.
 * That is right for a frame that a power cut left half written. It is wrong for a bad block before frames that were synced.
 * The format is that of https://sqlite.org/fileformat2.html#the_write_ahead_log.
 */
import { closeSync, openSync, readSync } from 'node:fs';
import { conflict } from '#core/errors.ts';

const headerBytes = 32;
const frameHeaderBytes = 24;
const littleEndianMagic = 0x377f0682;
const defaultPageBytes = 4_096;

type Sums = readonly [number, number];

interface Damage {
  readonly offset: number;
  readonly header: string;
}

/**
 * @throws AppError `conflict` when durable transactions follow a damaged frame. SQLite would drop them without an error when
 * it opens the database.
 */
export function assertWalIntact(databasePath: string): void {
  const path = `${databasePath}-wal`;
  const damage = findDamage(path);
  // Another process may restart the log during the scan. Only real damage is found again at the same offset.
  if (!damage) return;
  const again = findDamage(path);
  if (again?.offset !== damage.offset || again.header !== damage.header) return;
  throw conflict(
    `${path} is damaged at byte ${damage.offset}, and notifications that were acknowledged stand behind that place: copy the folder, check the disk, and put a backup in place with belfry restore FILE; to go on with what stands before it and lose the rest, run truncate -s ${damage.offset} ${path}`,
  );
}

function findDamage(path: string): Damage | undefined {
  let file: number;
  try {
    file = openSync(path, 'r');
  } catch {
    // Without a log, the database file has all data. If the log is not readable, SQLite reports the error.
    return undefined;
  }
  try {
    const header = Buffer.alloc(headerBytes);
    if (readSync(file, header, 0, headerBytes, 0) < headerBytes) return undefined;
    const offset = scan(file, header);
    return offset === undefined ? undefined : { offset, header: header.toString('hex') };
  } finally {
    closeSync(file);
  }
}

/**
 * Returns the offset of the first invalid frame, if durable transactions follow it. SQLite starts a transaction only after
 * the one before it is on disk. Two valid consecutive transactions after an invalid frame prove that this frame was once valid.
 */
function scan(file: number, header: Buffer): number | undefined {
  let before: Sums = checksum(header, 0, headerBytes - 8, [0, 0]);
  const isValid = header.readUInt32BE(0) === littleEndianMagic && holds(header, headerBytes - 8, before);
  // Without a valid header, the salts are those of the frame before.
  let salts = isValid ? header.toString('latin1', 16, 24) : undefined;
  let bad = isValid ? undefined : 0;
  let commits = 0;
  const pageBytes = isValid ? header.readUInt32BE(8) : defaultPageBytes;
  const frame = Buffer.allocUnsafeSlow(frameHeaderBytes + pageBytes);
  for (
    let at = headerBytes;
    readSync(file, frame, 0, frame.length, at) === frame.length;
    at += frame.length
  ) {
    const fits = frame.toString('latin1', 8, 16) === salts && holds(frame, 16, frameSums(frame, before));
    // The last frame of a transaction has the size of the database there.
    const commitsNow = frame.readUInt32BE(4) !== 0;
    if (fits && bad !== undefined && commitsNow) commits += 1;
    if (commits === 2) return bad;
    if (!fits) {
      bad ??= at;
      commits = 0;
      if (!isValid) salts = frame.toString('latin1', 8, 16);
    }
    before = [frame.readUInt32BE(16), frame.readUInt32BE(20)];
  }
  return undefined;
}

const frameSums = (frame: Buffer, before: Sums): Sums =>
  checksum(frame, frameHeaderBytes, frame.length, checksum(frame, 0, 8, before));

const holds = (buffer: Buffer, at: number, [first, second]: Sums): boolean =>
  buffer.readUInt32BE(at) === first && buffer.readUInt32BE(at + 4) === second;

/** Continues the checksum with a range of bytes, which starts and ends at a multiple of four. */
function checksum(buffer: Buffer, from: number, to: number, [first, second]: Sums): Sums {
  const words = new Uint32Array(buffer.buffer, buffer.byteOffset + from, (to - from) / 4);
  for (let i = 0; i < words.length; i += 2) {
    first = (first + (words[i] as number) + second) >>> 0;
    second = (second + (words[i + 1] as number) + first) >>> 0;
  }
  return [first, second];
}
