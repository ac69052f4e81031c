/** Where each transaction lies in a write-ahead log, read from its frames' headers alone. */
import { readFileSync } from 'node:fs';

const headerBytes = 32;
const frameHeaderBytes = 24;

export interface WalMap {
  readonly frameBytes: number;
  readonly bytes: number;
  /** Where each transaction begins and ends, in order. */
  readonly transactions: readonly { readonly start: number; readonly end: number }[];
  /** The end of the transaction that brought a name; undefined: it is in the database itself. */
  endOf(name: string): number | undefined;
}

/** Maps the log of a server that was killed: the frames of its newest life. */
export function mapWal(path: string, markOf: (name: string) => string): WalMap {
  const wal = readFileSync(path);
  const frameBytes = frameHeaderBytes + wal.readUInt32BE(8);
  const salts = wal.subarray(16, 24);
  const transactions: { start: number; end: number }[] = [];
  let start = headerBytes;
  for (let at = headerBytes; at + frameBytes <= wal.length; at += frameBytes) {
    if (!wal.subarray(at + 8, at + 16).equals(salts)) break;
    if (wal.readUInt32BE(at + 4) === 0) continue;
    transactions.push({ start, end: at + frameBytes });
    start = at + frameBytes;
  }
  const bytes = transactions.at(-1)?.end ?? headerBytes;
  const endOf = (name: string) => {
    const at = wal.subarray(0, bytes).indexOf(markOf(name));
    return at < 0 ? undefined : transactions.find(({ end }) => at < end)?.end;
  };
  return { frameBytes, bytes, transactions, endOf };
}
