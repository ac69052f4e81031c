import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { labelEntries } from '#contract/history/labels.ts';
import { limits } from '#contract/limits.ts';
import { fieldsOf, type Item, parseLevelMap, parseTtl, retryKeyOf, usualLevel } from './format.ts';
import { labelsOfList, labelsOfObject, labelsOfWords } from './payload.ts';

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

describe('labels', () => {
  const labels = (given: Item['labels']) => labelEntries(fields({ labels: given }).labels);

  it('are made to fit, and of equal names the first stays', () => {
    const given = [
      ['b', ' x '],
      ['a b', 1],
      ['a_b', 'second'],
      ['A_B', 'third'],
      ['5xx', true],
      ['', 'x'],
      [' ', 'x'],
      [null, 'x'],
      ['none', undefined],
      ['list', []],
      ['é', '\ud800\0'],
      ['n'.repeat(90), 'v'.repeat(300)],
    ] as const;
    expect(labels(given)).toEqual([
      ['_', '\ufffd'],
      ['_5xx', 'true'],
      ['a_b', '1'],
      ['b', 'x'],
      ['n'.repeat(63), `${'v'.repeat(254)}…`],
    ]);
  });

  it('may have an empty value', () => {
    expect(
      labels([
        ['backup', ''],
        ['blank', ' '],
      ]),
    ).toEqual([
      ['backup', ''],
      ['blank', ''],
    ]);
  });

  it('are the first 32, of at most the first 1,000 that were sent', () => {
    const many = Array.from({ length: 5_000 }, (_, i) => `l${i}`);
    expect(labels(labelsOfWords(many))).toHaveLength(32);
    const late = { ...Object.fromEntries(many.slice(0, 1_000).map((name) => [name, null])), env: 'prod' };
    expect(labelsOfObject(late)).toHaveLength(1_000);
    expect(labels(labelsOfObject(late))).toEqual([]);
    expect(labelsOfList(Array(5_000).fill({ tag: 'a' }), 'tag', 'value')).toHaveLength(1_000);
  });

  it('are read from objects, lists and words, whatever their names are', () => {
    const hostile = JSON.parse('{"__proto__": "p", "constructor": "c", "toString": {}}');
    const expected = [
      ['__proto__', 'p'],
      ['constructor', 'c'],
    ];
    expect(labels(labelsOfObject(hostile))).toEqual(expected);
    const list = [{ n: '__proto__', v: 'p' }, null, { n: 'constructor', v: 'c' }, {}, { v: 'x' }];
    expect(labels(labelsOfList(list, 'n', 'v'))).toEqual(expected);
    expect(labels(labelsOfList([{ n: 'a', v: null }], 'n', 'v'))).toEqual([['a', '']]);
    expect(labels(labelsOfWords(['__proto__=p', ' constructor = c ', '=x', '', ' ', {}]))).toEqual(expected);
    expect(labels(labelsOfWords(['backup', 'q=a=b']))).toEqual([
      ['backup', ''],
      ['q', 'a=b'],
    ]);
    for (const odd of [undefined, null, 'x', 1, []])
      expect([labelsOfObject(odd), labelsOfList(odd, 'n', 'v')]).toEqual([[], []]);
  });

  it('are part of what a repeat repeats, in any order', () => {
    const keyOf = (...given: string[]) => {
      const sent: Item = { ...item, identity: '1', labels: labelsOfWords(given) };
      return retryKeyOf('x', sent, fieldsOf(sent, none));
    };
    expect(keyOf('a=1', 'b=2')).toEqual(keyOf('b=2', 'a=1'));
    expect(keyOf('a=1')).not.toEqual(keyOf('a=2'));
    // As versions without labels had it.
    expect(keyOf()).toEqual({ key: 'x:VN0pjd8EyDDwjYuLQr0by30jey33Je9eOn-wiGPLq0E' });
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

describe('the time on panels', () => {
  const ttl = (more: Partial<Item>, ofAddress?: number) =>
    fieldsOf({ ...item, ...more }, none, ofAddress).ttl;

  it('has no end while an alert fires; an info and an end have the time of their level', () => {
    expect(ttl({ level: 'warning', isFiring: true })).toBe(0);
    for (const level of ['info', 'success']) expect(ttl({ level, isFiring: true })).toBeNull();
    expect(ttl({ level: 'warning' })).toBeNull();
  });

  it('is that of the address, but not for what ends an alert', () => {
    expect(ttl({ isFiring: true }, 600_000)).toBe(600_000);
    expect(ttl({ level: 'info' }, 0)).toBe(0);
    expect(ttl({ level: 'success' }, 600_000)).toBeNull();
  });

  it('is read from the query before the header', () => {
    expect(parseTtl(['60000'], '1')).toBe(60_000);
    expect(parseTtl([], ' 0 ')).toBe(0);
    expect([parseTtl([' '], undefined), parseTtl([], '')]).toEqual([undefined, undefined]);
  });

  it.each([['-1'], ['1.5'], ['5m'], ['604800001'], ['1', '2']])('%s is refused', (...texts) => {
    expect(() => parseTtl(texts, undefined)).toThrow(expect.objectContaining({ code: 'bad-request' }));
  });
});
