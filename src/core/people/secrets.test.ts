import { hash } from 'node:crypto';
import { crc32 } from 'node:zlib';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { hashSecret, mintSecret, parseSecret, randomText, secretMatches } from './secrets.ts';

describe('tokens and keys', () => {
  test('have the published form: prefix, ten characters of id, at least 190 bits of secret, six of checksum', () => {
    expect(mintSecret('token').text).toMatch(/^bfy_[0-9A-Za-z]{10}_[0-9A-Za-z]{32}_[0-9A-Za-z]{6}$/);
    expect(mintSecret('key').text).toMatch(/^bfk_[0-9A-Za-z]{10}_[0-9A-Za-z]{32}_[0-9A-Za-z]{6}$/);
    expect(32 * Math.log2(62)).toBeGreaterThanOrEqual(190);
  });

  test('end in the CRC-32 of all before the last underscore', () => {
    const digits = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
    for (let i = 0; i < 100; i++) {
      const { text } = mintSecret('token');
      const at = text.lastIndexOf('_');
      let sum = 0;
      for (const char of text.slice(at + 1)) sum = sum * 62 + digits.indexOf(char);
      expect(sum).toBe(crc32(text.slice(0, at)));
    }
  });

  test.each(['token', 'key'] as const)('a minted %s parses into its parts', (kind) => {
    const minted = mintSecret(kind);
    const parsed = parseSecret(minted.text);
    expect(parsed).toEqual({ kind, id: minted.id, secret: minted.text.split('_')[2] });
    expect(minted.hash).toBe(hashSecret(parsed?.secret ?? ''));
  });

  test('are never the same twice', () => {
    const seen = new Set(Array.from({ length: 1000 }, () => mintSecret('token').id));
    expect(seen.size).toBe(1000);
  });

  test('one wrong character anywhere is refused', () => {
    const { text } = mintSecret('token');
    for (let i = 0; i < text.length; i++) {
      for (const char of ['a', 'Z', '0', '_', ' ', 'é']) {
        if (text[i] !== char)
          expect(parseSecret(text.slice(0, i) + char + text.slice(i + 1))).toBeUndefined();
      }
    }
  });

  test('a token with the prefix of a key is refused, and white space too', () => {
    const { text } = mintSecret('token');
    for (const bad of [
      text.replace('bfy', 'bfk'),
      `${text} `,
      ` ${text}`,
      `${text}\n`,
      text.toUpperCase(),
      '',
    ]) {
      expect(parseSecret(bad)).toBeUndefined();
    }
  });

  test('no other text is taken for one', () => {
    fc.assert(fc.property(fc.string({ maxLength: 80 }), (text) => parseSecret(text) === undefined));
  });
});

describe('the stored hash', () => {
  test('is SHA-256 as base64url and holds nothing of the secret', () => {
    expect(hashSecret('abc')).toBe(hash('sha256', 'abc', 'base64url'));
  });

  test('matches its own secret and no other', () => {
    expect(secretMatches(hashSecret('abc'), 'abc')).toBe(true);
    expect(secretMatches(hashSecret('abc'), 'abd')).toBe(false);
    expect(secretMatches(hashSecret('abc'), '')).toBe(false);
  });

  test.each(['', 'abc', hashSecret('abc').slice(0, -4), `${hashSecret('abc')}AAAA`])(
    'a damaged hash (%j) matches nothing and throws nothing',
    (stored) => expect(secretMatches(stored, 'abc')).toBe(false),
  );
});

describe('random text', () => {
  test('uses every character of the alphabet about equally often', () => {
    const alphabet = 'ABCDEFGHJKLMNPQRSTUVWXYZ23456789+';
    const counts = new Map<string, number>();
    for (const char of randomText(alphabet, 33_000)) counts.set(char, (counts.get(char) ?? 0) + 1);
    expect([...counts.keys()].sort()).toEqual([...alphabet].sort());
    // 1,000 expected of each, standard deviation 31: ten of those either way.
    for (const count of counts.values()) expect(Math.abs(count - 1000)).toBeLessThan(310);
  });
});
