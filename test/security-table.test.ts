import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';

const root = join(import.meta.dirname, '..');
const text = readFileSync(join(root, 'SECURITY.md'), 'utf8');
const rows = [...text.matchAll(/^\| ([\d., ]+) \| ([^|]+) \| ([^|]+) \|$/gm)];

test('SECURITY.md judges each of the 253 requirements of ASVS 5.0 up to level 2, once, and says how or why not', () => {
  const numbers = rows.flatMap(([, list = '']) => list.split(', '));
  expect(numbers.length).toBe(253);
  expect(new Set(numbers).size).toBe(253);
  expect(numbers.filter((number) => !/^([1-9]|1[0-7])\.\d{1,2}\.\d{1,2}$/.test(number))).toEqual([]);
  for (const [, list, state, why = ''] of rows) {
    expect([list, state]).toEqual([list, expect.toBeOneOf(['met', 'open', 'not applicable'])]);
    expect([list, why.trim().length > 3]).toEqual([list, true]);
  }
});

test('what it names as its evidence is there', () => {
  const named = [...text.matchAll(/`((?:test|deploy|docs|core|contract|storage|cli|http)\/[^`*]+?)`/g)];
  const paths = named.map(([, path = '']) => path);
  expect(paths.length).toBeGreaterThan(15);
  const isThere = (path: string) =>
    ['', 'src/'].some((folder) =>
      ['', '.ts', '.test.ts'].some((end) => existsSync(join(root, `${folder}${path}${end}`))),
    );
  expect(paths.filter((path) => !isThere(path))).toEqual([]);
});
