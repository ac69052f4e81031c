import fc from 'fast-check';
import { expect, test } from 'vitest';
import { instant, play, query, step, tuning } from '../../../../test/support/arbitrary-history.ts';
import { HistoryModel } from '../../../../test/support/history-model.ts';
import { printQuery } from '../../../core/search/search-print.ts';
import type { Query } from '../../../core/search/search-query.ts';
import { indexSlice } from '../indexer.ts';
import { searchPage } from './search.ts';
import type { Tuning } from './tuning.ts';

interface Paging {
  readonly now: number;
  readonly limit: number;
  /** With 0, each page ends as soon as it has searched anything. */
  readonly timeoutMs: number;
}

/** Every page of a search, one after the other. */
function searchAll(model: HistoryModel, asked: Query, paging: Paging, tuned: Tuning): string[] {
  const ids: string[] = [];
  let before: number | undefined;
  do {
    const options = { ...paging, ...(before !== undefined && { before }) };
    const page = searchPage(model.db, model.tenant, asked, options, tuned);
    ids.push(...page.records.map(({ id }) => id));
    before = page.next ?? undefined;
  } while (before !== undefined);
  return ids;
}

test('indexed, half indexed or not at all, with time or without, a search finds what a loop over the list finds', () => {
  fc.assert(
    fc.property(
      fc.array(step, { minLength: 1, maxLength: 60 }),
      fc.array(query, { minLength: 20, maxLength: 20 }),
      fc.constantFrom('none', 'some', 'all'),
      instant,
      fc.integer({ min: 1, max: 7 }),
      fc.constantFrom(0, 60_000),
      tuning,
      // Where blocks of positions meet, and where numbers outgrow 31 bits and an entry outgrows 53.
      fc.constantFrom(0, 2 ** 15 - 20, 2 ** 31 - 20, 2 ** 40 - 200),
      (steps, queries, indexing, now, limit, timeoutMs, tuned, from) => {
        const model = new HistoryModel(from);
        play(
          model,
          indexing === 'none'
            ? steps.map((s) => ({ ...s, act: s.act === 'index' ? 'nothing' : s.act }))
            : steps,
        );
        if (indexing === 'all') while (indexSlice(model.db, 20).behind);
        for (const asked of queries) {
          const found = searchAll(model, asked, { now, limit, timeoutMs }, tuned);
          expect(found, printQuery(asked)).toEqual(model.search(asked, now));
        }
        model.db.close();
      },
    ),
    { numRuns: 150 },
  );
}, 60_000);
