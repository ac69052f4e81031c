/**
 * A recorded incident: a core switch fails, and with it 41 hosts of its site, as an Alertmanager with usual settings sent it. The
 * hosts come in groups, 9 of them before the switch.
 */
import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { Board } from '#client/board.ts';
import type { PanelEvent } from '#client/panel-events.ts';
import { eventually } from '../support/eventually.ts';
import { TestServer } from '../support/server.ts';

interface Webhook {
  readonly afterMs: number;
  readonly body: { readonly status: string; readonly groupLabels: { readonly alertname: string } };
}
const recording = JSON.parse(
  readFileSync(new URL('../support/incident-core-switch.json', import.meta.url), 'utf8'),
) as readonly Webhook[];

let server: TestServer;
beforeAll(async () => {
  server = await TestServer.start();
});
afterAll(() => server.stop());

test('the cause is on top with the number of what follows it, nothing is hidden from history, and what stands after it comes back', async () => {
  const tenant = 'plant';
  const [token, key] = [await server.token({ tenant }), await server.key('admin', tenant)];
  const api = (method: string, path: string, json?: object) =>
    server.call(method, path, { token: key, ...(json && { json }) });
  await api('POST', '/api/rules', {
    name: 'What is behind a core switch',
    when: { labels: { role: ['core'] } },
    then: { suppress: { when: { labels: { alertname: ['HostUnreachable'] } }, equal: ['label:site'] } },
    continue: true,
  });
  const { stream } = await server.panel(token, 'Control room');
  const titles = () => {
    const board = new Board();
    for (const { event, data } of stream.messages) board.apply({ type: event, data } as PanelEvent, 0);
    return board.cards().map(({ notification: { title, host } }) => [title, host]);
  };
  const send = async ({ body }: Webhook) => {
    const { status } = await server.call('POST', '/api/integrations/alertmanager', { token, json: body });
    expect(status).toBe(200);
  };
  const isEnd = ({ body }: Webhook) => body.status === 'resolved';
  const end = recording.findIndex(isEnd);
  for (const each of recording.slice(0, end)) await send(each);

  const core = ['Core switch sw-core-2 is down', 'sw-core-2.plant2.example.com'];
  const elsewhere = ['cam-90.plant1.example.com', 'db-07.plant1.example.com'];
  await eventually(async () => expect(titles()).toHaveLength(3), { timeout: 30_000 });
  expect(titles()[0]).toEqual(core);
  expect(
    titles()
      .slice(1)
      .map(([, host]) => host)
      .sort(),
  ).toEqual(elsewhere);
  const suppresses = await stream.next(({ event, data }) => event === 'suppresses' && data.count === 41);
  expect(suppresses.data.alarms).toHaveLength(41);
  expect(suppresses.data.alarms[0]).toMatchObject({
    level: 'critical',
    title: 'Host does not answer to ping',
  });

  const { json: page } = await api('GET', '/api/alarms?state=suppressed&limit=500');
  expect(page.counts).toEqual({ open: 3, acknowledged: 0, shelved: 0, suppressed: 41 });
  expect(page.alarms).toHaveLength(41);
  for (const { suppressedBy } of page.alarms) expect(suppressedBy.title).toBe(core[0]);
  const { json: open } = await api('GET', '/api/alarms?state=open');
  expect(open.alarms[0]).toMatchObject({ title: core[0], suppresses: 41, state: 'open' });
  const { json: history } = await api('GET', '/api/history?q=label:site%3Dplant-2&limit=200');
  expect(history.notifications).toHaveLength(42);

  await send(recording[end] as Webhook);
  await eventually(async () =>
    expect(titles().filter(([title]) => title === 'Host does not answer to ping')).toHaveLength(42),
  );
  for (const each of recording.slice(end + 1)) await send(each);
  await eventually(async () =>
    expect(titles().filter(([title]) => title === 'Host does not answer to ping')).toHaveLength(4),
  );
  const { json: after } = await api('GET', '/api/alarms');
  expect(after.counts).toEqual({ open: 5, acknowledged: 0, shelved: 0, suppressed: 0 });
  stream.close();
});
