import { createInterface } from 'node:readline';
import { Readable } from 'node:stream';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { TestServer } from '../support/server.ts';
import { append, seededFolder } from './history-seed.ts';
import { mibHeld, RawStream } from './streams-raw-client.ts';

const rows = 20_000;
let server: TestServer;
let token: string;
let key: string;
beforeAll(async () => {
  const message = 'm'.repeat(1_000);
  const folder = await seededFolder((history, tenant) =>
    append(history, tenant, rows, (i) => ({ title: `n${i}`, message, host: i % 100 ? 'plenty' : 'few' })),
  );
  server = await TestServer.start({}, folder);
  [token, key] = [await server.token({ tenant: 'small' }), await server.key('viewer')];
});
afterAll(() => server.stop());

async function open(query: string, as = key) {
  const response = await fetch(`${server.url}/api/history/export?${query}`, {
    headers: { authorization: `Bearer ${as}` },
  });
  expect(response.status).toBe(200);
  return response;
}
const lines = (response: Response) =>
  createInterface({ input: Readable.fromWeb(response.body as never), crlfDelay: Number.POSITIVE_INFINITY });

/** RFC 4180, in the fewest lines. */
function parseCsv(text: string): string[][] {
  const cells = [...text.matchAll(/(?:"((?:[^"]|"")*)"|([^",\r\n]*))(,|\r\n|$)/g)];
  const table: string[][] = [[]];
  for (const [, quoted, plain, end] of cells) {
    table.at(-1)?.push(quoted === undefined ? (plain as string) : quoted.replaceAll('""', '"'));
    if (end === '\r\n') table.push([]);
  }
  return table.filter((row) => row.length > 1);
}

test('an export holds everything, newest first, a line of JSON each', async () => {
  const response = await open('format=ndjson');
  expect(response.headers.get('content-type')).toMatch(/^application\/x-ndjson\b/);
  expect(response.headers.get('content-disposition')).toMatch(/^attachment; filename="[^"]+\.ndjson"$/);
  expect(response.headers.get('cache-control')).toBe('no-store');
  let count = 0;
  for await (const line of lines(response)) {
    const { title, position } = JSON.parse(line);
    expect([title, position]).toEqual([`n${rows - count}`, rows - count]);
    count += 1;
  }
  expect(count).toBe(rows);
});

test('an export as CSV holds as much, under one header', async () => {
  const response = await open('format=csv');
  expect(response.headers.get('content-type')).toMatch(/^text\/csv\b/);
  expect(response.headers.get('content-disposition')).toMatch(/\.csv"$/);
  let count = -1;
  for await (const line of lines(response)) {
    if (count === -1) expect(line).toMatch(/^id,position,received_at,/);
    else expect(line.split(',')[1]).toBe(String(rows - count));
    count += 1;
  }
  expect(count).toBe(rows);
});

test('an export of a search holds what the search finds', async () => {
  const found: string[] = [];
  for await (const line of lines(await open(`q=${encodeURIComponent('host:few -n100')}`)))
    found.push(JSON.parse(line).title);
  expect(found).toEqual(Array.from({ length: rows / 100 - 1 }, (_, i) => `n${rows - i * 100}`));
});

test('exports that nobody reads take no memory, and nobody waits for them', async () => {
  const before = mibHeld();
  const path = '/api/history/export?format=ndjson';
  const stalled = await Promise.all(
    Array.from({ length: 6 }, () => RawStream.open(server.url, path, key, '"title"')),
  );
  for (let i = 0; i < 20; i++)
    expect((await server.notify(token, { title: 't', message: 'm' })).status).toBe(200);
  // Each is 28 MiB.
  expect(mibHeld() - before).toBeLessThan(24);
  for (const each of stalled) each.close();
});

test('of one tenant eight run at a time; the ninth must wait, and has room when one has ended', async () => {
  const path = '/api/history/export?format=ndjson';
  const open = await Promise.all(
    Array.from({ length: 8 }, () => RawStream.open(server.url, path, key, '"title"')),
  );
  const ask = (as: string) => server.call('GET', '/api/history/export?q=host:nowhere', { token: as });
  const refused = await ask(key);
  expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, '10']);
  expect((await ask(await server.key('viewer', 'elsewhere'))).status).toBe(200);
  open[0]?.close();
  await expect.poll(async () => (await ask(key)).status).toBe(200);
  for (const each of open) each.close();
});

test('a line tells all that history knows', async () => {
  const tenant = 'whole';
  const own = await server.token({ tenant, name: 'ci' });
  const admin = await server.key('admin', tenant);
  await server.call('POST', '/api/rules', {
    token: admin,
    json: { name: 'to, "front"', then: { panels: { tags: ['front'] } } },
  });
  const { id } = (
    await server.notify(own, {
      title: 'a "title", it is',
      message: 'zwei\nZeilen',
      host: 'db',
      ip: '10.0.0.1',
      key: 'k',
      url: 'https://example.org/',
      level: 'error',
      ttl: 0,
    })
  ).json;
  await server.call('POST', `/api/notifications/${id}/clear`, { token: own });
  const viewer = await server.key('viewer', tenant);
  const line = JSON.parse(await (await open('format=ndjson', viewer)).text());
  expect(line).toMatchObject({
    id,
    position: 1,
    title: 'a "title", it is',
    message: 'zwei\nZeilen',
    host: 'db',
    ip: '10.0.0.1',
    key: 'k',
    url: 'https://example.org/',
    level: 'error',
    ttl: 0,
    sourceIp: '127.0.0.1',
    token: { name: 'ci' },
    rules: [{ name: 'to, "front"' }],
    target: { tags: ['front'] },
    muted: false,
    cleared: { by: 'token ci', reason: 'cleared' },
    receipts: { shown: 0, expired: 0, cleared: 0 },
  });
  const [header, row] = parseCsv(await (await open('format=csv', viewer)).text());
  const cell = (name: string) => row?.[header?.indexOf(name) as number];
  expect([
    cell('title'),
    cell('message'),
    cell('rules'),
    cell('clear_reason'),
    cell('token'),
    cell('sent_ttl_ms'),
  ]).toEqual(['a "title", it is', 'zwei\nZeilen', 'to, "front"', 'cleared', 'ci', '0']);
});

test('no cell of a CSV is one that a spreadsheet would run', async () => {
  const tenant = 'formulas';
  const own = await server.token({ tenant, name: '=cmd|name' });
  const hostile = ['=1+1', '+1', '-1', '@SUM(A1)', '\t=1', '\r=1', '=HYPERLINK("http://x","y")', "'=1"];
  for (const text of hostile) {
    const answer = await server.notify(own, {
      title: `x${text}`,
      message: text.trim() === text ? text : `${text}x`,
      host: '=host',
      key: text.trim(),
    });
    expect(answer.status).toBe(200);
  }
  const [header, ...table] = parseCsv(
    await (await open('format=csv', await server.key('viewer', tenant))).text(),
  );
  expect(table).toHaveLength(hostile.length);
  for (const row of table) {
    expect(row).toHaveLength(header?.length as number);
    for (const cell of row) expect(cell).not.toMatch(/^[=+\-@\t\r]/);
  }
  expect(table.at(-1)?.[header?.indexOf('message') as number]).toBe("'=1+1");
});
