import { expect, test } from 'vitest';
import { entriesOf, expiresAtOf, expiryValuesOf, stateOf, warnMs, wrongEntry } from './credential.ts';

const now = Date.parse('2026-11-21T12:00:00Z');

test('an allow-list is read in any form, and what is no address is named', () => {
  expect(entriesOf('10.0.0.5,\n 10.0.0.0/8\n\nfd00::/8')).toEqual(['10.0.0.5', '10.0.0.0/8', 'fd00::/8']);
  for (const right of ['', '10.0.0.5', '0.0.0.0/0', '2001:db8::1', '::/0', '::ffff:10.0.0.1'])
    expect(wrongEntry(right)).toBeUndefined();
  for (const wrong of [
    '10.0.0',
    '10.0.0.256',
    '10.0.0.0/33',
    'fd00::/129',
    'host',
    '10.0.0.01',
    '1::2::3',
    '/8',
  ])
    expect(wrongEntry(`10.0.0.1 ${wrong}`)).toBe(wrong);
});

test('an expiry is a number of days, a time on the tenant’s clock, or never', () => {
  expect(expiresAtOf({ preset: 'never', at: '' }, 'UTC', now)).toBeNull();
  expect(expiresAtOf({ preset: '30', at: '' }, 'UTC', now)).toBe('2026-12-21T12:00:00.000Z');
  expect(expiresAtOf({ preset: 'date', at: '2026-12-01T08:00' }, 'Europe/Berlin', now)).toBe(
    '2026-12-01T07:00:00.000Z',
  );
  expect(expiresAtOf({ preset: 'date', at: '2026-11-21T11:59' }, 'UTC', now)).toBeUndefined();
  expect(expiresAtOf({ preset: 'date', at: '' }, 'UTC', now)).toBeUndefined();
  expect(expiryValuesOf('2026-12-01T07:00:00Z', 'Europe/Berlin')).toEqual({
    preset: 'date',
    at: '2026-12-01T08:00',
  });
});

test('there is a warning of what ends soon', () => {
  const at = (expiresAt: number | null, revokedAt: string | null = null) =>
    stateOf({ expiresAt: expiresAt === null ? null : new Date(expiresAt).toISOString(), revokedAt }, now);
  expect([at(null), at(now + warnMs + 1_000), at(now + warnMs), at(now), at(now - 1, 'x')]).toEqual([
    'active',
    'active',
    'expiring',
    'expired',
    'revoked',
  ]);
});
