import { once } from 'node:events';
import { createServer, get, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { endWhenStalled } from './client-connection.ts';

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
