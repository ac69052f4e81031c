import { describe, expect, test } from 'vitest';
import { context, errorOf } from '#test/support/search-context.ts';
import { parseQuery } from './search-parser.ts';
import type { Term } from './search-query.ts';

const parse = (text: string) => parseQuery(text, context);
const word = (text: string, prefix = false): Term => ({
  kind: 'text',
  field: null,
  phrases: [{ text, prefix }],
});
const [a, b, c] = ['a', 'b', 'c'].map((text) => word(text)) as [Term, Term, Term];

test('in a list of labels, a text without "=" behind a value is one more value of that label', () => {
  const patternsOf = (q: string) => (parse(q) as { patterns?: readonly string[] }).patterns;
  expect(patternsOf('label:env=prod,Stage,"plant 2",st*')).toEqual([
    'env=prod',
    'env=stage',
    'env=plant 2',
    'env=st*',
  ]);
  expect(patternsOf('label:"env=a b",9x,site=b,c,env=d')).toEqual([
    'env=a b',
    'env=9x',
    'site=b',
    'site=c',
    'env=d',
  ]);
  expect(patternsOf('label:env,site')).toEqual(['env=*', 'site=*']);
  expect(patternsOf('label:site,env=prod,stage')).toEqual(['site=*', 'env=prod', 'env=stage']);
});

describe('structure', () => {
  test('an empty search asks for everything', () => {
    expect(parse('')).toEqual({ kind: 'all' });
    expect(parse(' \t\n')).toEqual({ kind: 'all' });
  });

  test('terms side by side must all hold, and bind tighter than OR', () => {
    expect(parse('a b')).toEqual({ kind: 'and', terms: [a, b] });
    expect(parse('a AND b')).toEqual(parse('a b'));
    expect(parse('a b OR c')).toEqual({ kind: 'or', terms: [{ kind: 'and', terms: [a, b] }, c] });
    expect(parse('a (b OR c)')).toEqual({ kind: 'and', terms: [a, { kind: 'or', terms: [b, c] }] });
    expect(parse('((a) ((b)))')).toEqual(parse('a b'));
  });

  test('- and NOT exclude a term or a group, and excluding twice is nothing', () => {
    expect(parse('-a b')).toEqual({ kind: 'and', terms: [{ kind: 'not', term: a }, b] });
    expect(parse('NOT a b')).toEqual(parse('-a b'));
    expect(parse('-(a b)')).toEqual({ kind: 'not', term: { kind: 'and', terms: [a, b] } });
    expect(parse('--a')).toEqual(a);
    expect(parse('-(-(a b)) c')).toEqual(parse('a b c'));
  });

  test('operators are words in upper case only, and not in quotes', () => {
    expect(parse('a or b')).toEqual({ kind: 'and', terms: [a, word('or'), b] });
    expect(parse('"OR"')).toEqual(word('OR'));
    expect(parse('-"NOT"')).toEqual({ kind: 'not', term: word('NOT') });
  });
});

describe('text', () => {
  test('a phrase, a prefix, a phrase that goes on, a field', () => {
    expect(parse('"disk full"')).toEqual(word('disk full'));
    expect(parse('time*')).toEqual(word('time', true));
    expect(parse('"disk fu"*')).toEqual(word('disk fu', true));
    expect(parse('title:disk,"is full",tim*')).toEqual({
      kind: 'text',
      field: 'title',
      phrases: [
        { text: 'disk', prefix: false },
        { text: 'is full', prefix: false },
        { text: 'tim', prefix: true },
      ],
    });
  });

  test('a backslash takes punctuation literally and is itself before anything else', () => {
    expect(parse('foo\\:bar')).toEqual(word('foo:bar'));
    expect(parse('\\-a')).toEqual(word('-a'));
    expect(parse('"say \\"hi\\""')).toEqual(word('say "hi"'));
    expect(parse('"C:\\logs"')).toEqual(word('C:\\logs'));
    expect(parse('"\\\\\\\\srv\\share"')).toEqual(word('\\\\srv\\share'));
    expect(parse('tim\\*')).toEqual(word('tim*'));
  });

  test('words of any script are words, and punctuation alone is none', () => {
    for (const text of ['größe', '磁盘', 'диск', 'ディスク', '٣٤', 'é'])
      expect(parse(text)).toEqual(word(text));
    for (const text of ['!', '***', '"..."', '🔥', '-?', '*', '…', '\u0301']) {
      expect(errorOf(text)).toMatch(/^q: .* at character [12] (has no letter or digit|has "\*" inside)/);
    }
  });
});

