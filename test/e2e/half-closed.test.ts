import { afterAll, beforeAll, expect, it } from 'vitest';
import { IntakeDesk } from '../support/intake.ts';
import { RawConnection, rawRequest } from '../support/raw-http.ts';

let desk: IntakeDesk;
beforeAll(async () => {
  desk = await IntakeDesk.open();
});
afterAll(() => desk.close());

const authorization = () => ['Authorization', `Bearer ${desk.token}`] as const;

it('a client that says that no more comes is answered all the same, each of its requests', async () => {
  const request = rawRequest({
    headers: [authorization(), ['Content-Type', 'application/json']],
    body: '{"title":"T","message":"M"}',
  });
  for (const count of [1, 3]) {
    const connection = await RawConnection.open(desk.server.url);
    await connection.write(Buffer.concat(Array.from({ length: count }, () => request)));
    connection.finish();
    const answers = await connection.all();
    expect(answers.map(({ status }) => status)).toEqual(Array(count).fill(200));
    await connection.closed;
  }
});

it('a stream whose reader says that no more comes has ended: its panel is offline at once', async () => {
  const { json } = await desk.server.call('POST', '/api/panels', {
    token: desk.token,
    json: { name: 'lobby' },
  });
  const connection = await RawConnection.open(desk.server.url);
  await connection.write(`GET ${json.events} HTTP/1.1\r\nHost: x\r\n${authorization().join(': ')}\r\n\r\n`);
  const online = async () =>
    (await desk.server.call('GET', `/api/panels/${json.id}`, { token: desk.token })).json.online;
  await expect.poll(online).toBe(true);
  connection.finish();
  await expect.poll(online).toBe(false);
  await connection.closed;
});
