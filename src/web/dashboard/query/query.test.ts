import { expect, test } from 'vitest';
import { ApiError } from '#client/call.ts';
import type { ErrorPlace } from '#contract/error-header.ts';
import { quoteValue, readQueryError, readWords, refine, tokenizeQuery } from './query-words.ts';
import { ageMs, ageText, instantText, readTimeRange, withTimeRange } from './time-range.ts';

const painted = (text: string) =>
  tokenizeQuery(text).map(({ text: piece, tone }) => (tone === 'plain' ? piece : `${tone}<${piece}>`));

test('keys and operators are distinguished from values, and nothing of the text is lost', () => {
  expect(painted('host:db-* level:>=warning -ip:10.9.0.0/16 a')).toEqual([
    'key<host:>',
    'db-*',
    ' ',
    'key<level:>',
    'operator<>=>',
    'warning',
    ' ',
    'operator<->',
    'key<ip:>',
    '10.9.0.0/16',
    ' ',
    'a',
  ]);
  expect(painted('("a : b" OR -x)')).toEqual([
    'operator<(>',
    '"a : b"',
    ' ',
    'operator<OR>',
    ' ',
    'operator<->',
    'x',
    'operator<)>',
  ]);
  for (const text of ['"open', 'a:"b c', '-', '- -', 'ip:::1', ')(', '\\', 'x\\', ' \u202Ea: ', '😀:😀'])
    expect(
      tokenizeQuery(text)
        .map((piece) => piece.text)
        .join(''),
    ).toBe(text);
});

test('a quoted value with spaces is one word with its key', () => {
  expect(readWords('rule:"night mute",b x').map(({ start, end, key }) => [start, end, key])).toEqual([
    [0, 19, 'rule'],
    [20, 21, ''],
  ]);
});

test('a label is written and highlighted as one value, quoted where it must be', () => {
  const labels = ['env=prod', 'env=', 'site=plant 2', 'range=1,2', 'q="*"'];
  const written = labels.map((value) => refine('', { key: 'label', value, negated: false }));
  expect(written).toEqual([
    'label:env=prod',
    'label:env=',
    'label:"site=plant 2"',
    'label:"range=1,2"',
    'label:"q=\\"\\*\\""',
  ]);
  expect(painted('label:env=prod -label:"site=plant 2"')).toEqual([
    'key<label:>',
    'env=prod',
    ' ',
    'operator<->',
    'key<label:>',
    '"site=plant 2"',
  ]);
});

test('a click adds a condition, once, and turns its opposite around', () => {
  const host = { key: 'host', value: 'db-1', negated: false } as const;
  expect(refine('', host)).toBe('host:db-1');
  expect(refine('disk', host)).toBe('disk host:db-1');
  expect(refine('disk host:db-1', host)).toBe('disk host:db-1');
  expect(refine('-host:db-1 disk', host)).toBe('disk host:db-1');
  expect(refine('host:db-1', { ...host, negated: true })).toBe('-host:db-1');
  expect(refine('a OR b', host)).toBe('(a OR b) host:db-1');
  expect(refine('(a OR b) c', host)).toBe('(a OR b) c host:db-1');
});

test('a value stands for itself, whatever is in it', () => {
  expect(['db-1', 'fd00::5', 'night mute', 'a*', '-x', '>=x', 'say "hi"', 'C:\\x'].map(quoteValue)).toEqual([
    'db-1',
    'fd00::5',
    '"night mute"',
    '"a\\*"',
    '"-x"',
    '">=x"',
    '"say \\"hi\\""',
    '"C:\\\\x"',
  ]);
});

test('the time of a search is read, replaced and taken away', () => {
  expect(readTimeRange('a since:24h')).toEqual({ since: '24h' });
  expect(readTimeRange('(a since:24h) -since:1h')).toEqual({});
  expect(withTimeRange('since:24h a', { since: '7d' })).toBe('a since:7d');
  expect(withTimeRange('a after:2026-11-01 before:2026-11-02', {})).toBe('a');
  expect(withTimeRange('a OR b', { since: '1h' })).toBe('(a OR b) since:1h');
  expect([ageText('1d12h'), ageText('15m')]).toEqual(['1\u00a0d 12\u00a0h', '15\u00a0min']);
  expect([ageMs('1d12h'), ageMs('15m'), ageMs('soon')]).toEqual([129_600_000, 900_000, undefined]);
});

test('an instant is written as the wall clock of the tenant, in UTC in the hour that comes twice', () => {
  expect(instantText(Date.UTC(2026, 6, 1, 8), 'Europe/Berlin')).toBe('2026-07-01T10:00');
  const repeated = Date.UTC(2026, 9, 25, 1, 30);
  expect(instantText(repeated - 3_600_000, 'Europe/Berlin')).toBe('2026-10-25T00:30Z');
  expect(instantText(repeated, 'Europe/Berlin')).toBe('2026-10-25T01:30Z');
});

test('an error is found at its place, and the nearest is one click away', () => {
  const refused = (code: string, text: string, place: ErrorPlace = {}) =>
    readQueryError(new ApiError(400, 'q: what is wrong', { code, place }), text);
  const text = '😀 level:>=eror x';
  const level = refused('query.unknown-value', text, { at: 11, length: 4, nearest: ['error'] });
  expect(level).toMatchObject({ unknown: 'value', sentence: 'what is wrong' });
  expect(text.slice(level?.start, level?.end)).toBe('eror');
  expect(level?.suggestions).toEqual([{ name: 'error', text: '😀 level:>=error x' }]);
  const key = refused('query.unknown-key', 'hots:a', { at: 1, length: 4, nearest: ['host'] });
  expect(key?.unknown).toBe('key');
  expect(key?.suggestions[0]?.text).toBe('host:a');
  // Without suggestions, or without a word at the place, the server's sentence says more.
  expect(refused('query.unknown-value', 'rule:x', { at: 6, length: 1 })?.unknown).toBeUndefined();
  expect(
    refused('query.unknown-value', 'level:>=', { at: 9, length: 0, nearest: ['info'] })?.unknown,
  ).toBeUndefined();
  const nearest = ['night mute', 'b'];
  const rule = refused('query.unknown-value', 'rule:"x y"', { at: 6, length: 5, nearest });
  expect(rule?.suggestions.map((offer) => offer.text)).toEqual(['rule:"night mute"', 'rule:b']);
  expect(refused('query.invalid', 'x')).toMatchObject({ start: 0, end: 0, suggestions: [] });
  expect(refused('query.invalid', 'host:', { at: 6 })).toMatchObject({ start: 4, end: 5 });
  expect(refused('query.invalid', 'main() a', { at: 1 })).toMatchObject({ start: 0, end: 4 });
});

test('an error that is not about the search is none of it, whatever its sentence', () => {
  expect(readQueryError(new ApiError(400, 'q: no', { code: 'bad-request' }), 'x')).toBeUndefined();
  expect(readQueryError(new ApiError(400, 'q: no'), 'x')).toBeUndefined();
  expect(readQueryError(undefined, 'x')).toBeUndefined();
});
