import { createHash } from 'node:crypto';
import { expect, test } from 'vitest';
import { noTexts } from '#contract/history/fields.ts';
import type { OutgoingNotification } from '../message.ts';
import { payloadOf } from './push.ts';
import { derivePushKeys, encryptPush, isUsableSubscription, mostPushBytes } from './push-encryption.ts';

const bytes = (text: string) => Buffer.from(text, 'base64url');
const p256dh = 'BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4';
const subscription = { endpoint: 'https://example.org', keys: { p256dh, auth: 'BTBZMqHH6r4Tts7J_aSIgg' } };

test('a message is encrypted as in the example of RFC 8291', () => {
  const fixed = {
    privateKey: bytes('yfWPiYE-n46HLnH0KqZOF1fJJU3MYrct3AELtAQ-oRw'),
    salt: bytes('DGv6ra1nlYgDCS1FRnbzlw'),
  };
  const text = Buffer.from('When I grow up, I want to be a watermelon');
  expect(encryptPush(text, subscription, fixed).toString('base64url')).toBe(
    'DGv6ra1nlYgDCS1FRnbzlwAAEABBBP4z9KsN6nGRTbVYI_c7VJSPQTBtkgcy27mlmlMoZIIgDll6e3vCYLocInmYWAmS6TlzAC8wEqKK6PBru3jl7A_yl95bQpu6cVPTpK4Mqgkf1CXztLVBSt2Ks3oZwbuwXPXLWyouBWLVWGNWQexSgSxsj_Qulcy4a-fN',
  );
  expect(encryptPush(text, subscription)).not.toEqual(encryptPush(text, subscription));
});

test('the server’s key pair is the same wherever its key is, and another with another key', () => {
  const [one, same, other] = ['k', 'k', 'l'].map(derivePushKeys);
  expect(one?.publicKey).toMatch(/^B[\w-]{86}$/);
  expect(same?.publicKey).toBe(one?.publicKey);
  expect(other?.publicKey).not.toBe(one?.publicKey);
});

test('a subscription that nothing can be encrypted for is known', () => {
  expect(isUsableSubscription(subscription)).toBe(true);
  const { keys } = subscription;
  const noPoint = `B${'A'.repeat(86)}`;
  expect(isUsableSubscription({ ...subscription, keys: { ...keys, p256dh: noPoint } })).toBe(false);
  expect(isUsableSubscription({ ...subscription, keys: { ...keys, auth: 'AAAA' } })).toBe(false);
});

test('the longest notification fits into a message, and a resolve has the tag of its alarm', () => {
  const notification: OutgoingNotification = {
    ...{ id: 'n', tenant: 't', receivedAt: 5, title: '満'.repeat(250), message: '"\n'.repeat(8_000) },
    ...{
      level: 'error',
      rank: 40,
      ...noTexts,
      instructions: null,
      alarm: 'a',
      state: 'open' as const,
      host: '満'.repeat(253),
      key: '満'.repeat(255),
      ttl: 0,
    },
    url: `https://example.org/${'x'.repeat(2_000)}`,
  };
  for (const title of [notification.title, '\u0001'.repeat(250), '"'.repeat(250)]) {
    const text = payloadOf({ ...notification, title });
    expect(Buffer.byteLength(text)).toBeLessThanOrEqual(mostPushBytes);
    expect(JSON.parse(text)).toMatchObject({ title, url: '/t/t/history?id=n', stays: true });
    expect(JSON.parse(text).body).toMatch(/^error · 満+…\n("\n)+"?…$/);
  }
  const over = payloadOf({
    ...notification,
    message: '',
    level: 'success',
    rank: 0,
    url: 'https://a.example',
    alarm: 'k',
  });
  expect(JSON.parse(over)).toMatchObject({
    tag: createHash('sha256').update('t\nk').digest('base64url').slice(0, 32),
    ...{ url: 'https://a.example', stays: false },
  });
  const tagOf = (alarm: string) => JSON.parse(payloadOf({ ...notification, key: null, alarm })).tag;
  expect(tagOf('first')).toBe(tagOf('first'));
  expect(tagOf('first')).not.toBe(tagOf('another'));
});