describe('values', () => {
  test('levels by name, by list and by rank', () => {
    expect(parse('level:error,critical')).toEqual({ kind: 'level', names: ['error', 'critical'] });
    expect(parse('level:Error,error')).toEqual({ kind: 'level', names: ['error'] });
    expect(parse('level:>=warning')).toEqual({ kind: 'level', names: ['warning', 'error', 'critical'] });
    expect(parse('level:<warning')).toEqual({ kind: 'level', names: ['success', 'info', 'audit.log'] });
    expect(parse('level:<=info,>error,=warning')).toEqual({
      kind: 'level',
      names: ['success', 'info', 'audit.log', 'critical', 'warning'],
    });
  });

  test('tokens, panels and rules by id, by name and by glob of names', () => {
    expect(parse('token:ci')).toEqual({ kind: 'token', ids: ['aB3', 'zz9'] });
    expect(parse('token:q')).toEqual({ kind: 'token', ids: ['q'] });
    expect(parse('token:"backup JOB"')).toEqual({ kind: 'token', ids: ['q'] });
    expect(parse('rule:"night mute"')).toEqual({ kind: 'rule', ids: ['r1'] });
    expect(parse('panel:"noc *",LOBBY')).toEqual({
      kind: 'panel',
      panels: [
        { id: 'p1', tags: ['front'] },
        { id: 'p2', tags: ['noc', 'big'] },
        { id: 'p3', tags: ['noc'] },
      ],
    });
    expect(parse('panel:"Wall *"')).toEqual({ kind: 'panel', panels: [{ id: 'p4', tags: [] }] });
  });

  test('a deleted panel by its id and name, and nothing that came after it was deleted', () => {
    const deletedPanels = [
      { id: 'p9', name: 'lobby', tags: ['front'], deletedAt: 5_000 },
      { id: 'p8', name: 'cellar', tags: [], deletedAt: 3_000 },
    ];
    const parsed = (text: string) => parseQuery(text, { ...context, deletedPanels });
    const cellar = [
      { kind: 'panel', panels: [{ id: 'p8', tags: [] }] },
      { kind: 'before', at: 3_000 },
    ];
    expect(parsed('panel:Cellar')).toEqual({ kind: 'and', terms: cellar });
    expect(parsed('disk panel:p8')).toMatchObject({ kind: 'and', terms: [{ kind: 'text' }, ...cellar] });
    expect(parsed('-panel:cellar')).toEqual({ kind: 'not', term: { kind: 'and', terms: cellar } });
    expect(parsed('panel:lobby')).toEqual({
      kind: 'or',
      terms: [
        { kind: 'panel', panels: [{ id: 'p1', tags: ['front'] }] },
        {
          kind: 'and',
          terms: [
            { kind: 'panel', panels: [{ id: 'p9', tags: ['front'] }] },
            { kind: 'before', at: 5_000 },
          ],
        },
      ],
    });
  });

  test('addresses, blocks and ranges', () => {
    const bytes = (...tail: number[]) => Uint8Array.from([0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 255, 255, ...tail]);
    expect(parse('ip:10.0.0.0/8,10.0.0.1-10.0.0.9')).toEqual({
      kind: 'ip',
      ranges: [
        { text: '10.0.0.0/8', low: bytes(10, 0, 0, 0), high: bytes(10, 255, 255, 255) },
        { text: '10.0.0.1-10.0.0.9', low: bytes(10, 0, 0, 1), high: bytes(10, 0, 0, 9) },
      ],
    });
    expect(parse('source:2001:db8::/32')).toMatchObject({
      kind: 'source',
      ranges: [{ text: '2001:db8::/32' }],
    });
  });

  test('hosts in lower case, keys as they are, both with globs and quotes', () => {
    expect(parse('host:DB-*')).toEqual({ kind: 'host', patterns: ['db-*'] });
    expect(parse('host:"db 01",x')).toEqual({ kind: 'host', patterns: ['db 01', 'x'] });
    expect(parse('key:Check:disk:*')).toEqual({ kind: 'key', patterns: ['Check:disk:*'] });
    expect(parse('KEY:"a,b\\*"')).toEqual({ kind: 'key', patterns: ['a,b\\*'] });
  });

  test('states', () => {
    expect(parse('is:muted,Live,muted')).toEqual({ kind: 'is', states: ['muted', 'live'] });
    for (const state of ['open', 'shelved,ended'])
      expect(parse(`State:${state}`)).toEqual(parse(`is:${state}`));
  });
});

