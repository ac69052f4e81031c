import { expect, test } from 'vitest';
import { openSearch } from './search.ts';

const words = Array.from({ length: 80 }, (_, n) => `word${n}`);
const searchIn = (text: string) =>
  openSearch(
    `data:application/json,${encodeURIComponent(JSON.stringify([['Page', 'page', 'Heading', text]]))}`,
  );

test('an excerpt consists of whole words', async () => {
  for (const at of [0, 3, 17, 40, 79, 80]) {
    const all = words.toSpliced(at, 0, 'needle');
    const excerpt = (await searchIn(all.join(' ')))('needle')[0]?.excerpt ?? '';
    expect(excerpt).toContain('needle');
    for (const part of excerpt.split(' ')) expect([...all, '…']).toContain(part);
    expect(excerpt.replace(/^… | …$/g, '').length).toBeLessThanOrEqual(140);
  }
});

test('a short text is its own excerpt', async () => {
  expect((await searchIn('A short text.'))('short')[0]?.excerpt).toBe('A short text.');
});
