import { afterAll, beforeAll, expect, test } from 'vitest';
import { eventually } from '../support/eventually.ts';
import { RawConnection, rawRequest } from '../support/raw-http.ts';
import { TestServer } from '../support/server.ts';
import { append, seededFolder } from './history-seed.ts';

const seeded = 730;
let server: TestServer;
let token: string;
let key: string;
beforeAll(async () => {
  const folder = await seededFolder((history, tenant) =>
    append(history, tenant, seeded, (i) => ({ title: `n${i}`, host: i % 3 ? 'plenty' : 'third' })),
  );
  server = await TestServer.start({}, folder);
  [token, key] = [await server.token(), await server.key('viewer')];
});
afterAll(() => server.stop());

/** Follows nextCursor to the last page, doing `meanwhile` between any two. `cut`: how many pages ended with their time. */
async function walk(query: string, meanwhile: () => Promise<unknown> = async () => undefined) {
  const titles: string[] = [];
  const pages: number[] = [];
  let cut = 0;
  let cursor: string | null = '';
  while (cursor !== null) {
    const { json } = await server.call('GET', `/api/history?${query}${cursor && `&cursor=${cursor}`}`, {
      token: key,
    });
    titles.push(...json.notifications.map(({ title }: { title: string }) => title));
    pages.push(json.notifications.length);
    if (json.searchedTo !== null) cut += 1;
    cursor = json.nextCursor;
    await meanwhile();
  }
  return { titles, pages, cut };
}
const downFrom = (from: number, is: (i: number) => boolean = () => true) =>
  Array.from({ length: from }, (_, i) => from - i)
    .filter(is)
    .map((i) => `n${i}`);

test('pages go from the newest to the oldest, each notification once, and end with null', async () => {
  for (const [limit, full] of [
    [200, [200, 200, 200, 130]],
    [73, Array(10).fill(73)],
  ] as const) {
    const { titles, pages, cut } = await walk(`limit=${limit}`);
    expect(titles).toEqual(downFrom(seeded));
    // On a busy machine a page ends with its time, and is shorter.
    if (cut === 0) expect(pages).toEqual(full);
    else expect(Math.max(...pages)).toBeLessThanOrEqual(limit);
  }
});

test('a page is of 50 when nothing is said', async () => {
  const { json } = await server.call('GET', '/api/history', { token: key });
  if (json.searchedTo === null) expect(json.notifications).toHaveLength(50);
  else expect(json.notifications.length).toBeLessThanOrEqual(50);
});

test('a search is paged like the whole, and an empty one is one empty page', async () => {
  expect((await walk('limit=50&q=host:third')).titles).toEqual(downFrom(seeded, (i) => i % 3 === 0));
  expect((await walk('limit=17&q=host:plenty%20OR%20n3')).titles).toEqual(
    downFrom(seeded, (i) => i % 3 !== 0 || i === 3),
  );
  expect(await walk('q=host:nobody')).toMatchObject({ titles: [], pages: [0] });
});

test('pages have no holes and no repeats while new ones arrive', async () => {
  let n = 0;
  const arrive = () => {
    n += 1;
    return server.notify(token, { title: `new ${n}`, message: 'm', host: 'third' });
  };
  const all = await walk('limit=40', arrive);
  expect(all.titles).toEqual(downFrom(seeded));
  const some = await walk('limit=20&q=host:third', arrive);
  expect(some.titles.filter((title) => title.startsWith('n') && !title.startsWith('new'))).toEqual(
    downFrom(seeded, (i) => i % 3 === 0),
  );
  expect(new Set(some.titles).size).toBe(some.titles.length);
});

test('what was just acknowledged is on the first page', async () => {
  for (let i = 0; i < 10; i++) {
    const { id } = (await server.notify(token, { title: `fresh ${i}`, message: `word${i}` })).json;
    const { json } = await server.call('GET', `/api/history?limit=1&q=word${i}`, { token: key });
    expect(json.notifications.map((each: { id: string }) => each.id)).toEqual([id]);
  }
});

test('tokens do not read history, whatever their scopes', async () => {
  for (const path of ['/api/history', '/api/history/stream', '/api/history/export']) {
    expect((await server.call('GET', path, { token })).status).toBe(403);
    expect((await server.call('GET', path)).status).toBe(401);
  }
});

const pipelined = (path: string, token: string, times: number) =>
  Buffer.concat(
    Array<Buffer>(times).fill(
      rawRequest({ method: 'GET', path, headers: [['Authorization', `Bearer ${token}`]] }),
    ),
  );

test.each([
  ['searches', '/api/history'],
  ['counts', '/api/history/histogram'],
])('only sixteen %s of one tenant run at once; the next gets 429 and Retry-After', async (what, path) => {
  const [own, elsewhere] = [await server.key('viewer', what), await server.key('viewer', `not ${what}`)];
  const ask = async (as: string) => (await server.call('GET', path, { token: as })).status;
  expect(await ask(own)).toBe(200);
  const connection = await RawConnection.open(server.url);
  // All of them are read before the first is answered.
  await connection.write(pipelined(path, own, 20));
  const [answers, other] = await Promise.all([connection.next(20), ask(elsewhere)]);
  connection.close();
  expect(answers.map(({ status }) => status)).toEqual([...Array(16).fill(200), ...Array(4).fill(429)]);
  expect(answers[16]).toMatchObject({
    headers: { 'retry-after': '1' },
    body: `{"error":"this tenant has 16 ${what} running, the most at once: try again when one has ended"}`,
  });
  expect([other, await ask(own)]).toEqual([200, 200]);
});

test('searches whose callers went away before they were answered leave room for others', async () => {
  const own = await server.key('viewer', 'gone');
  const ask = async () => (await server.call('GET', '/api/history', { token: own })).status;
  expect(await ask()).toBe(200);
  for (let i = 0; i < 3; i++) {
    const connection = await RawConnection.open(server.url);
    await connection.write(pipelined('/api/history', own, 16));
    connection.reset();
  }
  await eventually(async () => {
    const statuses = await Promise.all(Array.from({ length: 16 }, ask));
    expect(statuses).toEqual(Array(16).fill(200));
  });
});