describe('times', () => {
  const at = (text: string) => {
    const query = parse(text);
    if (query.kind !== 'after' && query.kind !== 'before') throw new Error(query.kind);
    return new Date(query.at).toISOString();
  };

  test('ages', () => {
    expect(at('since:2h')).toBe('2026-11-02T10:00:00.000Z');
    expect(at('since:1d12h')).toBe('2026-11-01T00:00:00.000Z');
    expect(at('since:90s,30m')).toBe('2026-11-02T11:30:00.000Z');
    expect(at('since:999999999w')).toBe('1970-01-01T00:00:00.000Z');
  });

  test('dates and times, in the time zone unless they say another', () => {
    expect(at('after:2026-11-01')).toBe('2026-10-31T23:00:00.000Z');
    expect(at('after:2026-7-1')).toBe('2026-06-30T22:00:00.000Z');
    expect(at('before:2026-11-02T10:00Z')).toBe('2026-11-02T10:00:00.000Z');
    expect(at('before:2026-11-02T10:00')).toBe('2026-11-02T09:00:00.000Z');
    expect(at('before:"2026-11-02 10:00:05.25+0530"')).toBe('2026-11-02T04:30:05.250Z');
    expect(at('before:2026-11-02T10:00-08')).toBe('2026-11-02T18:00:00.000Z');
    expect(at('after:10:00Z')).toBe('2026-11-02T10:00:00.000Z');
    expect(at('after:10:00')).toBe('2026-11-02T09:00:00.000Z');
  });

  test('a time that summer time skips is the one after the jump; of one that comes twice the first counts', () => {
    expect(at('after:2026-03-29T02:30')).toBe('2026-03-29T01:30:00.000Z');
    expect(at('after:2026-10-25T02:30')).toBe('2026-10-25T00:30:00.000Z');
  });

  test('a comparison of levels without its colon is no word to search for', () => {
    expect(errorOf('disk level>=error')).toBe(
      'q: "level>=error" at character 6 lacks a colon; write level:>=error',
    );
  });

  test('days and times that do not exist are refused', () => {
    for (const text of ['2026-02-30', '2026-13-01', '2026-11-01T25:00', '2026-11-01T10:61Z', '2026-11-00']) {
      expect(errorOf(`after:${text}`)).toBe(`q: "${text}" at character 7 is no day and time that exists`);
    }
    expect(errorOf('after:soon')).toContain('q: "after" cannot be "soon" at character 7; write 2026-11-01,');
    expect(errorOf('since:2y')).toContain(
      'q: "since" cannot be "2y" at character 7; write an age such as 30s',
    );
  });
});
