import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { processorMs } from '#test/support/processor-time.ts';
import { decodeEncodedWords } from './encoded-words.ts';

const decode = (value: string) => decodeEncodedWords(value, 'X-Title');

describe('RFC 2047 encoded words', () => {
  it.each([
    ['=?utf-8?B?8J+UlCBCYWNrdXA=?=', '🔔 Backup'],
    ['=?UTF-8?b?w6k=?=', 'é'],
    ['=?utf-8?Q?caf=C3=A9_au_lait?=', 'café au lait'],
    ['=?utf-8?q?caf=c3=a9?=', 'café'],
    ['=?iso-8859-1?Q?caf=E9?=', 'café'],
    ['=?ISO-8859-1?B?6Q==?=', 'é'],
    ['=?utf-8*en?Q?a=20b?=', 'a b'],
    ['=?utf-8?Q??=', ''],
    ['before =?utf-8?Q?mid?= after', 'before mid after'],
  ])('%s is %s', (value, text) => {
    expect(decode(value)).toBe(text);
  });

  it('white space between two of them is dropped, other white space is kept', () => {
    expect(decode('=?utf-8?Q?a?= =?utf-8?Q?b?= \t=?utf-8?B?Yw==?= d')).toBe('abc d');
    expect(decode('=?utf-8?Q?a?= x =?utf-8?Q?b?=')).toBe('a x b');
  });

  it('white space behind text that is no encoded word is kept', () => {
    expect(decode('really?= =?utf-8?Q?b?=')).toBe('really?= b');
  });

  it.each(['=?', '=?utf-8?', '=?utf-8?X?abc?=', '=?utf-8?Q?a b?=', 'a =?= b', '=?utf-8?Q?a', 'x=?y?z'])(
    'leaves %j as it is',
    (value) => {
      expect(decode(value)).toBe(value);
    },
  );

  it.each(['=?klingon?Q?a?=', '=?utf-8?Q?=FF?=', '=?utf-8?B?/w==?=', '=?utf-8?Q?=ED=A0=80?='])(
    'refuses %s, naming the header',
    (value) => {
      expect(() => decode(value)).toThrow(
        expect.objectContaining({ code: 'bad-request', message: expect.stringContaining('X-Title') }),
      );
    },
  );

  it('has one error for an unknown charset and another for invalid bytes', () => {
    expect(() => decode('=?klingon?Q?a?=')).toThrow(
      /^the header X-Title has an encoded word in the unknown charset klingon: write it in utf-8$/,
    );
    expect(() => decode('=?utf-8?Q?=FF?=')).toThrow(
      /^the header X-Title has an encoded word whose bytes are not valid utf-8$/,
    );
  });

  it('brings any text back', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: 'grapheme' }).filter((text) => !text.startsWith('\ufeff')),
        (text) => {
          expect(decode(`=?utf-8?B?${Buffer.from(text).toString('base64')}?=`)).toBe(text);
          const quoted = [...Buffer.from(text)]
            .map((byte) => `=${byte.toString(16).padStart(2, '0').toUpperCase()}`)
            .join('');
          expect(decode(`=?utf-8?Q?${quoted}?=`)).toBe(text);
        },
      ),
    );
  });

  it('reads 64 KiB of half-begun words in linear time', () => {
    const tookMs = processorMs(() => {
      for (const piece of ['=?a?b?', '?= ', '=?utf-8?Q?', '?=\t =?', '=? ', '=?a']) {
        const value = piece.repeat(Math.floor(65_536 / piece.length));
        try {
          decode(value);
        } catch (error) {
          expect(error).toMatchObject({ code: 'bad-request' });
        }
      }
    });
    expect(tookMs).toBeLessThan(1_000);
  });
});
