import { copyFileSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { damagePage } from '../support/damage-page.ts';
import { TestServer } from '../support/server.ts';

/** So many that those of the first page are indexed: the server reads only what is not. */
const stored = 600;
let whole: TestServer;
let token: string;
let key: string;

/** A stopped server's folder, all of it in the database file. */
beforeAll(async () => {
  whole = await TestServer.start();
  token = await whole.token();
  key = await whole.key();
  const message = 'x'.repeat(1_000);
  for (let i = 0; i < stored; i += 50)
    await Promise.all(
      Array.from({ length: 50 }, (_, j) => whole.notify(token, { title: `n${i + j}`, message })),
    );
  await whole.stop({ keep: true });
});
afterAll(() => rmSync(whole.folder, { recursive: true, force: true }));

/** A server on a copy of which one page is damaged: the one that a query of the database names. */
async function damaged(sql: string): Promise<TestServer> {
  const folder = mkdtempSync(join(tmpdir(), 'belfry-damaged-'));
  const path = join(folder, 'belfry.db');
  for (const suffix of ['', '.key'])
    copyFileSync(join(whole.folder, `belfry.db${suffix}`), `${path}${suffix}`);
  const db = new Database(path, { readonly: true });
  const page = db.prepare<[], number>(sql).pluck().get();
  db.close();
  damagePage(path, page as number);
  return TestServer.start({ BELFRY_LOG_LEVEL: 'silent' }, folder);
}

const rootOf = (name: string) => `SELECT rootpage FROM sqlite_schema WHERE name = '${name}'`;

test.each(['credentials', 'levels', 'rules_in_force', 'log_1_0', 'live'])(
  'with the root page of %s damaged, a notification is a 503, and the server is not ready from then on',
  async (table) => {
    const server = await damaged(rootOf(table));
    for (let i = 0; i < 2; i++) {
      const { status, json, headers } = await server.notify(token, { title: 'T', message: 'M' });
      expect({ status, json }).toEqual({
        status: 503,
        json: { error: expect.stringContaining('the database file is damaged: the server log says more') },
      });
      expect(headers.get('retry-after')).toBe('1');
      // Longer than it takes to open the file anew.
      await new Promise((resolve) => setTimeout(resolve, 300));
      const ready = await server.call('GET', '/readyz');
      expect(ready.status).toBe(503);
      expect(ready.json.error).toContain('the database file is damaged');
    }
    await server.stop();
  },
);

test('an export that meets a damaged page breaks off, makes the server not ready, and a stored notification ends that', async () => {
  const server = await damaged(
    "SELECT pageno FROM dbstat WHERE name = 'log_1_0' AND pagetype = 'leaf' ORDER BY path LIMIT 1",
  );
  const headers = { authorization: `Bearer ${key}` };
  const response = await fetch(`${server.url}/api/history/export`, { headers });
  expect(response.status).toBe(200);
  let lines = 0;
  const reading = async () => {
    for await (const chunk of response.body as unknown as AsyncIterable<Uint8Array>)
      lines += Buffer.from(chunk).toString().split('\n').length - 1;
  };
  await expect(reading()).rejects.toThrow('terminated');
  expect(lines).toBeLessThan(stored);
  expect((await server.call('GET', '/readyz')).status).toBe(503);
  expect((await server.notify(token, { title: 'T', message: 'M' })).status).toBe(200);
  expect((await server.call('GET', '/readyz')).status).toBe(200);
  await server.stop();
});
