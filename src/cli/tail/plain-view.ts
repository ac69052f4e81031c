import { once } from 'node:events';
import type { Board, BoardChange } from '#client/board.ts';
import type { Connection } from '#client/event-stream.ts';
import { briefDuration } from '../duration.ts';
import type { Io } from '../io.ts';
import { visibleText } from '../terminal/visible-text.ts';
import type { PanelSurface } from './follow-panel.ts';
import { plainLine } from './plain-line.ts';

export interface PlainViewOptions {
  readonly url: string;
  /** Is told of the notifications that were written. */
  readonly onSeen: (ids: readonly string[]) => void;
}

/** A live set that comes again after a gap repeats what was written: so many ids are remembered. */
const remembered = 5_000;

/** Writes a line for each event; what becomes of the connection goes to stderr. */
export class PlainView implements PanelSurface {
  readonly #io: Pick<Io, 'stdout' | 'stderr'>;
  readonly #options: PlainViewOptions;
  readonly #written = new Set<string>();
  #lost = false;

  constructor(io: Pick<Io, 'stdout' | 'stderr'>, options: PlainViewOptions) {
    this.#io = io;
    this.#options = options;
  }

  heard(board: Board, changes: readonly BoardChange[], now: number): void {
    const fresh = changes.filter(({ kind, card }) => kind !== 'added' || this.#isNew(card.notification.id));
    const lines = fresh.flatMap((change) => plainLine(change, board.serverTime(now)) ?? []);
    if (lines.length > 0) this.#io.stdout.write(`${lines.join('\n')}\n`);
    this.#options.onSeen(fresh.flatMap(({ kind, card }) => (kind === 'added' ? [card.notification.id] : [])));
  }

  passed(): void {}

  connection(connection: Connection): void {
    const { url } = this.#options;
    if (connection.state === 'waiting') {
      const { reason, retryInMs } = connection;
      const next = `next attempt in ${briefDuration(retryInMs)}`;
      this.#io.stderr.write(`belfry: no contact with ${url} (${visibleText(reason)}); ${next}\n`);
      this.#lost = true;
    } else if (connection.state === 'online' && this.#lost) {
      this.#io.stderr.write(`belfry: connected to ${url} again\n`);
      this.#lost = false;
    }
  }

  /** A reader that cannot keep up slows us down, and with us the server's stream: nothing piles up here. */
  async ready(): Promise<void> {
    const { stdout } = this.#io;
    if (!stdout.writableNeedDrain) return;
    await Promise.race([once(stdout, 'drain'), once(stdout, 'close')]).catch(() => undefined);
  }

  close(): void {}

  #isNew(id: string): boolean {
    if (this.#written.has(id)) return false;
    this.#written.add(id);
    const [oldest] = this.#written;
    if (this.#written.size > remembered && oldest !== undefined) this.#written.delete(oldest);
    return true;
  }
}
