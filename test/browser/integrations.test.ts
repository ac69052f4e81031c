import { createHmac } from 'node:crypto';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { webhookNames } from '#integrations/formats.ts';
import { formats } from '#web/dashboard/pages/integrations/formats.ts';
import { faultsInBothSchemes } from './accessibility.ts';
import { DashboardLab } from './dashboard-lab.ts';

let lab: DashboardLab;
beforeAll(async () => {
  lab = await DashboardLab.start(inject('browserPath'));
});
afterAll(() => lab.close());

test('every format of the server is on the page', () => {
  const paths = formats.map(({ path }) => path);
  for (const name of webhookNames) expect(paths).toContain(`/api/integrations/${name}`);
  expect(paths).toEqual(
    expect.arrayContaining(['/ntfy', '/gotify', '/api/integrations/opsgenie/', '/api/notify']),
  );
});

test('somebody with Prometheus finds what to enter, with a new token in it, and sees that it arrives; GitHub signs', async () => {
  const { page, close, errors } = await lab.desk({ path: 'settings/integrations' });
  await page.getByRole('button', { name: 'GitHub' }).waitFor();
  await page.keyboard.press('/');
  await page.keyboard.type('prom');
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('Enter');
  const drawer = page.getByRole('dialog', { name: 'Prometheus Alertmanager' });
  await drawer.getByRole('button', { name: 'Create token' }).click();
  const creation = page.getByRole('dialog', { name: 'Create token' });
  await expect.poll(() => creation.getByLabel('Name', { exact: true }).inputValue()).toBe('alertmanager');
  await creation.getByRole('button', { name: 'Create token' }).click();
  await page.getByRole('button', { name: 'I’ve saved it' }).click();
  const yaml = (await drawer.locator('pre', { hasText: 'credentials: bfy_' }).last().textContent()) ?? '';
  const [, url = ''] = /- url: (\S+)/.exec(yaml) ?? [];
  const [, token = ''] = /credentials: (\S+)/.exec(yaml) ?? [];
  expect(token).toMatch(/^bfy_\w+_\w+$/);
  await drawer.getByText('Nothing received with it yet').waitFor();
  const alert = {
    status: 'firing',
    labels: { alertname: 'DiskFull', severity: 'critical' },
    annotations: {},
  };
  const body = {
    version: '4',
    status: 'firing',
    alerts: [{ ...alert, startsAt: '2026-01-01T00:00:00Z', fingerprint: 'a' }],
  };
  const sent = await lab.server.call('POST', new URL(url).pathname, { token, json: body });
  expect(sent.status, sent.text).toBe(200);
  await drawer.getByText('Last used').waitFor();
  expect(await faultsInBothSchemes(page)).toEqual([]);
  await page.setViewportSize({ width: 390, height: 844 });
  await expect.poll(() => page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(390);
  await page.setViewportSize({ width: 1280, height: 800 });
  await page.keyboard.press('Escape');
  await page.getByRole('searchbox', { name: 'Filter by name' }).fill('git');
  await page.getByRole('button', { name: 'GitHub' }).click();
  const github = page.getByRole('dialog', { name: 'GitHub' });
  // The token of another sender is not offered by itself.
  await github.getByText(`${lab.server.url}/api/integrations/github/TOKEN-ID`).waitFor();
  await github.getByLabel('API token').selectOption('alertmanager');
  await github.getByRole('button', { name: 'Show signing secret' }).click();
  const address = github.locator('pre');
  await address.nth(1).waitFor();
  const secret = (await address.nth(1).textContent()) ?? '';
  const push = JSON.stringify({ zen: 'Keep it logically awesome.', hook_id: 1 });
  const signature = `sha256=${createHmac('sha256', secret).update(push).digest('hex')}`;
  const ping = await lab.server.call('POST', new URL((await address.first().textContent()) ?? '').pathname, {
    body: push,
    headers: {
      'content-type': 'application/json',
      'x-github-event': 'ping',
      'x-hub-signature-256': signature,
    },
  });
  expect(ping.status, ping.text).toBe(200);
  expect(errors).toEqual([]);
  await close();
});

test('a token shows the same secret; a viewer sees the addresses with a placeholder for the token', async () => {
  const sender = await lab.server.token({ name: 'repositories', scopes: ['notify'] });
  const [, id = ''] = sender.split('_');
  const { page, close } = await lab.desk({ path: `settings/tokens?id=${id}` });
  await page.getByText('Signed webhooks').click();
  await page.getByText(`${lab.server.url}/api/integrations/github/${id}`).waitFor();
  await page.getByRole('button', { name: 'Show signing secret' }).click();
  await page.getByText(/^whsec_/).waitFor();
  await close();
  const viewer = await lab.desk({ path: 'settings/integrations?id=grafana', role: 'viewer' });
  const drawer = viewer.page.getByRole('dialog', { name: 'Grafana' });
  await drawer.getByText('authorization_credentials: TOKEN').waitFor();
  await drawer.getByText('Ask an admin for a token').waitFor();
  expect(await drawer.getByRole('button', { name: 'Create token' }).count()).toBe(0);
  await viewer.close();
});

test('a token is allowed in URLs by a checkbox, which only the scope notify alone has', async () => {
  const sender = await lab.server.token({ name: 'doorbell', scopes: ['notify'] });
  const [, id = ''] = sender.split('_');
  const { page, close } = await lab.desk({ path: `settings/tokens?id=${id}` });
  const statusInUrl = async () =>
    (await lab.server.call('POST', `/api/notify?token=${sender}`, { json: { title: 'T', message: 'M' } }))
      .status;
  expect(await statusInUrl()).toBe(401);
  const drawer = page.getByRole('dialog', { name: 'doorbell' });
  const allow = drawer.getByLabel('Allow in URLs');
  await allow.check();
  await drawer.getByRole('button', { name: 'Save' }).click();
  await expect.poll(statusInUrl).toBe(200);
  await drawer.getByRole('checkbox', { name: 'metrics' }).check();
  await expect.poll(() => allow.count()).toBe(0);
  await drawer.getByRole('button', { name: 'Save' }).click();
  await expect.poll(statusInUrl).toBe(401);
  await close();
});

test('a mapping is written beside a payload with a live preview, its errors stand at their fields, and what comes is captured', async () => {
  const { page, close, errors } = await lab.desk({ path: 'settings/integrations?tab=mappings' });
  await page.getByText('No mappings').waitFor();
  await page.keyboard.press('n');
  const creation = page.getByRole('dialog', { name: 'Create mapping' });
  await creation.getByLabel('Name').fill('ups');
  const sent = {
    device: 'ups-1',
    events: [
      { id: 7, what: 'On battery', severity: 'high' },
      { id: 8, what: 'Back', severity: 'gone' },
    ],
  };
  const preview = creation.getByRole('region', { name: 'Preview' });
  const root = creation.getByRole('checkbox', { name: 'The root is an array' });
  await creation.getByLabel('Payload').fill(JSON.stringify(sent.events));
  await root.check();
  await creation.getByRole('button', { name: '{/what} On battery' }).click();
  await preview.getByText('2 notifications').waitFor();
  await root.uncheck();
  await creation.getByLabel('Payload').fill(JSON.stringify(sent));
  await creation.getByLabel('List').fill('/events');
  await creation.getByLabel('Title').fill('{^/device}: ');
  await creation.getByRole('button', { name: '{/what} On battery' }).click();
  await creation.getByLabel('Level', { exact: true }).fill('{/severity}');
  await creation.getByRole('button', { name: 'Add word' }).click();
  await creation.getByRole('textbox', { name: 'Word' }).fill('high');
  await creation.getByRole('combobox', { name: 'Level' }).selectOption('critical');
  await preview.getByText('2 notifications').waitFor();
  await expect
    .poll(() => preview.getByRole('listitem').first().textContent())
    .toContain('critical ups-1: On battery');
  await creation.getByLabel('Host').fill('{/a~2}');
  await creation.getByText(/"~" must be written "~0"/).waitFor();
  await creation.getByLabel('Host').fill('{^/device}');
  await preview.getByText('Host: ups-1').first().waitFor();
  expect(await faultsInBothSchemes(page)).toEqual([]);
  await page.setViewportSize({ width: 390, height: 844 });
  await expect.poll(() => creation.evaluate((drawer) => drawer.scrollWidth <= innerWidth)).toBe(true);
  await page.setViewportSize({ width: 1280, height: 800 });
  await creation.getByRole('button', { name: 'Save' }).click();
  const drawer = page.getByRole('dialog', { name: 'ups' });
  const command = drawer.locator('pre').last();
  await expect.poll(() => command.textContent()).toContain(`${lab.server.url}/api/integrations/custom/ups`);
  const token = await lab.server.token({ scopes: ['notify'] });
  const answer = await lab.server.call('POST', '/api/integrations/custom/ups', { token, json: sent });
  expect(answer.json.items).toHaveLength(2);
  await drawer.getByText(/^Received/).waitFor();
  expect(await drawer.getByLabel('Payload').inputValue()).toBe(JSON.stringify(sent));
  await drawer.getByRole('button', { name: 'Use last payload' }).click();
  await expect.poll(() => drawer.getByLabel('Payload').inputValue()).toBe(JSON.stringify(sent, null, 2));
  await expect.poll(() => command.textContent()).toContain('"On battery"');
  // The form of a new one is not on the way back.
  await page.goBack();
  await drawer.waitFor({ state: 'detached' });
  expect(await page.getByRole('dialog').count()).toBe(0);
  await page.goForward();
  await drawer.getByRole('button', { name: 'Delete…' }).click();
  await page.getByRole('button', { name: 'Delete mapping' }).click();
  await page.getByText('No mappings').waitFor();
  expect(errors).toEqual([]);
  await close();
});

test('the preview of a mapping shows labels', async () => {
  const { server } = lab;
  const json = { fields: { title: '{/what}' }, labels: { site: '{/site}' } };
  const stored = await server.call('PUT', '/api/mappings/plant', { token: await server.key('admin'), json });
  expect(stored.status).toBe(200);
  const { page, close } = await lab.desk({ path: 'settings/integrations?tab=mappings' });
  await page.getByRole('button', { name: 'plant' }).click();
  const drawer = page.getByRole('dialog', { name: 'plant' });
  await drawer.getByLabel('Payload').fill('{"what": "On battery", "site": "plant 2"}');
  await drawer.getByRole('region', { name: 'Preview' }).getByText('Labels: site=plant 2').waitFor();
  await close();
});
