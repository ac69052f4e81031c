import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import { isRepliedTo, ReplyAddresses } from './reply-addresses.ts';

const [channel, notification] = [randomUUID(), randomUUID()];
const replies = new ReplyAddresses('key', 'reply-to@example.org');
const address = replies.addressOf({ tenant: 7, channel, notification }) as string;

test('an address leads to its tenant, channel and notification, also in upper case and at another domain', () => {
  expect(address).toMatch(/^reply-to\+[a-z2-7]+@example\.org$/);
  expect(address.indexOf('@')).toBeLessThanOrEqual(64);
  for (const each of [address, address.toUpperCase(), address.replace('example.org', 'mx.test')]) {
    const read = replies.read(each);
    expect(read).toMatchObject({ tenant: 7, notification });
    expect(read && isRepliedTo(read, channel)).toBe(true);
    expect(read && isRepliedTo(read, randomUUID())).toBe(false);
  }
});

test('an address that was changed anywhere, or made with another key, is none', () => {
  const signed = address.slice(address.indexOf('+') + 1, address.indexOf('@'));
  for (let at = 0; at < signed.length; at += 1) {
    const other = signed[at] === 'a' ? 'b' : 'a';
    expect(
      replies.read(`reply-to+${signed.slice(0, at)}${other}${signed.slice(at + 1)}@example.org`),
    ).toBeUndefined();
  }
  for (const each of [
    '',
    '@',
    'reply-to@example.org',
    'reply-to+@example.org',
    `x${address}`,
    `reply-to+a${signed}@x`,
  ])
    expect(replies.read(each)).toBeUndefined();
  expect(new ReplyAddresses('other', 'reply-to@example.org').read(address)).toBeUndefined();
  expect(replies.addressOf({ tenant: 7, channel, notification: 'n' })).toBeUndefined();
});
