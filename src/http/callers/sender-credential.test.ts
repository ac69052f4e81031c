import { expect, it } from 'vitest';
import { bearerOf } from './sender-credential.ts';

const basic = (text: string) => ({ authorization: `Basic ${Buffer.from(text).toString('base64')}` });

it.each([
  ['a bearer token', { authorization: 'Bearer t' }, 'Bearer t'],
  ['the password', basic('anybody:t'), 'Bearer t'],
  ['the password without a user', basic(':t'), 'Bearer t'],
  ['the user without a password', basic('t:'), 'Bearer t'],
  ['the user alone', basic('t'), 'Bearer t'],
  ['a password with a colon', basic('u:a:b'), 'Bearer a:b'],
  ["Gotify's header", { 'x-gotify-key': 't' }, 'Bearer t'],
  ["GitLab's header", { 'x-gitlab-token': 't' }, 'Bearer t'],
  ["Opsgenie's scheme", { authorization: 'GenieKey t' }, 'Bearer t'],
  ['Authorization before a header', { authorization: 'Bearer a', 'x-gotify-key': 'b' }, 'Bearer a'],
  ['another scheme, as it is', { authorization: 'Digest x' }, 'Digest x'],
  ['nothing', {}, undefined],
])('finds %s', (_, headers, expected) => {
  expect(bearerOf(headers)).toBe(expected);
});
