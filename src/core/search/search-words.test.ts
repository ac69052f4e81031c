import { expect, test } from 'vitest';
import { phraseMatcher, spacedWords, wordsOf } from './search-words.ts';

test('words are letters and digits of any script, in lower case and without accents', () => {
  expect(wordsOf("Disk FULL on db-01: /var 91%, don't")).toEqual([
    ...['disk', 'full', 'on', 'db', '01', 'var', '91', 'don', 't'],
  ]);
  expect(wordsOf('Größe CAFÉ cafe\u0301 İzmir')).toEqual(['große', 'cafe', 'cafe', 'izmir']);
  expect(wordsOf('диск ΟΔΟΣ 磁盘 ٣٤ ディスク किताब')).toEqual([
    'диск',
    'οδοσ',
    '磁盘',
    '٣٤',
    'ディスク',
    'किताब',
  ]);
  expect(wordsOf('🔥 … --')).toEqual([]);
});

test('words in one text are the same words', () => {
  const texts = ['', ' -- ', "  Disk FULL on db-01: don't.", '- Größe ΟΔΟΣ -', '🔥', 'a\n\tb\0c'];
  for (const text of texts) expect(spacedWords(text)).toBe(wordsOf(text).join(' '));
});

test('a phrase is its words in a row; only its last one may go on', () => {
  const has = (phrase: string, prefix: boolean, text: string) => phraseMatcher(phrase, prefix)(wordsOf(text));
  expect(has('disk full', false, 'The DISK, full again')).toBe(true);
  expect(has('disk full', false, 'disk is full')).toBe(false);
  expect(has('disk fu', true, 'disk full')).toBe(true);
  expect(has('dis full', true, 'disk full')).toBe(false);
  expect(has('cafe', false, 'Café')).toBe(true);
});
