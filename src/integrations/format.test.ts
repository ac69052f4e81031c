import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { limits } from '#contract/limits.ts';
import { fieldsOf, type Item, parseLevelMap, usualLevel } from './format.ts';

const none = parseLevelMap([]);
const item = { title: 'T', message: 'M', severity: 'x', level: 'error' };
const fields = (more: Partial<Item>) => fieldsOf({ ...item, ...more }, none);

describe('the fields of an item', () => {
  it('are cut to what they may hold', () => {
    const { title, message } = fields({ title: '🔔'.repeat(300), message: 'é'.repeat(20_000) });
    expect([...title].length).toBe(limits.titleChars);
    expect(title.endsWith('🔔…')).toBe(true);
    expect([...message].length).toBe(limits.messageChars);
  });

  it('have a title of one line, and stand in for each other', () => {
    expect(fields({ title: ' a \nb' }).title).toBe('a');
    expect(fields({ message: ' ' }).message).toBe('T');
    expect(fields({ title: undefined, message: 'first\nsecond' })).toMatchObject({
      title: 'first',
      message: 'first\nsecond',
    });
    expect(() => fields({ title: ' ', message: '\0' })).toThrow('neither a title nor a message');
  });

  it.each([
    ['db-01', { host: 'db-01', ip: null }],
    ['db-01:9100', { host: 'db-01', ip: null }],
    ['10.0.0.5:9100', { host: null, ip: '10.0.0.5' }],
    ['[FD00::5]:9100', { host: null, ip: 'fd00::5' }],
    ['fd00::5', { host: null, ip: 'fd00::5' }],
    ['https://user:secret@example.org:8443/health?x=1', { host: 'example.org', ip: null }],
    ['https://[fd00::5]/', { host: null, ip: 'fd00::5' }],
    ['two words', { host: null, ip: null }],
    ['x'.repeat(300), { host: null, ip: null }],
    ['', { host: null, ip: null }],
  ])('are about the host or address in %s', (place, expected) => {
    expect(fields({ source: place })).toMatchObject(expected);
  });

  it('leave out a link that is none, and shorten a key', () => {
    for (const url of [
      '',
      'javascript:alert(1)',
      'mailto:a@b',
      'http://',
      'https://',
      `https://a/${'x'.repeat(3_000)}`,
      'http://a b',
    ])
      expect(fields({ url }).url).toBeNull();
    const key = 'k'.repeat(300);
    expect(fields({ key }).key).toHaveLength(43);
    expect(fields({ key }).key).toBe(fields({ key }).key);
  });

  it('have a link without the user and password of its URL', () => {
    const { url } = fieldsOf(
      { title: 'T', severity: 'x', level: 'info', url: 'https://user:secret@db.example.org/a?b=c' },
      { words: new Map(), others: undefined },
    );
    expect(url).toBe('https://db.example.org/a?b=c');
  });

  it('are valid whatever the sender wrote', () => {
    const text = fc.oneof(
      fc.string({ unit: 'binary', maxLength: 300 }),
      fc.constantFrom('\ud800', '\0', '::1', 'a:1'),
    );
    const maybe = fc.option(text, { nil: undefined });
    const made = fc.record({ title: fc.constant('T'), message: maybe, place: maybe, key: maybe, url: maybe });
    fc.assert(
      fc.property(made, (more) => void fields(more)),
      { numRuns: 50 },
    );
  });
});

describe('levels', () => {
  it('by the words that senders share', () => {
    expect(
      ['critical', 'p2', 'warn', 'information', 'ok', 'odd'].map((word) => usualLevel(word, 'x')),
    ).toEqual(['critical', 'error', 'warning', 'info', 'success', 'x']);
  });

  it('by the query, before all tables', () => {
    const { words, others } = parseLevelMap(['Critical:Alarm, p:1:low', 'info']);
    expect([[...words], others]).toEqual([
      [
        ['critical', 'alarm'],
        ['p:1', 'low'],
      ],
      'info',
    ]);
    expect(parseLevelMap(['', ' , '])).toEqual({ words: new Map(), others: undefined });
  });

  it.each(['critical:', ':info', 'a b', 'x:!', 'a:info,a:error', 'info,error', 'é'])(
    '%j is refused',
    (text) => {
      expect(() => parseLevelMap([text])).toThrow(
        expect.objectContaining({ code: 'bad-request', place: { parameter: 'level' } }),
      );
    },
  );
});
