import fc from 'fast-check';
import { expect, test } from 'vitest';
import { formatErrorHeader, parseErrorHeader } from './error-header.ts';
import { type ErrorCode, errors } from './errors.ts';

test('the header of an error is an item with parameters, of printable ASCII whatever it names', () => {
  expect(formatErrorHeader('not-found')).toBe('not-found');
  expect(formatErrorHeader('query.unknown-key', { at: 12, length: 4, nearest: ['host', 'Büro, 2'] })).toBe(
    'query.unknown-key; at=12; length=4; nearest="host,B%C3%BCro%2C%202"',
  );
  expect(formatErrorHeader('bad-request', { pointer: '/when/ip/0' })).toBe(
    'bad-request; pointer="/when/ip/0"',
  );
  const long = formatErrorHeader('query.unknown-value', { nearest: Array(5).fill('ü'.repeat(100)) });
  expect(long.length).toBeLessThan(1_100);
});

test('a client reads what the server wrote', () => {
  const place = fc.record(
    {
      pointer: fc.string({ unit: 'grapheme', minLength: 1 }),
      parameter: fc.string({ minLength: 1 }),
      at: fc.nat(10_000),
      length: fc.nat(10_000),
      nearest: fc.array(fc.string({ unit: 'grapheme', minLength: 1, maxLength: 10 }), {
        minLength: 1,
        maxLength: 5,
      }),
    },
    { requiredKeys: [] },
  );
  fc.assert(
    fc.property(fc.constantFrom(...(Object.keys(errors) as ErrorCode[])), place, (code, given) => {
      const header = formatErrorHeader(code, given);
      expect(header).toMatch(/^[ -~]+$/);
      expect(parseErrorHeader(header)).toEqual({ code, place: given });
    }),
  );
});

test('what is no such header is none, and parameters of a newer server are passed over', () => {
  for (const header of [null, '', '; at=1', 'Not Found', '404'])
    expect(parseErrorHeader(header)).toBeUndefined();
  expect(parseErrorHeader('query.some-day; since="2030"; at=3; at="x')).toEqual({
    code: 'query.some-day',
    place: { at: 3 },
  });
  expect(parseErrorHeader('bad-request; pointer="/100%"')?.place).toEqual({ pointer: '/100%' });
});
