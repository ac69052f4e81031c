/** History as a file of any size, in the memory of a page. */
import { AppError } from '../../core/errors.ts';
import { csvHeader, csvRow, ndjsonLine } from '../../core/export.ts';
import type { TenantId } from '../../core/ports.ts';
import type { Query } from '../../core/search/search-query.ts';
import type { Services } from '../services.ts';

/** A reader that has taken nothing for so long is let go. */
export const stalledMs = 60_000;
/** Exports of one tenant at a time: each holds a page, and has the searching thread for as long as it is read. */
const mostAtOnce = 8;
/** A page is about this much text, however long its messages are. */
const pageChars = 128 * 1024;
const firstPage = 20;
const longestPage = 500;

/** Which tenants have how many exports under way. */
export class RunningExports {
  readonly #running = new Map<TenantId, number>();

  /** Answers what to call once at the end. @throws AppError `rate-limited` when there are enough. */
  begin(tenant: TenantId): () => void {
    const running = this.#running.get(tenant) ?? 0;
    if (running >= mostAtOnce) {
      const message = `${mostAtOnce} exports of this tenant are under way: wait until one has ended`;
      throw new AppError('rate-limited', message, { retryAfterSeconds: 10 });
    }
    this.#running.set(tenant, running + 1);
    return () => {
      const left = (this.#running.get(tenant) ?? 1) - 1;
      if (left > 0) this.#running.set(tenant, left);
      else this.#running.delete(tenant);
    };
  }
}

/** One page at a time, and the next only when the reader has taken the last. */
export async function* exported(
  { history, now }: Services,
  tenant: number,
  query: Query,
  csv: boolean,
): AsyncGenerator<string> {
  if (csv) yield csvHeader;
  const at = now();
  let before: number | undefined;
  let limit = firstPage;
  for (;;) {
    const page = await history.search(tenant, query, {
      limit,
      now: at,
      ...(before !== undefined && { before }),
    });
    const text = page.records.map((record) => (csv ? csvRow(record) : ndjsonLine(record))).join('');
    yield text;
    if (page.next === null) return;
    before = page.next;
    const perRecord = Math.max(1, text.length / page.records.length);
    limit = Math.min(longestPage, 2 * limit, Math.max(1, Math.floor(pageChars / perRecord)));
  }
}
