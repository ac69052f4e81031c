import { Board, type BoardChange, boardEvents } from '#client/board.ts';
import type { Client } from '#client/client.ts';
import type { Connection } from '#client/event-stream.ts';
import { type Receipt, ReceiptOutbox } from '#client/receipt-outbox.ts';
import { createElapsedClock } from '#client/timing.ts';

/** Displays a panel. All times are of the board's clock. */
export interface PanelView {
  /** An event changed the board. */
  update(board: Board, changes: readonly BoardChange[], now: number): void;
  /** Called several times a second, to update the displayed times. */
  tick(board: Board, now: number): void;
  connection(connection: Connection, now: number): void;
  /** Resolves when the output can take more (backpressure). */
  drained(): Promise<void>;
  close(): void;
}

interface FollowPanelOptions {
  readonly client: Pick<Client, 'panelEvents' | 'receipts'>;
  readonly panelId: string;
  /** Name and version of this program, as in tail/0.9.0. */
  readonly screen: string;
  /** Opens the view, which calls `onShown` with the notifications that a reader can see. */
  readonly open: (onShown: (ids: readonly string[]) => void) => PanelView;
  /** Ends `followPanel` without an error. */
  readonly signal: AbortSignal;
}

const tickMs = 250;
/** Changes after which a card is still shown. */
const staying: ReadonlySet<BoardChange['kind']> = new Set([
  ...(['added', 'counted', 'acknowledged', 'unacknowledged', 'followed'] as const),
]);
/** At the end, how long to wait for the last receipts to be sent. */
const lastReceiptsMs = 1_000;

/** Shows a panel until `signal` aborts, and sends receipts of what was shown, expired and cleared. */
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
  const shown = new Set<string>();
  const report = (id: string, state: Receipt['state']) =>
    outbox.add({ id, state, at: Math.max(0, Math.round(board.serverTime(clock.now()))) });
  const view = open((ids) => {
    for (const id of ids) {
      if (shown.has(id)) continue;
      shown.add(id);
      report(id, 'shown');
    }
  });
  /** How a notification ended is reported only if it was shown. */
  const reportEnds = (changes: readonly BoardChange[]) => {
    for (const { kind, card } of changes) {
      const { id } = card.notification;
      if (staying.has(kind) || !shown.delete(id)) continue;
      if (kind === 'expired') report(id, 'expired');
      if (kind === 'cleared' || kind === 'replaced') report(id, 'cleared');
    }
  };
  const ticker = setInterval(() => {
    const now = clock.now();
    const expired = board.expire(now);
    view.tick(board, now);
    reportEnds(expired);
  }, tickMs);
  const onConnection = (connection: Connection) => view.connection(connection, clock.now());
  try {
    const options = { client, panelId, board, clock, signal, onConnection, screen };
    for await (const { changes } of boardEvents(options)) {
      view.update(board, changes, clock.now());
      reportEnds(changes);
      await view.drained();
    }
  } finally {
    clearInterval(ticker);
    view.close();
    await outbox.close();
  }
}
