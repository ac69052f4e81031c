/** `belfry/client` in a browser, on a page of the server's own origin. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { ensureBuilt } from '#scripts/build.mjs';
import { root } from '../support/server-process.ts';
import { DashboardLab } from './dashboard-lab.ts';

let lab: DashboardLab;
beforeAll(async () => {
  await ensureBuilt('client', root, process.execPath, process.env);
  lab = await DashboardLab.start(inject('browserPath'));
});
afterAll(() => lab.close());

test('sends and subscribes', async () => {
  const { page, close, errors } = await lab.window();
  const { url } = lab.server;
  const html = '<!doctype html><title>test</title>';
  await page.route('**/own-page', (route) => route.fulfill({ contentType: 'text/html', body: html }));
  const body = readFileSync(join(root, 'dist/client/client.js'), 'utf8');
  await page.route('**/client.js', (route) => route.fulfill({ contentType: 'text/javascript', body }));
  await page.goto(`${url}/own-page`);
  const got = await page.evaluate(
    async ([url = '', token = '']) => {
      const path = '/client.js';
      const { createClient } = (await import(path)) as typeof import('#client/published.ts');
      const client = createClient({ url, token });
      for await (const { type, data } of client.subscribe({ panel: 'page' })) {
        if (type === 'ready') await client.send({ title: 'From a page', message: 'm' });
        if (type === 'notification') return data.title;
      }
      return undefined;
    },
    [url, await lab.server.token()],
  );
  expect(got).toBe('From a page');
  expect(errors).toEqual([]);
  await close();
});
