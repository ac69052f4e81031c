import { expect, test } from 'vitest';
import { FairQueue } from '#core/limits/concurrency.ts';
import { createSqliteHistory, type SqliteThreads } from './history.ts';

test('what panels and phones need waits for no search', async () => {
  const answers = (name: string) => async () => `${name} of the reader`;
  const reader = new Proxy({}, { get: (_, name: string) => answers(name) }) as SqliteThreads['reader'];
  const searches = new FairQueue();
  const endless = () => new Promise<never>(() => undefined);
  const searcher = { search: endless } as unknown as SqliteThreads['searcher'];
  const history = createSqliteHistory({ reader, searcher, searches, queue: {} as SqliteThreads['queue'] });
  const options = { limit: 1, now: 0, timeoutMs: 1_000 };
  void history.search(1, { kind: 'all' }, options);
  expect(await history.readAfter(1, 0, 1)).toBe('readAfter of the reader');
  expect(await history.recordsAt(1, [1])).toBe('recordsAt of the reader');
  expect(await history.live(1, { id: 'p', tags: [] }, 0, 1)).toBe('live of the reader');
  expect(await history.readLive(1, [1], 0, 1)).toBe('readLive of the reader');
});
