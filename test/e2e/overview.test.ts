import { afterAll, beforeAll, expect, test } from 'vitest';
import { eventually } from '../support/eventually.ts';
import { TestServer } from '../support/server.ts';

let server: TestServer;
let token: string;
let key: string;
let openedAt: number;
beforeAll(async () => {
  openedAt = Date.now();
  server = await TestServer.start();
  [token, key] = [await server.token(), await server.key('viewer')];
});
afterAll(() => server.stop());

const overview = async (as = key) => (await server.call('GET', '/api/overview', { token: as })).json;
const sumOf = (counts: readonly Record<string, number>[]) =>
  counts.flatMap((each) => Object.values(each)).reduce((sum, count) => sum + count, 0);

test('of a new tenant everything is there, and nothing in it', async () => {
  const quiet = await server.key('viewer', 'quiet');
  const { minutes, countedSince, serverTime, ...rest } = await overview(quiet);
  expect(rest).toEqual({
    onCall: [],
    received24h: 0,
    panels: { online: 0, total: 0, behind: 0 },
    rejections: [],
    topHosts: [],
    live: {},
  });
  expect(minutes).toHaveLength(60);
  const [at, newest] = [Date.parse(serverTime), Date.parse(minutes.at(-1).at)];
  expect(at - newest).toBeGreaterThanOrEqual(0);
  expect(at - newest).toBeLessThan(60_000);
  expect(newest - Date.parse(minutes[0].at)).toBe(59 * 60_000);
  expect(Date.parse(countedSince)).toBeGreaterThanOrEqual(openedAt);
  expect(Date.parse(countedSince)).toBeLessThanOrEqual(at);
});

test('what was received, refused and is live is counted, hosts without regard to case, panels as they stand', async () => {
  const { stream } = await server.panel(token, 'Lobby');
  await server.panel(token, 'Gone').then((gone) => gone.stream.close());
  const sent: [string, string | null][] = [
    ['error', 'DB-01'],
    ['critical', 'db-01'],
    ['info', 'db-01'],
    ['info', 'web-01'],
    ['warning', null],
  ];
  for (const [level, host] of sent) {
    const { status } = await server.notify(token, { title: 't', message: 'm', level, host, ttl: 0 });
    expect(status).toBe(200);
  }
  await server.notify(token, { message: 'no title' });
  await server.notify(token, { title: 'no message' });
  await server.call('POST', '/api/notify', { token, body: 'x', headers: { 'content-type': 'image/png' } });
  const { notifications } = (await server.call('GET', '/api/history?q=level:warning', { token: key })).json;
  await server.call('POST', `/api/notifications/${notifications[0].id}/clear`, { token });

  const { minutes, received24h, rejections, topHosts, live, panels } = await overview();
  expect(received24h).toBe(5);
  expect(sumOf(minutes.map(({ counts }: { counts: Record<string, number> }) => counts))).toBe(5);
  expect(rejections).toEqual([
    { reason: 'invalid', count: 2 },
    { reason: 'unsupported-type', count: 1 },
  ]);
  expect(topHosts).toEqual([
    { host: 'db-01', count: 3, level: 'critical' },
    { host: 'web-01', count: 1, level: 'info' },
  ]);
  expect(live).toEqual({ error: 1, critical: 1, info: 2 });
  expect(panels.total).toBe(2);
  await eventually(async () => expect((await overview()).panels).toEqual({ online: 1, total: 2, behind: 0 }));
  stream.close();
});

test('a new notification is counted soon, however often it was asked', async () => {
  const before = (await overview()).received24h;
  await server.notify(token, { title: 't', message: 'm' });
  await eventually(async () => expect((await overview()).received24h).toBe(before + 1));
});
