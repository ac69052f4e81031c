import { expect, it } from 'vitest';
import { tidyUrl } from './request-path.ts';

it.each([
  ['/api/notify', '/api/notify'],
  ['/api/notify/', '/api/notify'],
  ['/api/notify/?a=b//c/', '/api/notify?a=b//c/'],
  ['/api/notify/#x', '/api/notify#x'],
  ['//api///notify//', '/api/notify'],
  ['/api/integrations/opsgenie//v2/alerts/', '/api/integrations/opsgenie/v2/alerts'],
  [
    '/api/integrations/opsgenie/v2/alerts/a%2F%2Fb/close',
    '/api/integrations/opsgenie/v2/alerts/a%2F%2Fb/close',
  ],
  ['http://belfry.example//api/notify/', 'http://belfry.example/api/notify'],
  ['/api/history?q=url:http://a/', '/api/history?q=url:http://a/'],
  ['/', '/'],
  ['//', '/'],
  ['/?a=/', '/?a=/'],
  ['/docs/', '/docs/'],
  ['//docs//api/', '/docs/api/'],
  ['/t/', '/t/'],
  ['/docsx/', '/docsx'],
  ['', ''],
  ['*', '*'],
])('%s is %s', (url, tidy) => {
  expect(tidyUrl(url)).toBe(tidy);
});

it('the slash at the end of a DELETE stays, so that a missing id does not mean the whole list', () => {
  expect(tidyUrl('/api//account/sessions/', 'DELETE')).toBe('/api/account/sessions/');
});
