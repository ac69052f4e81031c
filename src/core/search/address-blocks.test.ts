import fc from 'fast-check';
import { expect, test } from 'vitest';
import { addressKey, addressText, compareAddresses } from '../addresses.ts';
import { addressesFrom } from './address-blocks.ts';

const address = fc.oneof(
  fc.ipV4(),
  fc.ipV6().filter((text) => !text.includes('.')),
  fc.constantFrom('::1', '::', '2001:db8::1', '10.0.0.1', '1::', '100::2'),
);

test('every address is in the spans of each of its beginnings', () => {
  fc.assert(
    fc.property(address, fc.nat({ max: 40 }), (text, length) => {
      const key = addressKey(text);
      const prefix = addressText(key).slice(0, length);
      const spans = addressesFrom(prefix);
      expect(
        spans.some(({ low, high }) => compareAddresses(low, key) <= 0 && compareAddresses(key, high) <= 0),
        prefix,
      ).toBe(true);
      for (const [i, { low }] of spans.entries())
        expect(i === 0 || compareAddresses(spans[i - 1]!.high, low) < 0, prefix).toBe(true);
    }),
    { numRuns: 3000 },
  );
});

test('an IPv4 octet that has begun is taken for those that start alike', () => {
  const spans = addressesFrom('10.25');
  expect(spans).toHaveLength(7);
  expect(spans.map(({ low }) => addressText(low)).slice(0, 3)).toEqual([
    '10.25.0.0',
    '10.250.0.0',
    '10.251.0.0',
  ]);
});

test.each(['x', '10.256.', '10.0.0.1.', '12345:', '999.', 'fe80%'])('%s begins no address', (prefix) => {
  expect(addressesFrom(prefix)).toEqual([]);
});
