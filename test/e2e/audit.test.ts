import { afterAll, beforeAll, expect, test } from 'vitest';
import type { AuditEntry } from '#contract/people/audit.ts';
import { TestServer } from '../support/server.ts';

let server: TestServer;
let owner: string;
beforeAll(async () => {
  server = await TestServer.start();
  owner = await server.key('owner', 'audited');
});
afterAll(() => server.stop());

const call = (method: string, path: string, json?: unknown, token = owner) =>
  server.call(method, path, { token, ...(json !== undefined && { json }) });
const entries = async (query: string): Promise<AuditEntry[]> =>
  (await call('GET', `/api/audit?${query}`)).json.entries;

test('page by page every entry is listed once, the newest first', async () => {
  for (let rank = 1; rank <= 12; rank++) await call('PUT', '/api/levels/paged', { rank });
  const entries: AuditEntry[] = [];
  let cursor: string | null = '';
  while (cursor !== null) {
    const query = `limit=5&action=level.put&subject=paged${cursor && `&cursor=${cursor}`}`;
    const { json } = await call('GET', `/api/audit?${query}`);
    expect(json.entries.length).toBeLessThanOrEqual(5);
    entries.push(...json.entries);
    cursor = json.nextCursor;
  }
  const ranks = entries.map(({ detail }) => (detail.after as { rank: number }).rank);
  expect(ranks).toEqual([12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1]);
  expect(entries[0]).toEqual({
    id: expect.stringMatching(/^[0-9a-f-]{36}$/),
    at: expect.stringMatching(/^20\d\d-.*Z$/),
    by: 'key key',
    action: 'level.put',
    subject: 'paged',
    detail: { before: { rank: 11 }, after: { rank: 12 } },
  });
});

test('filters narrow it down; what fits nothing finds nothing', async () => {
  await call('PUT', '/api/levels/narrow', { rank: 1 });
  await call('DELETE', '/api/levels/narrow');
  const actions = async (query: string) => (await entries(query)).map(({ action }) => action);
  expect(await actions('subject=narrow')).toEqual(['level.delete', 'level.put']);
  expect(await actions('subject=narrow&action=level.delete')).toEqual(['level.delete']);
  expect(await actions('subject=narrow&action=level')).toHaveLength(2);
  expect(await actions('subject=narrow&by=nobody')).toEqual([]);
  expect(await actions('subject=narrow&by=key%20key')).toHaveLength(2);
});

test('it is for admins and owners', async () => {
  for (const [role, status] of [
    ['viewer', 403],
    ['member', 403],
    ['admin', 200],
  ] as const)
    expect((await call('GET', '/api/audit', undefined, await server.key(role, 'audited'))).status).toBe(
      status,
    );
});

test('an entry of another tenant is no place to start from, and tells nothing', async () => {
  const other = await server.key('owner', 'audited-elsewhere');
  await call('PUT', '/api/levels/elsewhere', { rank: 1 }, other);
  const { json } = await call('GET', '/api/audit', undefined, other);
  const page = await call('GET', `/api/audit?cursor=${json.entries[0].id}&limit=200`);
  expect([page.status, page.text.includes('elsewhere')]).toEqual([200, false]);
});

test.each([
  ['limit=0', 'limit'],
  ['limit=201', 'limit'],
  ['limit=x', 'limit'],
  ['cursor=x', 'cursor'],
  ['cursor=1', 'cursor'],
  [`by=${'x'.repeat(301)}`, 'by'],
])('an invalid query is refused: %s', async (query, field) => {
  const { status, json } = await call('GET', `/api/audit?${query}`);
  expect([status, json.error]).toEqual([400, expect.stringContaining(field)]);
});
