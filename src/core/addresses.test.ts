import fc from 'fast-check';
import ipaddr from 'ipaddr.js';
import { describe, expect, test } from 'vitest';
import {
  addressKey,
  addressSet,
  addressText,
  canonicalAddress,
  compareAddresses,
  compileAddressSet,
  findAddressKey,
  parseAddressRange,
} from './addresses.ts';
import { AppError } from './errors.ts';

const shown = (pattern: string) => {
  const { low, high } = parseAddressRange(pattern);
  return `${addressText(low)} … ${addressText(high)}`;
};

function messageOf(pattern: string): string {
  try {
    parseAddressRange(pattern);
  } catch (error) {
    expect(error).toBeInstanceOf(AppError);
    return (error as AppError).message;
  }
  throw new Error(`${pattern} was accepted`);
}

describe('an address has one text', () => {
  test.each([
    ['10.0.0.5', '10.0.0.5'],
    ['0.0.0.0', '0.0.0.0'],
    ['255.255.255.255', '255.255.255.255'],
    ['::', '::'],
    ['::1', '::1'],
    ['1::', '1::'],
    ['2001:DB8:0:0:8:0800:200C:417A', '2001:db8::8:800:200c:417a'],
    ['2001:db8:0:1:1:1:1:1', '2001:db8:0:1:1:1:1:1'],
    ['2001:0:0:1:0:0:0:1', '2001:0:0:1::1'],
    ['2001:db8:0:0:1:0:0:1', '2001:db8::1:0:0:1'],
    ['1:2:3:4:5:6:7::', '1:2:3:4:5:6:7:0'],
    ['::ffff:10.0.0.5', '10.0.0.5'],
    ['::FFFF:0a00:0005', '10.0.0.5'],
    ['0:0:0:0:0:ffff:10.0.0.5', '10.0.0.5'],
    ['64:ff9b::192.0.2.33', '64:ff9b::c000:221'],
    ['::10.0.0.5', '::a00:5'],
  ])('%s is %s', (text, canonical) => {
    expect(canonicalAddress(text)).toBe(canonical);
    expect(canonicalAddress(canonical)).toBe(canonical);
  });

  test.each([
    '',
    ' ',
    '10.0.0',
    '10.0.0.0.1',
    '10.0.0.256',
    '010.0.0.1',
    '10.0.0.08',
    '0x0a.0.0.1',
    '167772161',
    '10.0.0.1 ',
    '10.0.0.',
    '.10.0.0.1',
    '10..0.1',
    '1.2.3.-4',
    '+1.2.3.4',
    '1.2.3.4.',
    '١.٢.٣.٤',
    ':',
    ':::',
    '1:::2',
    '::1::',
    '1:2:3:4:5:6:7',
    '1:2:3:4:5:6:7:8:9',
    '1:2:3:4:5:6:7:8::',
    '::1:2:3:4:5:6:7:8',
    '12345::',
    'g::',
    'fe80::1%eth0',
    '::%0',
    '[::1]',
    '1.2.3.4::',
    '::1.2.3.4:5',
    '::1.2.3',
    '::01.2.3.4',
    '1:2:3:4:5:6:7:1.2.3.4',
    ':1',
    '1:',
    '::-1',
    '10.0.0.0/8',
    'db-01',
  ])('%j is no address', (text) => {
    expect(canonicalAddress(text)).toBeUndefined();
    expect(() => addressKey(text)).toThrow(TypeError);
  });

  test('it is the one ipaddr.js gives, for any 16 bytes', () => {
    fc.assert(
      fc.property(
        fc.array(fc.oneof(fc.constant(0), fc.integer({ min: 0, max: 255 })), {
          minLength: 16,
          maxLength: 16,
        }),
        (bytes) => {
          const theirs = new ipaddr.IPv6(bytes);
          const text = theirs.isIPv4MappedAddress()
            ? theirs.toIPv4Address().toString()
            : theirs.toRFC5952String();
          expect(addressText(Uint8Array.from(bytes))).toBe(text);
          expect([...addressKey(text)]).toEqual(bytes);
          expect([
            ...addressKey(theirs.parts.map((part) => part.toString(16).padStart(4, '0')).join(':')),
          ]).toEqual(bytes);
        },
      ),
      { numRuns: 2000 },
    );
  });

  test('no text makes reading it throw, and what is read is read the same from its canonical text', () => {
    const soup = fc.string({
      unit: fc.constantFrom(':', '::', '.', '0', '1', 'ff', 'ffff', '255', '%', '/', '10.0.0.1'),
      maxLength: 12,
    });
    fc.assert(
      fc.property(soup, (text) => {
        const key = findAddressKey(text);
        if (key) expect(findAddressKey(addressText(key))).toEqual(key);
      }),
      { numRuns: 2000 },
    );
  });
});

describe('keys', () => {
  test('sort as addresses do, IPv4 where ::ffff:0:0 stands', () => {
    const sorted = [
      '::',
      '::1',
      '0.0.0.0',
      '9.255.0.1',
      '10.0.0.2',
      '10.0.0.10',
      '255.255.255.255',
      '::1:0:0:0',
      '2001:db8::',
      'ffff::',
    ];
    const again = sorted.toReversed().map(addressKey).sort(compareAddresses).map(addressText);
    expect(again).toEqual(sorted);
  });

  test('are 16 bytes with IPv4 mapped', () => {
    expect(Buffer.from(addressKey('10.0.0.5')).toString('hex')).toBe('00000000000000000000ffff0a000005');
    expect(addressKey('::ffff:10.0.0.5')).toEqual(addressKey('10.0.0.5'));
  });
});

