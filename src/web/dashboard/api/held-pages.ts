/** The pages of a list of notifications, of which those near what is looked at have their rows. */
import type { HistoryNotification } from '#contract/notification.ts';

export interface HeldPage {
  readonly cursor: string | undefined;
  readonly start: number;
  readonly length: number;
  rows: readonly HistoryNotification[] | undefined;
  loading: boolean;
}

/** Pages whose rows are held, and how much text they may hold: a message can have 16,384 characters. */
const heldPages = 40;
const heldChars = 16_000_000;

/** The page that has this row, by halving. */
export function pageAt(pages: readonly HeldPage[], at: number): HeldPage | undefined {
  let low = 0;
  let high = pages.length - 1;
  while (low <= high) {
    const middle = (low + high) >> 1;
    const page = pages[middle] as HeldPage;
    if (at < page.start) high = middle - 1;
    else if (at >= page.start + page.length) low = middle + 1;
    else return page;
  }
  return undefined;
}

/** Lets go of the rows that are farthest from `aim`, never of the first page: what is new is told by it. */
export function letGo(pages: readonly HeldPage[], aim: number): void {
  const held = pages.slice(1).filter(({ rows }) => rows !== undefined);
  const distance = ({ start }: HeldPage) => Math.abs(start - aim);
  held.sort((a, b) => distance(a) - distance(b));
  let chars = 0;
  for (const [i, page] of held.entries()) {
    for (const { message } of page.rows ?? []) chars += message.length;
    if (i > 2 && (i >= heldPages || chars > heldChars)) page.rows = undefined;
  }
}
