/** Who looks at a panel's stream. */
import type { Cursor } from '#contract/sse.ts';
import type { Screen } from '../directory.ts';

/** A panel as one of its screens stands. */
export interface ConnectedPanel extends Screen {
  readonly id: string;
  /** Everything up to here has been written to it. */
  readonly cursor: number;
}

/** How a screen comes: who it is, and where it goes on. */
export interface Opening {
  readonly from: Cursor | undefined;
  readonly screen: Screen;
}