describe('a pattern is an address, a block or a range', () => {
  test.each([
    ['10.0.0.5', '10.0.0.5 … 10.0.0.5'],
    ['10.0.0.0/8', '10.0.0.0 … 10.255.255.255'],
    ['10.1.2.3/8', '10.0.0.0 … 10.255.255.255'],
    ['10.1.2.3/32', '10.1.2.3 … 10.1.2.3'],
    ['10.1.2.3/31', '10.1.2.2 … 10.1.2.3'],
    ['0.0.0.0/0', '0.0.0.0 … 255.255.255.255'],
    ['2001:db8::/33', '2001:db8:: … 2001:db8:7fff:ffff:ffff:ffff:ffff:ffff'],
    ['::1/128', '::1 … ::1'],
    ['::/0', ':: … ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff'],
    ['::ffff:10.0.0.0/104', '10.0.0.0 … 10.255.255.255'],
    ['10.0.0.1-10.0.0.9', '10.0.0.1 … 10.0.0.9'],
    ['10.0.0.1 - 10.0.0.9', '10.0.0.1 … 10.0.0.9'],
    ['10.0.0.1-10.0.0.1', '10.0.0.1 … 10.0.0.1'],
    ['fd00::1-fd00::ff', 'fd00::1 … fd00::ff'],
  ])('%s is %s', (pattern, range) => {
    expect(shown(pattern)).toBe(range);
  });

  test.each([
    ['10.0.0.0/33', '"10.0.0.0/33" is no address, CIDR block or range; a prefix is 0–32'],
    ['10.0.0.0/', '"10.0.0.0/" is no address, CIDR block or range; a prefix is 0–32'],
    ['10.0.0.0/255.0.0.0', '"10.0.0.0/255.0.0.0" is no address, CIDR block or range; a prefix is 0–32'],
    ['::/129', '"::/129" is no address, CIDR block or range; a prefix is 0–128'],
    [
      '10.0.0.9-10.0.0.1',
      '"10.0.0.9-10.0.0.1" is no address, CIDR block or range; the lower end comes first',
    ],
    [
      '10.0.0.1-9',
      '"10.0.0.1-9" is no address, CIDR block or range; a range is two whole addresses, as in 10.0.0.1-10.0.0.9',
    ],
    [
      '10.0.0.1-fd00::1',
      '"10.0.0.1-fd00::1" is no address, CIDR block or range; both ends are IPv4 or both are IPv6',
    ],
    [
      'db-01',
      '"db-01" is no address, CIDR block or range; a range is two whole addresses, as in 10.0.0.1-10.0.0.9',
    ],
    [
      'db',
      '"db" is no address, CIDR block or range; write 10.0.0.5, 10.0.0.0/8 or 10.0.0.1-10.0.0.9, in v4 or v6',
    ],
  ])('%s is refused with a way out', (pattern, message) => {
    expect(messageOf(pattern)).toBe(message);
  });

  test('a block holds what ipaddr.js says it holds', () => {
    const octets = fc.tuple(...Array.from({ length: 4 }, () => fc.integer({ min: 0, max: 255 })));
    fc.assert(
      fc.property(octets, octets, fc.integer({ min: 0, max: 32 }), (a, b, prefix) => {
        const { low, high } = parseAddressRange(`${a.join('.')}/${prefix}`);
        const key = addressKey(b.join('.'));
        const held = compareAddresses(low, key) <= 0 && compareAddresses(key, high) <= 0;
        expect(held).toBe(new ipaddr.IPv4(b).match([new ipaddr.IPv4(a), prefix]));
      }),
    );
  });
});

test('a set of ranges holds what any of them holds', () => {
  const byte = fc.integer({ min: 0, max: 20 });
  const range = fc
    .tuple(byte, byte)
    .map(([a, b]) => parseAddressRange(`10.0.0.${Math.min(a, b)}-10.0.0.${Math.max(a, b)}`));
  fc.assert(
    fc.property(fc.array(range, { maxLength: 6 }), byte, (ranges, last) => {
      const key = addressKey(`10.0.0.${last}`);
      const held = ranges.some(
        ({ low, high }) => compareAddresses(low, key) <= 0 && compareAddresses(key, high) <= 0,
      );
      expect(compileAddressSet(ranges)(key)).toBe(held);
    }),
    { numRuns: 2000 },
  );
});

describe('a set of addresses and blocks', () => {
  test.each([
    ['10.0.0.0/8', '10.255.0.1', true],
    ['10.0.0.0/8', '11.0.0.1', false],
    ['10.1.2.3/8', '10.9.9.9', true],
    ['0.0.0.0/0', '203.0.113.9', true],
    ['192.0.2.1', '192.0.2.1', true],
    ['192.0.2.1', '192.0.2.2', false],
    ['2001:db8::/32', '2001:db8:ffff::1', true],
    ['2001:db8::/32', '2001:db9::1', false],
    ['::1', '::1', true],
    ['10.0.0.0/8', '2001:db8::1', false],
    ['::ffff:10.0.0.1', '10.0.0.1', true],
    ['::ffff:10.0.0.0/104', '10.9.9.9', true],
    ['::ffff:10.0.0.0/104', '11.0.0.1', false],
  ])('%s and %s: %s', (entry, address, holds) => {
    expect(addressSet([entry])(address)).toBe(holds);
  });

  test('holds what any of its entries holds', () => {
    const set = addressSet(['192.0.2.0/24', '2001:db8::/64', '198.51.100.7']);
    expect(['192.0.2.9', '2001:db8::9', '198.51.100.7', '198.51.100.8'].map(set)).toEqual([
      true,
      true,
      true,
      false,
    ]);
  });
});
