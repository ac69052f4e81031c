import { afterAll, beforeAll, expect, test } from 'vitest';
import { eventually } from '../support/eventually.ts';
import { RawConnection, rawRequest } from '../support/raw-http.ts';
import { TestServer } from '../support/server.ts';

let server: TestServer;
let key: string;
beforeAll(async () => {
  server = await TestServer.start();
  key = await server.key();
});
afterAll(() => server.stop());

const paths = ['/api/rules', '/api/panels', '/api/tokens', '/api/keys'];
const listOf = async (path: string) => (await server.call('GET', path, { token: key })).status;

test('lists that are asked for at once wait for each other, and all are answered', async () => {
  const statuses = await Promise.all(Array.from({ length: 25 }, () => paths.map(listOf)).flat());
  expect(new Set(statuses)).toEqual(new Set([200]));
});

test('more than may wait are refused, and callers who leave make room', async () => {
  const connections = await Promise.all(Array.from({ length: 150 }, () => RawConnection.open(server.url)));
  const asked = rawRequest({
    method: 'GET',
    path: '/api/rules',
    headers: [['Authorization', `Bearer ${key}`]],
  });
  for (let round = 0; round < 2; round++) {
    const statuses = await Promise.all(
      connections.map(async (connection) => {
        await connection.write(asked);
        return (await connection.next())[0]?.status;
      }),
    );
    expect(statuses.filter((status) => status === 200).length).toBeGreaterThan(100);
    expect(statuses.filter((status) => status !== 200 && status !== 429)).toEqual([]);
  }
  await Promise.all(connections.map((connection) => connection.write(asked)));
  for (const connection of connections) connection.reset();
  await eventually(async () => expect(await listOf('/api/rules')).toBe(200));
});

const get = (path: string) =>
  rawRequest({ method: 'GET', path, headers: [['Authorization', `Bearer ${key}`]] });
/** Takes both places: the lists cannot be answered while the streams before them are open. */
const holdPlaces = () =>
  Promise.all(
    [1, 2].map(async () => {
      const connection = await RawConnection.open(server.url);
      await connection.write(Buffer.concat([get('/api/history/stream'), get('/api/rules')]));
      await connection.begun();
      return connection;
    }),
  );

test('lists that nobody takes let others have their turn after ten seconds', async () => {
  const holders = await holdPlaces();
  expect(await listOf('/api/rules')).toBe(200);
  for (const holder of holders) holder.reset();
});
