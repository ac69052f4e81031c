import { afterAll, expect, onTestFinished, test } from 'vitest';
import { missingAlertmanager, startMonitoring } from '../support/prometheus.ts';
import { TestServer } from '../support/server.ts';
import { gap } from '../torture/gap.ts';

let server: TestServer | undefined;
afterAll(() => server?.stop());

test('Prometheus fires and resolves through a real Alertmanager, onto a panel', async (context) => {
  const missing = gap(missingAlertmanager());
  context.skip(missing !== undefined, missing);
  server = await TestServer.start();
  const token = await server.token();
  const { stream } = await server.panel(token, 'lobby');
  const monitoring = await startMonitoring(`receivers:
  - name: belfry
    webhook_configs:
      - url: ${server.url}/api/integrations/alertmanager
        max_alerts: 500
        http_config:
          authorization:
            credentials: ${token}
`);
  onTestFinished(() => monitoring.stop());
  const shown = async (title: string) => (await stream.next(({ data }) => data.title === title)).data;
  monitoring.set('db-01', 97);
  const fired = await shown('Disk of db-01 almost full');
  expect(fired).toMatchObject({
    message: 'at 97 %',
    level: 'critical',
    host: 'db-01',
    key: expect.stringMatching(/^alertmanager:[0-9a-f]{16}$/),
  });
  monitoring.set('db-02', 99);
  await shown('Disk of db-02 almost full');
  monitoring.set('db-01', 50);
  expect(await shown('Resolved: Disk of db-01 almost full')).toMatchObject({
    level: 'success',
    key: fired.key,
  });
  // The group went out again with each change, and each alert was told once.
  const told = stream.messages.filter(({ event }) => event === 'notification' || event === 'clear');
  expect(told.map(({ event, data }) => data.title ?? `${event}: ${data.reason}`)).toEqual([
    'Disk of db-01 almost full',
    'Disk of db-02 almost full',
    'clear: replaced',
    'Resolved: Disk of db-01 almost full',
  ]);
  stream.close();
});
