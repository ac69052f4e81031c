import { expect, it } from 'vitest';
import { mintSecret } from '#core/people/secrets.ts';
import { accountOf, bearerOf, splitUrlToken } from './sender-credential.ts';

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

const ofAccount = (email: string, password: string, tenant?: string) => ({ email, password, tenant });
it.each([
  ['an address', basic('Ann@Example.org:four plain boxes'), ofAccount('ann@example.org', 'four plain boxes')],
  ['a tenant before it', basic('Acme/ann@example.org:p:q'), ofAccount('ann@example.org', 'p:q', 'acme')],
  ['UTF-8', basic('ann@example.org:Füße'), ofAccount('ann@example.org', 'Füße')],
  [
    'Latin-1',
    { authorization: `basic ${Buffer.from('ann@example.org:Füße', 'latin1').toString('base64')}` },
    ofAccount('ann@example.org', 'Füße'),
  ],
  ['no address', basic('phone:four plain boxes'), undefined],
  ['no password', basic('ann@example.org:'), undefined],
  ['two tenants', basic('a/b/ann@example.org:p'), undefined],
  ['a token', basic(`ann@example.org:${mintSecret('token').text}`), undefined],
  ['a key', basic(`ann@example.org:${mintSecret('key').text}`), undefined],
  ['another scheme', { authorization: 'Bearer ann@example.org:p' }, undefined],
  ['nothing', {}, undefined],
])('finds an account: %s', (_, headers, expected) => {
  expect(accountOf(headers)).toEqual(expected);
});

it.each([
  ['/gotify/message?token=t', '/gotify/message', 't'],
  ['/api/notify?x=1&token=t&y=%26token=2#token=u', '/api/notify?x=1&y=%26token=2#token=u', 't'],
  ['http://belfry.test/api/notify?token=t', 'http://belfry.test/api/notify', 't'],
  ['/ntfy/t?token=t&a=?token=u&token=u', '/ntfy/t?a=?token=u', undefined],
  ['/ntfy/t?token=', '/ntfy/t', ''],
  ['/ntfy/t?token=bfy%5Ft%2Bu', '/ntfy/t', 'bfy_t+u'],
  ['/ntfy/t?token=t%5', '/ntfy/t', undefined],
  ['/ntfy/t?token=%ff&a=1', '/ntfy/t?a=1', undefined],
  ['/ntfy/t?tokens=t&mytoken=u', '/ntfy/t?tokens=t&mytoken=u', undefined],
  ['/ntfy/t#?token=t', '/ntfy/t#?token=t', undefined],
  ['/ntfy/t?', '/ntfy/t?', undefined],
  ['/token=t', '/token=t', undefined],
])('of %s the URL is %s, and the token %s', (given, url, token) => {
  expect(splitUrlToken(given)).toEqual({ url, token });
});
