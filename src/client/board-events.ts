import type { Board, BoardChange } from './board.ts';
import type { Client } from './client.ts';
import type { ElapsedClock } from './elapsed-clock.ts';
import type { PanelEvent, PanelEventsOptions } from './panel-events.ts';

export interface BoardEvent {
  readonly event: PanelEvent;
  /** The changes of the event to the board. */
  readonly changes: readonly BoardChange[];
}

export interface BoardEventsOptions extends PanelEventsOptions {
  readonly client: Pick<Client, 'panelEvents'>;
  readonly panelId: string;
  readonly board: Board;
  /** The clock of the board. */
  readonly clock: ElapsedClock;
}

/**
 * Yields a panel's events until `signal` aborts; the board has applied each event before it is yielded. The board holds only
 * part of a large live set. When few of its cards are left (`needsMore`), the stream is opened again to get the next ones.
 *
 * @throws ApiError like panelEvents.
 */
export async function* boardEvents({
  client,
  panelId,
  board,
  clock,
  ...options
}: BoardEventsOptions): AsyncGenerator<BoardEvent, void, void> {
  while (!options.signal?.aborted) {
    for await (const event of client.panelEvents(panelId, options)) {
      if (event.type === 'ready' || event.type === 'heartbeat')
        clock.observe(Date.parse(event.data.serverTime));
      yield { event, changes: board.apply(event, clock.now()) };
      if (board.needsMore) break;
    }
  }
}
