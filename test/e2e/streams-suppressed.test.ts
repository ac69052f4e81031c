import { afterAll, beforeAll, expect, test } from 'vitest';
import { coreSwitch } from '../support/core-switch.ts';
import { TestServer } from '../support/server.ts';

let server: TestServer;
beforeAll(async () => {
  server = await TestServer.start();
});
afterAll(() => server.stop());

test('a panel gets the alarms that follow another one, anew after a reconnect, and none that would not be on it', async () => {
  const tenant = 'suppressed-streams';
  const { key, token, switchDown, hostDown, clear } = await coreSwitch(server, tenant);
  const json = { name: 'To the NOC', when: { host: ['ap-*'] }, then: { panels: { tags: ['noc'] } } };
  await server.call('POST', '/api/rules', { token: key, json });
  const noc = await server.panel(token, 'NOC', { tags: ['noc'] });
  const lobby = await server.panel(token, 'Lobby', { tags: ['lobby'] });
  const core = await switchDown();
  for (let n = 0; n < 41; n++) await hostDown(`ap-${n}`);
  const pump = await hostDown('pump-1');
  const of = (count: number) => (each: { event: string; data: { id: string; count: number } }) =>
    each.event === 'suppresses' && each.data.id === core && each.data.count === count;
  const { data } = await noc.stream.next(of(42));
  expect(data.alarms).toHaveLength(42);
  const one = { id: pump, level: 'error', title: 'Host unreachable', host: 'pump-1' };
  expect(data.alarms[0]).toEqual(one);
  expect((await lobby.stream.next(of(1))).data.alarms).toEqual([one]);
  expect(JSON.stringify(lobby.stream.messages)).not.toContain('ap-');

  const cursor = noc.stream.messages.findLast(({ id }) => id !== undefined)?.id as string;
  noc.stream.close();
  const again = await server.stream(`/api/panels/${noc.id}/events`, token, cursor);
  expect((await again.next(({ event }) => event === 'ready')).data.resume).toBe('replayed');
  expect((await again.next(of(42))).data).toEqual(data);

  await clear(core);
  await again.next(of(0));
  await again.next(({ event, data: { id } }) => event === 'unsuppress' && id === pump);
  await expect.poll(() => again.messages.filter(({ event }) => event === 'unsuppress').length).toBe(42);
  for (const stream of [again, lobby.stream]) stream.close();
});
