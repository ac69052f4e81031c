import { expect, test } from 'vitest';
import type { Mapping } from '#contract/integrations/integration.ts';
import type { Directory } from '../tenants/directory.ts';
import type { Tenancy } from '../tenants/tenancy.ts';
import { MappingReader } from './mappings.ts';

const mapping: Mapping = {
  name: 'ups',
  fields: { title: '{/device}'.padEnd(1_000) },
  updatedAt: '2026-11-02T12:00:00Z',
  updatedBy: 'test',
};
const mappingChars = JSON.stringify([mapping]).length;

function readerWith(bounds: { mappings?: number; captures?: number }) {
  const reads: number[] = [];
  const list = async (tenant: number) => {
    reads.push(tenant);
    return [mapping];
  };
  const snapshotOf = (changed: number) => ({ record: { changed } }) as Awaited<ReturnType<Tenancy['get']>>;
  const reader = new MappingReader(
    { mappings: { list } as unknown as Directory['mappings'] },
    // Another process has made one more change.
    { get: async () => snapshotOf(1), current: async () => snapshotOf(2) },
    { mappings: 1_000, captures: 1_000, ...bounds },
  );
  return { reader, reads };
}

test('mappings are kept up to a number of characters; those used last stay', async () => {
  const { reader, reads } = readerWith({ mappings: 2 * mappingChars });
  for (const tenant of [1, 2, 1, 3, 1, 2]) expect(await reader.find(tenant, 'ups')).toEqual(mapping);
  expect(reads).toEqual([1, 2, 3, 2]);
});

test('mappings that are larger than that are read for each payload', async () => {
  const { reader, reads } = readerWith({ mappings: mappingChars - 1 });
  for (const tenant of [1, 1]) expect(await reader.find(tenant, 'ups')).toEqual(mapping);
  expect(reads).toEqual([1, 1]);
});

test('a mapping that is unknown is looked for once more, as another process may have just made it', async () => {
  const { reader, reads } = readerWith({ mappings: 2 * mappingChars });
  expect(await reader.find(1, 'none')).toBeUndefined();
  expect(reads).toEqual([1, 1]);
});

test('payloads are kept up to a number of characters, with what is wrong with them', () => {
  const { reader } = readerWith({ captures: 1_000 });
  const capture = (name: string, chars: number, problem: string | null = null) =>
    reader.capture(1, name, { at: 1, payload: 'x'.repeat(chars), problem });
  const kept = () => ['a', 'b', 'c'].filter((name) => reader.lastCapture(1, name));
  capture('a', 400);
  capture('b', 400);
  expect(kept()).toEqual(['a', 'b']);
  capture('c', 100, 'p'.repeat(100));
  expect(kept()).toEqual(['b', 'c']);
});
