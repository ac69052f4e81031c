import { afterAll, beforeAll, expect, test } from 'vitest';
import { TestServer } from '#test/support/server.ts';
import { phoneWorld, titled } from './phones-world.ts';

let server: TestServer;
beforeAll(async () => {
  server = await TestServer.start();
});
afterAll(() => server.stop());

/** The stream of a phone with a pause between sounds. */
async function pausingPhone(ringPauseMs: number) {
  const world = await phoneWorld(server);
  const { open, call, panels } = world;
  const stream = await open('ada/json?since=none');
  await stream.next(({ event }) => event === 'open');
  const [{ id }] = await panels();
  const change = (display: object) => call('PATCH', `/api/panels/${id}`, { display });
  expect((await change({ ringPauseMs })).json.display).toEqual({ ringPauseMs });
  return { ...world, id, stream, change };
}

test('of 40 alarms of one cause the first rings; a higher level rings too, and so does the test alarm', async () => {
  const { send, call, stream, open, id } = await pausingPhone(3_600_000);
  const hosts = Array.from({ length: 40 }, (_, i) => `host ${i}`);
  for (const title of hosts) await send({ title, level: 'error' });
  const got = [];
  for (const title of hosts) got.push(await stream.next(titled(title)));
  expect(got.map(({ priority }) => priority)).toEqual([4, ...hosts.slice(1).map(() => 2)]);
  const priorityOf = async (title: string, from = stream) => (await from.next(titled(title))).priority;
  for (const title of ['worse', 'as bad']) await send({ title, level: 'critical' });
  expect([await priorityOf('worse'), await priorityOf('as bad')]).toEqual([5, 2]);
  expect((await call('POST', `/api/panels/${id}/test`)).json.rings).toBe(true);
  const tested = await stream.next(titled('Test alarm for ada'));
  expect(tested.priority).toBe(5);
  const last = got.at(-1)?.id;
  stream.close();
  // It has the first alarm, which rang, and not the critical one.
  const again = await open(`ada/json?since=${last}`);
  expect([await priorityOf('worse', again), await priorityOf('as bad', again)]).toEqual([5, 2]);
  again.close();
  // It has that one, too, and so stays in its pause.
  await send({ title: 'another', level: 'critical' });
  expect(await priorityOf('another', await open(`ada/json?since=${tested.id}`))).toBe(2);
});

test('after the pause, the next one rings', async () => {
  const pauseMs = 1_000;
  const { send, call, stream } = await pausingPhone(pauseMs);
  const receivedAt = async (title: string) => {
    const { notifications } = (await call('GET', `/api/history?q=title:"${title}"`)).json;
    return Date.parse(notifications[0].receivedAt);
  };
  await send({ title: 'number 0', level: 'error' });
  expect((await stream.next(titled('number 0'))).priority).toBe(4);
  const start = await receivedAt('number 0');
  const later: { readonly afterMs: number; readonly priority: number | undefined }[] = [];
  const sendNext = async () => {
    const title = `number ${later.length + 1}`;
    await send({ title, level: 'error' });
    const { priority } = await stream.next(titled(title));
    later.push({ priority, afterMs: (await receivedAt(title)) - start });
    return priority;
  };
  await expect.poll(sendNext, { interval: 100, timeout: 60_000 }).toBe(4);
  expect(later.map(({ priority }) => priority)).toEqual(
    later.map(({ afterMs }) => (afterMs < pauseMs ? 2 : 4)),
  );
});

test('the pause is from a second to an hour', async () => {
  const { change } = await pausingPhone(1_000);
  for (const ringPauseMs of [999, 3_600_001, 1_000.5, '5m'])
    expect((await change({ ringPauseMs })).status).toBe(400);
  expect((await change({ ringPauseMs: 3_600_000 })).status).toBe(200);
});
