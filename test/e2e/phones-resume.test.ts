import { afterAll, beforeAll, expect, test } from 'vitest';
import { key, openGotify, parseGotify } from '#test/support/gotify-client.ts';
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

test('a client of Gotify that is cut off 200 times and asks for what it missed gets each message once', async () => {
  const { send, phone } = await phoneWorld(server);
  const got: string[] = [];
  let last = 0;
  const keep = (messages: readonly { readonly id: number; readonly title: string }[]) => {
    for (const { id, title } of messages) {
      if (id <= last) continue;
      got.push(title);
      last = id;
    }
  };
  // As the app does after a connection that was lost: pages backwards to the last message that it has.
  const missed = async () => {
    const found: ReturnType<typeof parseGotify>[] = [];
    for (let since = 0; ; ) {
      const path = `/gotify/message?limit=2&since=${since}`;
      const { json } = await server.call('GET', path, { headers: key(phone) });
      const page = json.messages.map((each: unknown) => parseGotify(JSON.stringify(each)));
      found.push(...page);
      since = json.paging.since;
      if (json.paging.next === undefined || page.some(({ id }: { id: number }) => id <= last)) break;
    }
    keep(found.reverse());
  };
  for (let cut = 0; cut < 200; cut++) {
    const stream = await openGotify(server.url, phone);
    await missed();
    await send({ title: String(3 * cut) });
    // The second one may or may not arrive before the cut, the third is sent while the client is away.
    const second = send({ title: String(3 * cut + 1) });
    await stream.next(({ title }) => title === String(3 * cut));
    stream.close();
    await stream.ended;
    keep(stream.events);
    await second;
    await send({ title: String(3 * cut + 2) });
  }
  await missed();
  expect(got).toEqual(Array.from({ length: 600 }, (_, i) => String(i)));
});
