import type { IncomingMessage } from 'node:http';
import { describe, expect, it } from 'vitest';
import { sourceAddressReader } from './forwarded.ts';

const request = (remoteAddress: string | undefined, headers: Record<string, string> = {}) =>
  ({ socket: { remoteAddress }, headers }) as unknown as IncomingMessage;

const trusting = (...proxies: string[]) => {
  const read = sourceAddressReader(proxies);
  return (peer: string, headers: Record<string, string> = {}) => read(request(peer, headers));
};
const xff = (value: string) => ({ 'x-forwarded-for': value });

describe('the source address without trusted proxies', () => {
  const source = trusting();

  it('is the peer, whatever the headers say', () => {
    expect(
      source('203.0.113.5', { ...xff('1.2.3.4'), forwarded: 'for=1.2.3.4', 'x-real-ip': '1.2.3.4' }),
    ).toBe('203.0.113.5');
  });

  it('is canonical: mapped v6 becomes v4, zone ids go', () => {
    expect(source('::ffff:203.0.113.5')).toBe('203.0.113.5');
    expect(source('fe80::1%eth0')).toBe('fe80::1');
    expect(source('2001:DB8:0:0::1')).toBe('2001:db8::1');
  });

  it('of a connection that is gone already is no address of anyone', () => {
    expect(sourceAddressReader([])(request(undefined))).toBe('0.0.0.0');
  });
});

describe('the source address behind trusted proxies', () => {
  const source = trusting('127.0.0.1', '10.0.0.0/8', '2001:db8:f::/48');

  it('is the right-most address that is no trusted proxy', () => {
    expect(source('127.0.0.1', xff('198.51.100.7'))).toBe('198.51.100.7');
    expect(source('127.0.0.1', xff('198.51.100.7, 10.1.1.1, 10.2.2.2'))).toBe('198.51.100.7');
  });

  it('is never what a client forged further left', () => {
    expect(source('127.0.0.1', xff('1.1.1.1, 10.9.9.9, 198.51.100.7'))).toBe('198.51.100.7');
    expect(source('127.0.0.1', xff('1.1.1.1, 198.51.100.7, 10.9.9.9'))).toBe('198.51.100.7');
    expect(source('127.0.0.1', xff('garbage, 198.51.100.7'))).toBe('198.51.100.7');
  });

  it('is the peer when the peer is not trusted', () => {
    expect(source('203.0.113.5', xff('1.2.3.4'))).toBe('203.0.113.5');
  });

  it('is the peer when there is no forwarding header, or an empty one', () => {
    expect(source('127.0.0.1')).toBe('127.0.0.1');
    expect(source('127.0.0.1', xff(''))).toBe('127.0.0.1');
    expect(source('127.0.0.1', { forwarded: '' })).toBe('127.0.0.1');
  });

  it('is the left-most when all are trusted', () => {
    expect(source('127.0.0.1', xff('10.3.3.3, 10.2.2.2'))).toBe('10.3.3.3');
  });

  it('stops at what is no address: nothing left of it is known', () => {
    expect(source('127.0.0.1', xff('198.51.100.7, unknown'))).toBe('127.0.0.1');
    expect(source('127.0.0.1', xff('198.51.100.7, unknown, 10.2.2.2'))).toBe('10.2.2.2');
    expect(source('127.0.0.1', xff('198.51.100.7,,10.2.2.2'))).toBe('10.2.2.2');
  });

  it.each([
    ['198.51.100.7:4711', '198.51.100.7'],
    ['2001:DB8::5', '2001:db8::5'],
    ['[2001:db8::5]', '2001:db8::5'],
    ['[2001:db8::5]:4711', '2001:db8::5'],
    ['::ffff:198.51.100.7', '198.51.100.7'],
  ])('reads %s in X-Forwarded-For', (hop, address) => {
    expect(source('127.0.0.1', xff(hop))).toBe(address);
    expect(source('127.0.0.1', xff(`1.1.1.1, ${hop}, [2001:db8:f::1]:80`))).toBe(address);
  });

  it.each([
    ['for=198.51.100.7', '198.51.100.7'],
    ['For="198.51.100.7:4711"', '198.51.100.7'],
    ['for="[2001:db8::5]:4711"', '2001:db8::5'],
    ['for="[2001:db8::5]"', '2001:db8::5'],
    ['proto=https;for=198.51.100.7;by=10.0.0.1', '198.51.100.7'],
    ['proto=https; for=198.51.100.7 ; host=a', '198.51.100.7'],
    ['for=1.1.1.1, for=198.51.100.7, for=10.2.2.2', '198.51.100.7'],
    ['for=1.1.1.1, for=_hidden', '127.0.0.1'],
    ['for=unknown', '127.0.0.1'],
    ['proto=https', '127.0.0.1'],
  ])('reads Forwarded: %s', (forwarded, address) => {
    expect(source('127.0.0.1', { forwarded })).toBe(address);
  });

  it.each([
    ['for=198.51.100.7;host="a, for=1.1.1.1"'],
    ['for=198.51.100.7;host="a, for=1.1.1.1;b"'],
    ['for=198.51.100.7;host="a;for=1.1.1.1"'],
    ['host="\\", for=1.1.1.1;b";for=198.51.100.7'],
    ['for=", for=198.51.100.7'],
    ['for=", for="198.51.100.7:80"'],
    ['host="a;for=1.1.1.1, for=198.51.100.7, for="[2001:db8:f::1]:80"'],
  ])('quotes in Forwarded neither forge a hop nor hide one: %s', (forwarded) => {
    expect(source('127.0.0.1', { forwarded })).toBe('198.51.100.7');
  });

  it('X-Forwarded-For goes before Forwarded', () => {
    expect(source('127.0.0.1', { ...xff('198.51.100.7'), forwarded: 'for=1.1.1.1' })).toBe('198.51.100.7');
  });
});
