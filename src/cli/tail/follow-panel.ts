import { Board, type BoardChange } from '#client/board.ts';
import { boardEvents } from '#client/board-events.ts';
import type { Client } from '#client/client.ts';
import { createElapsedClock } from '#client/elapsed-clock.ts';
import type { Connection } from '#client/event-stream.ts';
import { type Receipt, ReceiptOutbox } from '#client/receipt-outbox.ts';

/** Where a panel is shown. Times are of the clock that the board goes by. */
export interface PanelSurface {
  /** An event came, and changed the board so. */
  heard(board: Board, changes: readonly BoardChange[], now: number): void;
  /** Time went on, and these are over. */
  passed(board: Board, expired: readonly BoardChange[], now: number): void;
  connection(connection: Connection, now: number): void;
  /** Resolves when there is room for more. */
  ready(): Promise<void>;
  close(): void;
}

export interface FollowPanelOptions {
  readonly client: Pick<Client, 'panelEvents' | 'receipts'>;
  readonly panelId: string;
  /** What this is, as in tail/0.1.0. */
  readonly screen: string;
  /** Opens the surface; it tells `onSeen` which notifications a reader can see. */
  readonly open: (onSeen: (ids: readonly string[]) => void) => PanelSurface;
  /** Ends it, without an error. */
  readonly signal: AbortSignal;
}

const tickMs = 250;
/** What is still to be said at the end is worth this long a wait. */
const lastReceiptsMs = 1_000;

/** Shows a panel until told to stop, and reports to the server what was shown and what became of it. */
export async function followPanel({
  client,
  panelId,
  screen,
  open,
  signal,
}: FollowPanelOptions): Promise<void> {
  const board = new Board();
  const clock = createElapsedClock();
  const outbox = new ReceiptOutbox({
    post: (receipts) =>
      client.receipts(
        panelId,
        receipts,
        signal.aborted ? { signal: AbortSignal.timeout(lastReceiptsMs) } : {},
      ),
  });
  const book = new ReceiptBook(outbox, () => board.serverTime(clock.now()));
  const surface = open((ids) => book.seen(ids));
  const ticker = setInterval(() => {
    const now = clock.now();
    const expired = board.expire(now);
    surface.passed(board, expired, now);
    book.left(expired);
  }, tickMs);
  const onConnection = (connection: Connection) => surface.connection(connection, clock.now());
  try {
    const options = { client, panelId, board, clock, signal, onConnection, screen };
    for await (const { changes } of boardEvents(options)) {
      surface.heard(board, changes, clock.now());
      book.left(changes);
      await surface.ready();
    }
  } finally {
    clearInterval(ticker);
    surface.close();
    await outbox.close();
  }
}

/** Which of the notifications on the board have been seen, and the receipts that follow from it. */
class ReceiptBook {
  readonly #outbox: ReceiptOutbox;
  readonly #serverTime: () => number;
  readonly #seen = new Set<string>();

  constructor(outbox: ReceiptOutbox, serverTime: () => number) {
    this.#outbox = outbox;
    this.#serverTime = serverTime;
  }

  seen(ids: readonly string[]): void {
    for (const id of ids) {
      if (this.#seen.has(id)) continue;
      this.#seen.add(id);
      this.#say(id, 'shown');
    }
  }

  /** Only of what was seen is it worth saying how it left. */
  left(changes: readonly BoardChange[]): void {
    for (const { kind, card } of changes) {
      const { id } = card.notification;
      if (kind === 'added' || kind === 'counted' || !this.#seen.delete(id)) continue;
      if (kind === 'expired') this.#say(id, 'expired');
      if (kind === 'cleared' || kind === 'replaced') this.#say(id, 'cleared');
    }
  }

  #say(id: string, state: Receipt['state']): void {
    this.#outbox.add({ id, state, at: Math.max(0, Math.round(this.#serverTime())) });
  }
}
