import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { DashboardLab } from './dashboard-lab.ts';

let lab: DashboardLab;
beforeAll(async () => {
  lab = await DashboardLab.start(inject('browserPath'));
});
afterAll(() => lab.close());

const owner = { name: 'Ada Byron', email: 'ada@example.org', password: 'four plain brown boxes' };

/** The one-time link's own words: one test after the other, as a newcomer goes. */
test('without the link, a new server says where the link is', async () => {
  const { page, close } = await lab.window();
  await page.goto(lab.server.url);
  await page.getByRole('heading', { name: 'Open the setup link' }).waitFor();
  expect(new URL(page.url()).pathname).toBe('/setup');
  await close();
});

test('a link that is not the one printed makes no account, and says so', async () => {
  const { page, close } = await lab.window();
  await page.goto(`${lab.server.url}/setup#${'x'.repeat(40)}`);
  await page.getByLabel('Tenant name').fill('Plant 2');
  await page.getByLabel('Your name').fill(owner.name);
  await page.getByLabel('Email').fill(owner.email);
  await page.getByRole('textbox', { name: 'Password' }).fill(owner.password);
  await page.getByRole('button', { name: 'Create account' }).click();
  const refusal = page.getByRole('alert');
  await refusal.waitFor();
  expect(await refusal.textContent()).toMatch(/Account not created/);
  await close();
});

test('the printed link leads to the first notification on a screen', async () => {
  const { page, close, errors } = await lab.window();
  await page.goto(`${lab.server.url}/setup#${lab.server.running.setUpSecret}`);
  await page.getByLabel('Tenant name').fill('Plant 2');
  await page.getByLabel('Your name').fill(owner.name);
  await page.getByLabel('Email').fill(owner.email);
  await page.getByRole('textbox', { name: 'Password' }).fill(owner.password);
  await page.getByRole('button', { name: 'Create account' }).click();

  await page.getByRole('heading', { name: 'Send your first notification' }).waitFor();
  await page.getByRole('button', { name: 'Create token' }).click();
  const command = page.locator('pre', { hasText: 'curl' });
  await command.waitFor();
  expect(await command.textContent()).toContain(`${lab.server.url}/api/notify`);

  // The screen has a browser of its own: it knows nothing of the person.
  const screen = await lab.window();
  await screen.page.goto(`${lab.server.url}/panel`);
  const code = await screen.page.locator('output.code:not(.empty)').textContent();
  await page.getByLabel('Code on the screen').fill(code ?? '');
  await page.getByLabel('Panel name').fill('Lobby');
  await page.getByRole('button', { name: 'Approve screen' }).click();
  await page.getByText('Screen approved').waitFor();
  await screen.page.locator('header[data-health="online"]').waitFor();

  await page.getByRole('button', { name: 'Send test' }).click();
  await screen.page.getByRole('heading', { name: 'Hello from Belfry' }).waitFor();
  await page.getByText('Shown on “Lobby” after').waitFor();
  expect([...errors, ...screen.errors]).toEqual([]);
  await Promise.all([close(), screen.close()]);
});

test('the link is dead afterwards, and the owner signs in and out', async () => {
  const { page, close, errors } = await lab.window();
  await page.goto(`${lab.server.url}/setup#whatever`);
  await page.getByRole('heading', { name: 'This server is already set up' }).waitFor();
  await page.getByRole('link', { name: 'Sign in' }).click();

  await page.getByLabel('Email').fill(owner.email);
  await page.getByRole('textbox', { name: 'Password' }).fill('not the password');
  await page.getByRole('button', { name: 'Sign in', exact: true }).click();
  await page.getByRole('alert').getByText('The email or password is wrong.').waitFor();
  await page.getByRole('textbox', { name: 'Password' }).fill(owner.password);
  await page.keyboard.press('Enter');
  await page.getByRole('navigation', { name: 'Main' }).waitFor();

  await page.getByRole('button', { name: owner.email }).click();
  await page.getByRole('menuitem', { name: 'Sign out' }).click();
  await page.getByRole('heading', { name: 'Sign in' }).waitFor();
  await page.goto(`${lab.server.url}/t/default/history?q=host:db-1`);
  await page.getByLabel('Email').fill(owner.email);
  await page.getByRole('textbox', { name: 'Password' }).fill(owner.password);
  await page.keyboard.press('Enter');
  await page.waitForURL('**/t/default/history?q=host*');
  expect(errors).toEqual([]);
  await close();
});
