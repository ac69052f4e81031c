import { once } from 'node:events';
import { createServer, get, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it, test } from 'vitest';
import { endWhenStalled, tidyUrl } from './requests.ts';

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

async function answerOf(write: (response: ServerResponse) => void) {
  const server = createServer((_request, response) => {
    endWhenStalled(response, 100);
    write(response);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const request = get({ port: (server.address() as AddressInfo).port, host: '127.0.0.1' });
  const [answer] = (await once(request, 'response')) as [IncomingMessage];
  return { answer, end: () => server.close() };
}

test('an answer that has no text for long goes on', async () => {
  const { answer, end } = await answerOf((response) => {
    response.write('first ');
    setTimeout(() => response.end('last'), 400);
  });
  let text = '';
  for await (const chunk of answer) text += chunk;
  expect(text).toBe('first last');
  end();
});

test('an answer whose client reads nothing is ended', async () => {
  const closed = Promise.withResolvers<boolean>();
  const { answer, end } = await answerOf((response) => {
    response.once('close', () => closed.resolve(response.writableFinished));
    for (let i = 0; i < 64; i++) response.write(Buffer.alloc(1 << 20));
  });
  answer.once('error', () => undefined);
  expect(await Promise.race([closed.promise, sleep(20_000, 'open')])).toBe(false);
  answer.destroy();
  end();
});
