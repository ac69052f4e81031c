/** Reads a trace of system calls, and tells whether every answer left after what it promises was on disk. */

/** What `SyncTrace` needs to see: options for strace. WAL frames are 4,096 bytes, and are read for names. */
export const syncTraceOptions = [
  '-yy',
  '-s',
  '5000',
  '-e',
  'trace=read,write,writev,pwrite64,pwritev,fsync,fdatasync',
];

const call = /^(\d+)\s+(\w+)\(\d+<(TCP[^\]]*\]|[^>]*)>(.*)$/s;
const resumed = /^(\d+)\s+<\.\.\. (\w+) resumed>(.*)$/s;
const unfinished = ' <unfinished ...>';
/** As `markOf` of the load writes it into every message. */
const mark = /<(w\d+-\d+)>/g;

interface Call {
  readonly name: string;
  readonly file: string;
  readonly began: number;
  readonly text: string;
}

/**
 * An answer is in order when, by the trace, its request was read, then its row was written to the write-ahead log, then a
 * sync of that log began, succeeded and ended, and only then the 200 was written to the request's own connection.
 */
export class SyncTrace {
  /** Answers that were in order. */
  durable = 0;
  /** Answers that were not, in words. */
  readonly early: string[] = [];
  /** Syncs of the write-ahead log that succeeded. */
  syncs = 0;
  #line = 0;
  #rest = '';
  /** Calls a thread is in the middle of. */
  readonly #open = new Map<string, Call>();
  /** Names read from a connection and not answered yet. */
  readonly #asked = new Map<string, { readonly name: string; readonly at: number }>();
  readonly #written = new Map<string, number>();
  /** When the latest of the syncs that have succeeded began: all written before it is on disk. */
  #syncedTo = -1;

  /** Takes the next piece of the trace. */
  feed(text: string): void {
    const lines = (this.#rest + text).split('\n');
    this.#rest = lines.pop() ?? '';
    for (const line of lines) this.#take(line);
  }

  #take(line: string): void {
    this.#line += 1;
    const again = resumed.exec(line);
    if (again) {
      const [, thread = '', , rest = ''] = again;
      const open = this.#open.get(thread);
      this.#open.delete(thread);
      if (open) this.#ended({ ...open, text: open.text + rest });
      return;
    }
    const found = call.exec(line);
    if (!found) return;
    const [, thread = '', name = '', file = '', text = ''] = found;
    const began = { name, file, began: this.#line, text };
    this.#began(began);
    if (text.endsWith(unfinished))
      this.#open.set(thread, { ...began, text: text.slice(0, -unfinished.length) });
    else this.#ended(began);
  }

  /** An answer counts from the moment its write begins. */
  #began({ name, file, text }: Call): void {
    if (!file.startsWith('TCP') || !name.startsWith('write') || !text.includes('"HTTP/1.1 200')) return;
    const asked = this.#asked.get(file);
    if (!asked) return;
    this.#asked.delete(file);
    const written = this.#written.get(asked.name);
    if (written === undefined) this.early.push(`${asked.name} was answered before its row was written`);
    else if (written >= this.#syncedTo || asked.at >= this.#syncedTo)
      this.early.push(`${asked.name} was answered before a sync that began after its row was written`);
    else this.durable += 1;
  }

  #ended({ name, file, began, text }: Call): void {
    if (file.startsWith('TCP')) {
      const asked =
        name === 'read' && text.includes('"POST /api/notify') ? text.matchAll(mark).next().value : undefined;
      if (asked) this.#asked.set(file, { name: asked[1] as string, at: this.#line });
    } else if (file.endsWith('-wal')) {
      if (name.startsWith('pwrite')) {
        for (const [, named = ''] of text.matchAll(mark))
          if (!this.#written.has(named)) this.#written.set(named, this.#line);
      } else if (name.endsWith('sync') && /\)\s+= 0\b/.test(text)) {
        this.#syncedTo = Math.max(this.#syncedTo, began);
        this.syncs += 1;
      }
    }
  }
}
