import { afterAll, beforeAll, expect, test } from 'vitest';
import { TestServer } from '#test/support/server.ts';
import { isMessage, phoneWorld, titled } from './phones-world.ts';

let server: TestServer;
beforeAll(async () => {
  server = await TestServer.start();
});
afterAll(() => server.stop());
const world = () => phoneWorld(server);

test('a test alarm rings one phone: no other panel or channel gets it, whatever rules say', async () => {
  const { open, call, register, panels } = await world();
  const stream = await open('oncall/json?since=none');
  await stream.next(({ event }) => event === 'open');
  const other = await open('other/json?since=none');
  await other.next(({ event }) => event === 'open');
  const wall = await register('wall');
  await call('POST', '/api/rules', { name: 'wall', then: { panels: { ids: [wall] } } });
  await call('POST', '/api/rules', { name: 'quiet', then: { mute: true } });
  const { id } = (await panels()).find(({ topic }: { topic: string }) => topic === 'oncall');
  const test = () => call('POST', `/api/panels/${id}/test`);
  expect((await test()).json).toEqual({ ok: true, reached: true, rings: true });
  const message = await stream.next(isMessage);
  expect(message).toMatchObject({ title: 'Test alarm for oncall', priority: 5 });
  const [found] = (await call('GET', '/api/history?q=token:belfry:test')).json.notifications;
  expect(found).toMatchObject({ state: 'live', ttl: 600_000, rules: [] });
  expect((await call('GET', `/api/panels/${wall}/showing`)).json.notifications).toEqual([]);
  expect(other.events.filter(isMessage)).toEqual([]);
  expect(found.panels).toMatchObject([{ id }]);
  stream.close();
  await expect.poll(async () => (await call('GET', `/api/panels/${id}`)).json.online).toBe(false);
  expect((await test()).json).toEqual({ ok: true, reached: false, rings: true });
});

test('in its quiet hours a phone gets everything, and only what is critical rings; others ring as before', async () => {
  const { open, send, call, panels } = await world();
  const [quiet, loud] = [await open('quiet/json?since=none'), await open('loud/json?since=none')];
  for (const stream of [quiet, loud]) await stream.next(({ event }) => event === 'open');
  const { id } = (await panels()).find(({ topic }: { topic: string }) => topic === 'quiet');
  // From midnight to midnight: always.
  const hours = { quietFrom: '00:00', quietUntil: '00:00' };
  const change = (display: object) => call('PATCH', `/api/panels/${id}`, { display });
  const priorities = async (title: string, level: string) => {
    await send({ title, level });
    return [await quiet.next(titled(title)), await loud.next(titled(title))].map(({ priority }) => priority);
  };
  expect((await change(hours)).json.display).toEqual(hours);
  expect(await priorities('an error', 'error')).toEqual([2, 4]);
  expect(await priorities('critical', 'critical')).toEqual([5, 5]);
  const rings = async () => (await call('POST', `/api/panels/${id}/test`)).json.rings;
  expect(await rings()).toBe(true);
  await change({ ...hours, criticalRings: false });
  expect(await priorities('critical, too', 'critical')).toEqual([2, 5]);
  expect(await rings()).toBe(false);
  expect((await quiet.next(titled('Test alarm for quiet'))).priority).toBe(5);
  await call('POST', '/api/levels', { name: 'worst', rank: 60, color: '#ff0000' });
  await change({ minLevel: 'worst' });
  expect(await rings()).toBe(false);
  await change({});
  expect(await priorities('after the hours', 'error')).toEqual([4, 4]);
  expect((await change({ ...hours, quietDays: ['someday'] })).status).toBe(400);
  expect(quiet.events.find(titled('an error'))).toMatchObject({
    message: 'm',
    actions: [{ id: 'acknowledge' }],
  });
});
