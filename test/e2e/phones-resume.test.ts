import { afterAll, beforeAll, expect, test } from 'vitest';
import type { NtfyEvent } from '#test/support/ntfy-client.ts';
import { TestServer } from '#test/support/server.ts';
import { isMessage, phoneWorld } from './phones-world.ts';

let server: TestServer;
beforeAll(async () => {
  server = await TestServer.start();
});
afterAll(() => server.stop());

test('a client that is cut off before what stands now has come gets it when it continues', async () => {
  const { open, send, poll, register } = await phoneWorld(server);
  await register('p');
  for (const title of ['a', 'b']) await send({ title });
  const stream = await open('p/json?since=zzzzzzzzzzzz');
  const { id } = await stream.next(({ event }) => event === 'open');
  expect((await poll(`p/json?poll=1&since=${id}`)).map(({ title }) => title)).toEqual(['a', 'b']);
});

test.each(['json', 'ws'] as const)(
  'a client that is cut off 200 times and continues after the last id gets each message once (%s)',
  async (form) => {
    const { open, openSocket, send, poll } = await phoneWorld(server);
    const got: string[] = [];
    let since = 'none';
    const connect = () => (form === 'ws' ? openSocket(`p/ws?since=${since}`) : open(`p/json?since=${since}`));
    const keep = (events: readonly NtfyEvent[]) => {
      for (const { title, event, id } of events) {
        if (event === 'message') got.push(title ?? '');
        since = id;
      }
    };
    for (let cut = 0; cut < 200; cut++) {
      const stream = await connect();
      await stream.next(({ event }) => event === 'open');
      // The second one may or may not arrive before the cut.
      await send({ title: String(2 * cut) });
      const second = send({ title: String(2 * cut + 1) });
      await stream.next(isMessage);
      stream.close();
      await stream.ended;
      keep(stream.events);
      await second;
    }
    keep(await poll(`p/json?poll=1&since=${since}`));
    expect(got).toEqual(Array.from({ length: 400 }, (_, i) => String(i)));
  },
);
