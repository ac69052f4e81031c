/**
 * Detects damage in the write-ahead log that SQLite ignores. SQLite ends the log at the first frame with a wrong checksum.
 * That is right for a frame that a power cut left half written. It is wrong for a bad block before frames that were synced.
 * The format is that of https://sqlite.org/fileformat2.html#the_write_ahead_log.
 */
import { closeSync, fstatSync, openSync, readSync } from 'node:fs';
import { AppError } from '#core/errors.ts';

const headerBytes = 32;
const frameHeaderBytes = 24;
const littleEndianMagic = 0x377f0682;
const defaultPageBytes = 4_096;
const chunkFrames = 512;

type Sums = readonly [number, number];

interface Frame {
  readonly salts: string;
  /** True for the last frame of a transaction. */
  readonly commits: boolean;
  readonly stored: Sums;
  /** Computes the checksum of this frame from the checksum of the frame before. */
  sumsAfter(before: Sums): Sums;
}

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
  throw new AppError(
    'conflict',
    `${path} is damaged at byte ${damage.offset}, and notifications that were acknowledged stand behind that place: copy the folder, check the disk, and put a backup in place with belfry restore FILE; to go on with what stands before it and lose the rest, run truncate -s ${damage.offset} ${path}`,
  );
}

function findDamage(path: string): Damage | undefined {
  const file = open(path);
  if (file === undefined) return undefined;
  try {
    const header = Buffer.alloc(headerBytes);
    if (readSync(file, header, 0, headerBytes, 0) < headerBytes) return undefined;
    const valid = readHeader(header);
    const pageBytes = valid?.pageBytes ?? defaultPageBytes;
    const bad = scan(file, pageBytes, valid);
    return bad === undefined ? undefined : { offset: bad, header: header.toString('hex') };
  } finally {
    closeSync(file);
  }
}

function open(path: string): number | undefined {
  try {
    return openSync(path, 'r');
  } catch {
    // Without a log, the database file has all data. If the log is not readable, SQLite reports the error.
    return undefined;
  }
}

interface Header {
  readonly pageBytes: number;
  readonly salts: string;
  readonly sums: Sums;
}

function readHeader(header: Buffer): Header | undefined {
  if (header.readUInt32BE(0) !== littleEndianMagic) return undefined;
  const sums = checksum(words(header, 0, 24), [0, 0]);
  const fits = sums[0] === header.readUInt32BE(24) && sums[1] === header.readUInt32BE(28);
  return fits
    ? { pageBytes: header.readUInt32BE(8), salts: header.toString('latin1', 16, 24), sums }
    : undefined;
}

/**
 * Returns the offset of the first invalid frame, if durable transactions follow it. SQLite starts a transaction only after
 * the one before it is on disk. Two valid consecutive transactions after an invalid frame prove that this frame was once valid.
 */
function scan(file: number, pageBytes: number, header: Header | undefined): number | undefined {
  let bad = header ? undefined : 0;
  let sums: Sums | undefined = header?.sums;
  let salts = header?.salts;
  let commits = 0;
  for (const { frame, offset } of frames(file, pageBytes)) {
    const fits = sums !== undefined && frame.salts === salts && equal(frame.sumsAfter(sums), frame.stored);
    if (fits && bad !== undefined && frame.commits) commits += 1;
    if (commits === 2) return bad;
    if (!fits) {
      bad ??= offset;
      commits = 0;
      if (header === undefined) salts = frame.salts;
    }
    sums = frame.stored;
  }
  return undefined;
}

function* frames(file: number, pageBytes: number): Generator<{ frame: Frame; offset: number }> {
  const frameBytes = frameHeaderBytes + pageBytes;
  const { size } = fstatSync(file);
  const chunk = Buffer.allocUnsafeSlow(chunkFrames * frameBytes);
  for (let at = headerBytes; at + frameBytes <= size; ) {
    const whole = Math.floor(readSync(file, chunk, 0, chunk.length, at) / frameBytes);
    if (whole === 0) return;
    for (let i = 0; i < whole; i++)
      yield { frame: readFrame(chunk, i * frameBytes, pageBytes), offset: at + i * frameBytes };
    at += whole * frameBytes;
  }
}

function readFrame(chunk: Buffer, at: number, pageBytes: number): Frame {
  return {
    salts: chunk.toString('latin1', at + 8, at + 16),
    commits: chunk.readUInt32BE(at + 4) !== 0,
    stored: [chunk.readUInt32BE(at + 16), chunk.readUInt32BE(at + 20)],
    sumsAfter: (before) =>
      checksum(words(chunk, at + frameHeaderBytes, pageBytes), checksum(words(chunk, at, 8), before)),
  };
}

/** Returns a range of bytes as the little-endian words of the checksum. The range must start at a multiple of four. */
function words(buffer: Buffer, at: number, bytes: number): Uint32Array {
  return new Uint32Array(buffer.buffer, buffer.byteOffset + at, bytes / 4);
}

function checksum(input: Uint32Array, [first, second]: Sums): Sums {
  for (let i = 0; i < input.length; i += 2) {
    first = (first + (input[i] as number) + second) >>> 0;
    second = (second + (input[i + 1] as number) + first) >>> 0;
  }
  return [first, second];
}

function equal(a: Sums, b: Sums): boolean {
  return a[0] === b[0] && a[1] === b[1];
}
