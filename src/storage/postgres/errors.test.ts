import { expect, test } from 'vitest';
import { toAppError } from './errors.ts';

test.each([
  'ECONNREFUSED',
  'CERT_HAS_EXPIRED',
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'ERR_SSL_TLSV1_ALERT_UNKNOWN_CA',
  '57P01',
])('%s makes the database unavailable, so senders try again', (code) => {
  expect(toAppError(Object.assign(new Error('gone'), { code }))).toMatchObject({ code: 'unavailable' });
});

test('a password that is missing in the URL makes the database unavailable', () => {
  const error = new Error('SASL: SCRAM-SERVER-FIRST-MESSAGE: client password must be a string');
  expect(toAppError(error)).toMatchObject({ code: 'unavailable', cause: error });
});

test('an error of a statement stays as it is', () => {
  const error = Object.assign(new Error('syntax error'), { code: '42601' });
  expect(toAppError(error)).toBe(error);
});
