import { expect, test } from 'vitest';
import { unavailable } from '#core/errors.ts';
import { Database } from '../database/sql.ts';
import { sqliteDialect } from '../sqlite/open.ts';
import { EarlierVersions, sizeCheckBytes } from './rules.ts';

test('a stored change does not fail because earlier versions cannot be counted, and the next change counts them', async () => {
  let reads = 0;
  const read = async () => {
    reads += 1;
    if (reads === 1) throw unavailable('the database is away');
    return [];
  };
  const earlier = new EarlierVersions(new Database(sqliteDialect, { read, write: async () => [] }));
  for (const bytes of [1, 1, 1]) await earlier.added(7, bytes);
  expect(reads).toBe(2);
  await earlier.added(7, sizeCheckBytes);
  expect(reads).toBe(3);
});
