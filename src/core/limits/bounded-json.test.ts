import { expect, it } from 'vitest';
import { mostLevels, mostLists, mostTexts, parseBoundedJson } from './bounded-json.ts';

const nested = (levels: number, [open, close]: readonly [string, string] = ['[', ']']) =>
  open.repeat(levels) + close.repeat(levels);

it('refuses what is nested more than a hundred levels deep, whatever follows', () => {
  expect(parseBoundedJson(nested(mostLevels))).toBeInstanceOf(Array);
  for (const text of [nested(mostLevels + 1), '['.repeat(1_000_000), `{"a":${nested(mostLevels)}}`])
    expect(() => parseBoundedJson(text)).toThrow('nested more than 100 levels');
  expect(() => parseBoundedJson('{"a":'.repeat(200))).toThrow('nested more than 100 levels');
});

it('does not count brackets that stand beside each other or in a text', () => {
  const many = '['.repeat(500);
  const texts = [many, `a"${many}`, `\\"${many}\\`, '\\\\'];
  expect(parseBoundedJson(JSON.stringify(texts))).toEqual(texts);
  expect(parseBoundedJson(`[${'[],'.repeat(500)}{}]`)).toHaveLength(501);
  for (const bad of ['"', '"\\"', '"\\', ']]]]', '', '{"a'])
    expect(() => parseBoundedJson(bad)).toThrow(SyntaxError);
});

it('refuses more objects, lists and texts than a large payload has', () => {
  const full = `[${'{},'.repeat(mostLists / 2)}${'[],'.repeat(mostLists / 2 - 1)}0]`;
  expect(parseBoundedJson(full)).toHaveLength(mostLists);
  const named = `{${'"a":"b",'.repeat(mostTexts / 2)}`;
  for (const text of [full.replace('0]', '[]]'), `[${'[],'.repeat(1_300_000)}0]`, `${named}"c":0}`])
    expect(() => parseBoundedJson(text)).toThrow('more than 100000 objects and lists, or 400000 texts');
  expect(parseBoundedJson(`${named.slice(0, -1)}}`)).toEqual({ a: 'b' });
});
