import type { HistoryRecord, SearchOptions, SearchPage } from '#core/ports.ts';

/** What a search may take of the search thread at once: another tenant's search waits no longer for it. */
const stepMs = 100;

/**
 * A search as steps, each a page with little time that goes on where the one before ended. A step answers the whole page
 * once it is full, the log's beginning is reached, or the time is over.
 */
export function searchInSteps(
  { limit, timeoutMs = Number.POSITIVE_INFINITY, ...options }: Omit<SearchOptions, 'signal'>,
  searchPart: (options: SearchOptions) => Promise<SearchPage>,
): () => Promise<SearchPage | undefined> {
  const endsAt = performance.now() + timeoutMs;
  const records: HistoryRecord[] = [];
  let before = options.before;
  let head: number | undefined;
  return async () => {
    const wanted = {
      ...options,
      limit: limit - records.length,
      timeoutMs: Math.min(stepMs, timeoutMs),
      ...(before !== undefined && { before }),
    };
    const part = await searchPart(wanted);
    records.push(...part.records);
    head ??= part.head;
    if (part.searchedTo !== null && performance.now() < endsAt) {
      before = part.next ?? undefined;
      return undefined;
    }
    return { ...part, records, head };
  };
}
