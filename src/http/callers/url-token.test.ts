import { expect, it } from 'vitest';
import { splitUrlToken } from './url-token.ts';

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
