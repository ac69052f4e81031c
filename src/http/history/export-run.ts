/** Exports history as a file of any size, using the memory of one page. */
import { limits } from '#contract/limits.ts';
import { csvHeader } from '#core/history/export.ts';
import type { TenantId } from '#core/ports.ts';
import type { Query } from '#core/search/search-query.ts';
import type { Services } from '../services.ts';

/** A page is about this much text, however long its messages are. */
const pageChars = 128 * 1024;
const firstPage = 20;
const longestPage = 500;

export interface Wanted {
  readonly tenant: TenantId;
  readonly query: Query;
  readonly csv: boolean;
  /** Cancels the running search. */
  readonly signal: AbortSignal;
}

/** One page at a time; the next is read when the client has taken the last. */
export async function* exported(
  { history, now }: Services,
  { tenant, query, csv, signal }: Wanted,
): AsyncGenerator<string> {
  if (csv) yield csvHeader;
  const at = now();
  let before: number | undefined;
  let limit = firstPage;
  for (;;) {
    const page = await history.search(tenant, query, {
      limit,
      form: csv ? 'csv' : 'ndjson',
      now: at,
      timeoutMs: limits.searchMs,
      signal,
      ...(before !== undefined && { before }),
    });
    const text = page.records.join('');
    if (text !== '') yield text;
    if (page.next === null) return;
    before = page.next;
    if (text === '') continue;
    const perRecord = Math.max(1, text.length / page.records.length);
    limit = Math.min(longestPage, 2 * limit, Math.max(1, Math.floor(pageChars / perRecord)));
  }
}
