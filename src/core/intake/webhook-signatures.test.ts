import { createHmac } from 'node:crypto';
import { expect, it } from 'vitest';
import { isSigned, WebhookSignatures } from './webhook-signatures.ts';

const signatures = new WebhookSignatures('a'.repeat(43));
const secret = signatures.secretOf('0123456789');
const now = Date.parse('2026-11-23T00:00:00Z');
const body = Buffer.from('{"zen": "ž"}');
const matches = (headers: Record<string, string>, id = '0123456789', of = body) =>
  signatures.matches(id, headers, of, now);
const github = (of = body, key = secret) => ({
  'x-hub-signature-256': `sha256=${createHmac('sha256', key).update(of).digest('hex')}`,
});
const key = Buffer.from(secret.slice(6), 'base64');
const standard = (seconds = now / 1000, signing: string | Buffer = key) => ({
  'webhook-id': 'msg_1',
  'webhook-timestamp': String(seconds),
  'webhook-signature': `v1a,x v1,${createHmac('sha256', signing).update(`msg_1.${seconds}.${body}`).digest('base64')}`,
});

it('a secret belongs to one token and one server key, and has the form of Standard Webhooks', () => {
  expect(secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
  expect(signatures.secretOf('0123456789')).toBe(secret);
  expect(signatures.secretOf('1123456789')).not.toBe(secret);
  expect(new WebhookSignatures('b'.repeat(43)).secretOf('0123456789')).not.toBe(secret);
});

it('takes what was signed with it: the way of GitHub, and of Standard Webhooks with the bytes or the text as the key', () => {
  for (const headers of [github(), standard(), standard(now / 1000 - 299), standard(now / 1000, secret)]) {
    expect([headers, isSigned(headers), matches(headers)]).toEqual([headers, true, true]);
    expect(matches(headers, '1123456789')).toBe(false);
    expect(matches(headers, '0123456789', Buffer.from('{"zen": "z"}'))).toBe(false);
  }
});

it.each([
  ['no signature', {}],
  ['the wrong secret', github(body, 'x')],
  ['a digest that is cut', { 'x-hub-signature-256': github()['x-hub-signature-256'].slice(0, -2) }],
  ['two signatures in one header', { 'x-hub-signature-256': `${github()['x-hub-signature-256']}, x` }],
  ['a signature of six minutes ago', standard(now / 1000 - 360)],
  ['a signature of the future', standard(now / 1000 + 360)],
  ['a time that is none', { ...standard(), 'webhook-timestamp': '1e9' }],
  ['another id', { ...standard(), 'webhook-id': 'msg_2' }],
  ['no id', { ...standard(), 'webhook-id': undefined as unknown as string }],
  [
    'another version',
    { ...standard(), 'webhook-signature': standard()['webhook-signature'].replace(' v1,', ' v2,') },
  ],
  [
    'a valid one behind many',
    { ...standard(), 'webhook-signature': `${'v1,x '.repeat(10)}${standard()['webhook-signature']}` },
  ],
])('refuses %s', (_, headers) => {
  expect(matches(headers)).toBe(false);
});
