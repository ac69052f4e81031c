import { expect, test } from 'vitest';
import { context, errorOf } from '#test/support/search-context.ts';
import type { AppError } from '../errors.ts';
import { parseQuery } from './search-parser.ts';

const parse = (text: string) => parseQuery(text, context);

test('what is wrong is named, with its place and the nearest that is right', () => {
  const cases: readonly [string, string][] = [
    ['abc hots:x', 'q: unknown key "hots" at character 5; did you mean "host"?'],
    ['http://x', 'q: unknown key "http" at character 1'],
    ['level:eror', 'q: unknown level "eror" at character 7; did you mean "error"?'],
    ['level:error,criticl', 'q: unknown level "criticl" at character 13; did you mean "critical"?'],
    ['level:>critical', 'q: no level ranks above "critical": ">critical" at character 7'],
    ['is:mutd', 'q: unknown state "mutd" for "is" at character 4; did you mean "muted"?'],
    ['panel:loby', 'q: unknown panel "loby" at character 7; did you mean "lobby"?'],
    [
      'panel:qqqqqqq',
      'q: unknown panel "qqqqqqq" at character 7; it is one of "lobby", "Wall *", "NOC wall", "NOC desk"',
    ],
    ['token:x*', 'q: no token has a name like "x*" at character 7'],
    ['ip:10.0.0', 'q: a bad value at character 4: "10.0.0" is no address, CIDR block or range'],
    ['host:', 'q: a value for "host" is missing at character 6'],
    ['host:a,', 'q: a value for "host" is missing at character 8'],
    ['host:""', 'q: a value for "host" is missing at character 6'],
    ['label:', 'q: a value for "label" is missing at character 7'],
    ['label:*', 'q: "*" is no name of a label at character 7; write a name, or a name and a value'],
    ['a label:9x', 'q: "9x" is no name of a label at character 9; write a name, or a name and a value'],
    ['label:9x=prod', 'q: "9x" is no name of a label at character 7'],
    ['label:=prod', 'q: "" is no name of a label at character 7'],
    ['label:env*=prod', 'q: "env*" is no name of a label at character 7'],
    ['label:"a b=c"', 'q: "a b" is no name of a label at character 7'],
    ['label:env=prod,', 'q: a value for "label" is missing at character 16'],
    [':x', 'q: the key before ":" is missing at character 1'],
    ['"abc', 'q: the quote at character 1 is not closed'],
    ['a"b"', 'q: a quote inside a word at character 2'],
    ['main()', 'q: "(" is in the way at character 5'],
    ['host:(a OR b)', 'q: a value for "host" is missing at character 6'],
    ['(a)b', 'q: a space is missing at character 4'],
    ['(a', 'q: "(" at character 1 is not closed'],
    ['a)', 'q: ")" closes nothing at character 2'],
    ['a ()', 'q: the parentheses are empty at character 3'],
    ['OR a', 'q: OR has nothing before it at character 1'],
    ['a OR', 'q: a term is missing after OR at character 5'],
    ['a - b', 'q: "-" stands alone at character 3'],
    ['-', 'q: "-" stands alone at character 1'],
    ['NOT', 'q: a term is missing after NOT at character 4'],
    ['fo*o', 'q: "fo*o" at character 1 has "*" inside'],
    ['host:"a"*', 'q: "*" after a quote at character 6 is for text'],
    ['a\0b', 'q: U+0000 and halves of surrogate pairs are not allowed; found one at character 2'],
    ['💥💥 \ud800', 'q: U+0000 and halves of surrogate pairs are not allowed; found one at character 4'],
    ['💥é is:x', 'q: unknown state "x" for "is" at character 7'],
  ];
  for (const [text, message] of cases) expect(errorOf(text)).toContain(message);
});

test('a name that several things have or had is offered once', () => {
  const rules = ['a', 'b', 'a', 'b', 'c'].map((name, i) => ({ id: `r${i}`, name }));
  expect(() => parseQuery('rule:qqqqqqq', { ...context, rules })).toThrow('it is one of "a", "b", "c"');
});

test('programs get the place and what is near, without the sentence', () => {
  const placeOf = (text: string) => {
    try {
      parse(text);
    } catch (error) {
      const { code, place } = error as AppError;
      const { at = 0, length, nearest } = place ?? {};
      const end = length === undefined ? undefined : at - 1 + length;
      return [code, length === undefined ? at : [...text].slice(at - 1, end).join(''), nearest];
    }
    return undefined;
  };
  expect([
    placeOf('é💥é hots:a'),
    placeOf('a level:>=eror b'),
    placeOf('level:"eror"'),
    placeOf('is:"live long"'),
    placeOf('panel:"a b",qqqqqqq x'),
    placeOf('ip:10.0.0,x'),
    placeOf('since:5min'),
    placeOf('after:"2026-02-30 10:00" b'),
    placeOf('fo*o'),
    placeOf('host: b'),
  ]).toEqual([
    ['query.unknown-key', 'hots', ['host']],
    ['query.unknown-value', 'eror', ['error']],
    ['query.unknown-value', 'eror', ['error']],
    ['query.unknown-value', '"live long"', ['live', 'shelved', 'unseen', 'open', 'muted']],
    ['query.unknown-value', '"a b"', ['lobby', 'Wall *', 'NOC wall', 'NOC desk']],
    ['query.invalid', '10.0.0', undefined],
    ['query.invalid', '5min', undefined],
    ['query.invalid', '"2026-02-30 10:00"', undefined],
    ['query.invalid', 'fo*o', undefined],
    ['query.invalid', 6, undefined],
  ]);
});

test('the limits are 2,000 characters, 100 terms and 20 levels of nesting', () => {
  expect(parse('é'.repeat(2000)).kind).toBe('text');
  expect(errorOf('é'.repeat(2001))).toBe('q: a search has at most 2000 characters');
  expect(parse(Array(100).fill('a').join(' ')).kind).toBe('and');
  expect(errorOf(Array(101).fill('a').join(' '))).toBe(
    'q: more than 100 terms; the first one too many is at character 201',
  );
  expect(errorOf(`host:${Array(101).fill('a').join(',')}`)).toContain('more than 100 terms');
  expect(parse(`${'('.repeat(20)}a${')'.repeat(20)}`)).toEqual(parse('a'));
  expect(errorOf(`${'('.repeat(21)}a${')'.repeat(21)}`)).toBe(
    'q: more than 20 levels of nesting at character 21',
  );
  expect(errorOf(`${'-'.repeat(1999)}a`)).toContain('more than 20 levels of nesting');
});
