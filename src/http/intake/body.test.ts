import { expect, it } from 'vitest';
import { parseForm, parseShallowJson } from './body.ts';

it('reads a form as browsers send it', () => {
  for (const text of ['a=1&b=2', 'a=%C3%A9+x&&=y&z', 'a=b=c', 'a=%zz%4', 'é=%F0%9F%94%94', 'a%26b=%3D', ''])
    expect(parseForm(text)).toEqual([...new URLSearchParams(text)]);
  expect(() => parseForm('a=%FF')).toThrow('must be UTF-8');
  expect(() => parseForm('%C3=é')).toThrow('must be UTF-8');
});

it('refuses a form of more fields than any sender sends, before it reads them', () => {
  expect(parseForm('a=1&'.repeat(999))).toHaveLength(999);
  expect(() => parseForm('a&'.repeat(500_000))).toThrow('at most 1000 fields');
});

it('refuses the JSON of a payload that is nested too deeply', () => {
  expect(() => parseShallowJson('['.repeat(1_000_000))).toThrow('nested more than 100 levels deep');
});
