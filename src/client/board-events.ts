import type { Board, BoardChange } from './board.ts';
import type { Client } from './client.ts';
import type { ElapsedClock } from './elapsed-clock.ts';
import type { PanelEvent, PanelEventsOptions } from './panel-events.ts';

export interface BoardEvent {
  readonly event: PanelEvent;
  /** What it changed on the board. */
  readonly changes: readonly BoardChange[];
}

export interface BoardEventsOptions extends PanelEventsOptions {
  readonly client: Pick<Client, 'panelEvents'>;
  readonly panelId: string;
  readonly board: Board;
  /** By which the board goes. */
  readonly clock: ElapsedClock;
}

/**
 * A panel's events, for as long as the caller listens, each after the board has taken it in. When more are live than
 * the board holds and few of those it holds are left, it asks for the live set again.
 *
 * @throws ApiError as panelEvents.
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
        clock.heard(Date.parse(event.data.serverTime));
      yield { event, changes: board.apply(event, clock.now()) };
      if (board.needsMore) break;
    }
  }
}
