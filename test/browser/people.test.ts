import type { Locator } from 'playwright-core';
import { afterAll, afterEach, beforeAll, expect, inject, test } from 'vitest';
import { totpCode } from '../support/totp.ts';
import { faultsIn } from './accessibility.ts';
import { DashboardLab, type Desk, type DeskOptions } from './dashboard-lab.ts';

let lab: DashboardLab;
let desks: Pick<Desk, 'close' | 'errors'>[] = [];
beforeAll(async () => {
  lab = await DashboardLab.start(inject('browserPath'));
});
afterAll(() => lab.close());
afterEach(async () => {
  const errors = desks.flatMap((desk) => desk.errors);
  await Promise.all(desks.map((desk) => desk.close()));
  desks = [];
  expect(errors).toEqual([]);
});

async function open(options: DeskOptions): Promise<Desk> {
  const desk = await lab.desk(options);
  desks.push(desk);
  return desk;
}

test('an invitation makes an account, and its role can be changed and taken', async () => {
  const { page } = await open({ path: 'settings/members', tenant: 'invites' });
  await page.keyboard.press('n');
  await page.getByRole('radio', { name: 'viewer' }).check();
  await page.getByLabel('Email address (optional)').fill('grace@example.org');
  await page.getByRole('button', { name: 'Create link' }).click();
  const link = (await page.locator('pre', { hasText: '/invite#' }).textContent()) ?? '';
  await page.getByRole('button', { name: 'Done' }).click();
  await page.getByText('grace@example.org').waitFor();

  const guest = await lab.window();
  desks.push(guest);
  await guest.page.goto(link);
  await guest.page.getByText('Ada Byron').or(guest.page.getByText('invited you')).first().waitFor();
  await guest.page.getByLabel('Your name').fill('Grace');
  await guest.page.getByRole('textbox', { name: 'Password' }).fill('four plain brown boxes');
  await guest.page.getByRole('button', { name: 'Join' }).click();
  await guest.page.waitForURL('**/t/invites/overview');
  // A viewer is offered nothing that the server would refuse.
  const navigation = guest.page.getByRole('navigation', { name: 'Main' });
  await navigation.getByText('Members').waitFor();
  expect(await navigation.getByText('Audit log').count()).toBe(0);

  await page.reload();
  const role = page.getByRole('button', { name: /^Role of Grace/ });
  const changes = page.getByRole('dialog', { name: 'Change the role of Grace' });
  await role.press('Enter');
  await changes.getByRole('radio', { name: 'viewer' }).press('ArrowDown');
  await changes.getByRole('radio', { name: 'member' }).press('ArrowDown');
  expect(await changes.getByRole('radio', { name: 'admin' }).isChecked()).toBe(true);
  await page.keyboard.press('Escape');
  await changes.waitFor({ state: 'detached' });
  await page.getByRole('button', { name: 'Role of Grace: viewer' }).click();
  await changes.getByRole('radio', { name: 'admin' }).check();
  await changes.getByRole('button', { name: 'Change role' }).click();
  await page.getByText('Grace is now admin').waitFor();
  await guest.page.reload();
  await navigation.getByText('Audit log').waitFor();

  await page.getByRole('button', { name: 'Remove Grace' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Remove' }).click();
  await expect.poll(() => role.count()).toBe(0);
  await guest.page.reload();
  await guest.page.getByText('You don’t have access to a tenant named “invites”').waitFor();
});

test('a used invitation says that it does not work', async () => {
  const { page, close } = await lab.window();
  desks.push({ close, errors: [] });
  await page.goto(`${lab.server.url}/invite#${'y'.repeat(40)}`);
  await page.getByRole('heading', { name: 'Invitation not valid' }).waitFor();
  await page.getByRole('link', { name: 'Go to sign-in' }).click();
  await page.getByRole('heading', { name: 'Sign in' }).waitFor();
});

test('an invitation for another address offers to sign out, and then to join', async () => {
  const { page } = await open({ path: 'overview', tenant: 'invited' });
  const created = await lab.server.call('POST', '/api/invitations', {
    token: await lab.server.key('admin', 'invited'),
    json: { role: 'viewer', email: 'bob@example.org' },
  });
  await page.goto(created.json.link);
  await page.getByText('Sign out to join with the invited address.').waitFor();
  expect(await page.getByRole('button', { name: 'Join' }).count()).toBe(0);
  await page.getByRole('button', { name: 'Sign out' }).click();
  await page.getByLabel('Your name').waitFor();
  await page.getByRole('button', { name: 'Join' }).waitFor();
});

test('the last owner can neither step down nor be removed', async () => {
  const { page } = await open({ path: 'settings/members', tenant: 'lonely', name: 'Solo' });
  await page.getByRole('button', { name: /^Role of Solo/ }).click();
  const changes = page.getByRole('dialog');
  await changes.getByRole('radio', { name: 'viewer' }).check();
  await changes.getByText('You lose rights immediately').waitFor();
  await changes.getByRole('button', { name: 'Change role' }).click();
  await changes.getByText('Role not changed').waitFor();
  expect(await faultsIn('light', page)).toEqual([]);
  await page.keyboard.press('Escape');
  await changes.waitFor({ state: 'detached' });
  await page.getByRole('button', { name: 'Leave' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Leave' }).click();
  await page.getByRole('dialog').getByRole('alert').waitFor();
});

test('two tenants at two desks never see each other', async () => {
  const [left, right] = await Promise.all([
    open({ tenant: 'left', path: 'history' }),
    open({ tenant: 'right', path: 'history' }),
  ]);
  const canaries = { left: 'canary-of-left', right: 'canary-of-right' };
  for (const [tenant, host] of Object.entries(canaries)) {
    const token = await lab.server.token({ tenant });
    await lab.server.notify(token, { title: host, message: host, host });
  }
  await left.page.reload();
  await right.page.reload();
  await left.page.getByText(canaries.left).first().waitFor();
  await right.page.getByText(canaries.right).first().waitFor();
  expect(await left.page.content()).not.toContain(canaries.right);
  expect(await right.page.content()).not.toContain(canaries.left);
  await left.page.goto(`${lab.server.url}/t/right/history`);
  await left.page.getByText('You don’t have access to a tenant named “right”').waitFor();
  expect(await left.page.content()).not.toContain(canaries.right);
});

test('what was changed stands in the audit log, and filters find it', async () => {
  const { page, person } = await open({ path: 'settings/audit', tenant: 'audited' });
  await page.getByText('No changes yet').or(page.getByRole('table')).first().waitFor();
  const token = await lab.server.key('admin', 'audited');
  await lab.server.call('POST', '/api/tokens', { token, json: { name: 'for the audit' } });
  const rule = { name: 'To the NOC', when: { minLevel: 'warning' }, then: { setTtl: 60_000 } };
  const { json } = await lab.server.call('POST', '/api/rules', { token, json: rule });
  const change = { when: { host: ['db-*'] }, enabled: false };
  await lab.server.call('PATCH', `/api/rules/${json.id}`, { token, json: change });
  await lab.server.call('POST', '/api/invitations', { token, json: { role: 'viewer' } });
  const { accounts } = lab.server.running;
  const note = { by: 'cli', at: Date.now(), action: 'account.password', subject: person.id } as const;
  const detail = { reset: true, twoFactor: false, passkeysRemoved: 2 };
  await accounts.note(person.id, { ...note, detail });
  await page.reload();
  const reset = page.getByRole('row', { name: 'Password changed' });
  for (const fact of [
    'New password: set by an operator',
    'Two-factor authentication: turned off',
    'Passkeys removed: 2',
  ])
    await reset.getByText(fact, { exact: true }).waitFor();
  await page
    .getByRole('row', { name: 'Token created' })
    .getByText('Scopes: send notifications, show panels, read metrics', { exact: true })
    .waitFor();
  await page.getByRole('cell', { name: 'an invitation without email' }).waitFor();
  const changed = page.getByRole('row', { name: 'Rule changed' });
  await changed.getByRole('cell', { name: 'To the NOC' }).waitFor();
  await changed
    .getByText('Conditions: When level is at least warning → When host matches db-*', { exact: true })
    .waitFor();
  await changed.getByText('Enabled: yes → no', { exact: true }).waitFor();
  await page.getByLabel('Kind of change').selectOption('API tokens');
  await changed.waitFor({ state: 'detached' });
  await page.getByRole('cell', { name: 'Token created' }).waitFor();
  await page.getByLabel('Kind of change').selectOption('Channels');
  await page.getByText('No entries match these filters').waitFor();
});

test('a second factor is set up, asked for, and the account says where one is signed in', async () => {
  const { page, person } = await open({ tenant: 'factors', name: 'Mary' });
  await page.goto(`${lab.server.url}/account`);
  await page.getByRole('button', { name: 'Turn on' }).click();
  await page.getByRole('textbox', { name: 'Current password' }).last().fill('four plain brown boxes');
  await page.getByRole('dialog').getByRole('button', { name: 'Turn on' }).click();
  await page.getByRole('img', { name: 'QR code' }).waitFor();
  const key = await page.locator('pre').first().textContent();
  // Each code is good once. One of the last half minute may have ended before it is checked.
  const code = (steps = 0) => totpCode(`otpauth://totp/x?secret=${key}`, steps);
  await page.getByLabel('Six-digit code from the app').fill(code());
  await page.getByRole('button', { name: 'Confirm' }).click();
  await page.getByText('On. Signing in').waitFor();

  const other = await lab.window();
  desks.push(other);
  await other.page.goto(`${lab.server.url}/sign-in`);
  await other.page.getByLabel('Email').fill(person.email);
  await other.page.getByRole('textbox', { name: 'Password' }).fill('four plain brown boxes');
  await other.page.keyboard.press('Enter');
  await other.page.getByRole('heading', { name: 'Two-factor authentication' }).waitFor();
  await other.page.getByLabel('Code').fill('000000');
  await other.page.keyboard.press('Enter');
  await other.page.getByText('The code is wrong, or was used before.').waitFor();
  await other.context.clearCookies();
  await other.page.getByLabel('Code').fill(code());
  await other.page.keyboard.press('Enter');
  await other.page.getByText('This sign-in has expired.').waitFor();
  await other.page.getByRole('button', { name: 'Back', exact: true }).click();
  await other.page.getByLabel('Email').fill(person.email);
  await other.page.getByRole('textbox', { name: 'Password' }).fill('four plain brown boxes');
  await other.page.keyboard.press('Enter');
  await other.page.getByRole('heading', { name: 'Two-factor authentication' }).waitFor();
  const { rows } = lab.server.running.accounts;
  const isHers = [{ column: 'person', operator: '=', value: person.id }] as const;
  await rows.update('two_factors', isHers, { failures: 10 });
  await other.page.getByLabel('Code').fill('000000');
  await other.page.keyboard.press('Enter');
  await other.page.getByText('Too many attempts. Try again in 15 minutes.').waitFor();
  await rows.update('two_factors', isHers, { failures: 0, locked_until: null });
  await other.page.getByLabel('Code').fill(code(1));
  await other.page.keyboard.press('Enter');
  await other.page.getByRole('navigation', { name: 'Main' }).waitFor();

  await page.reload();
  await page.getByText('This session').waitFor();
  await page.getByRole('button', { name: 'Sign out all others' }).click();
  await expect.poll(() => page.getByRole('button', { name: /^Sign out of the session/ }).count()).toBe(0);
  await other.page.reload();
  await other.page.getByRole('heading', { name: 'Sign in' }).waitFor();
});

test('whose session is ended elsewhere is led to sign in, and then back to the page', async () => {
  const { page, person } = await open({ tenant: 'ended', path: 'settings/members' });
  const other = await lab.window();
  desks.push(other);
  const signIn = async (window: typeof page) => {
    await window.getByLabel('Email').fill(person.email);
    await window.getByRole('textbox', { name: 'Password' }).fill('four plain brown boxes');
    await window.keyboard.press('Enter');
  };
  await other.page.goto(`${lab.server.url}/sign-in?to=/account`);
  await signIn(other.page);
  const signOutOthers = other.page.getByRole('button', { name: 'Sign out all others' });
  await signOutOthers.click();
  await signOutOthers.waitFor({ state: 'detached' });
  await page.getByRole('navigation', { name: 'Main' }).getByText('Levels').click();
  await page.getByRole('heading', { name: 'Sign in' }).waitFor();
  await signIn(page);
  await page.waitForURL('**/t/ended/settings/**');
});

test('letters that act can be switched off, where the menu of the person leads', async () => {
  const { page } = await open({ tenant: 'keyless' });
  await page.getByRole('button', { name: 'Ada Byron' }).click();
  await page.getByRole('menuitem', { name: 'Keyboard shortcuts' }).click();
  const dialog = page.getByRole('dialog', { name: 'Keyboard shortcuts' });
  await dialog.getByRole('switch', { name: 'Single-key shortcuts' }).click();
  await dialog.getByRole('button', { name: 'Close' }).click();
  await dialog.waitFor({ state: 'detached' });
  await page.keyboard.press('?');
  await page.keyboard.press('g');
  await page.keyboard.press('r');
  expect(await dialog.count()).toBe(0);
  expect(new URL(page.url()).pathname).toBe('/t/keyless/overview');
});

test('the menus of the navigation open and close by the keyboard, and the focus comes back', async () => {
  const { page } = await open({ tenant: 'menus' });
  for (const name of ['menus', 'Ada Byron']) {
    const button = page.getByRole('navigation', { name: 'Main' }).getByRole('button', { name });
    await button.focus();
    await page.keyboard.press('Enter');
    const menu = page.getByRole('menu');
    await menu.waitFor();
    expect(await button.getAttribute('aria-expanded')).toBe('true');
    await page.keyboard.press('ArrowDown');
    await expect
      .poll(() => page.evaluate(() => document.activeElement?.getAttribute('role')))
      .toMatch(/^menuitem/);
    // What is chosen (a tenant, an appearance, a language) is said to a screen reader.
    expect(await menu.getByRole('menuitemradio', { checked: true }).count()).toBeGreaterThan(0);
    await page.keyboard.press('Escape');
    await menu.waitFor({ state: 'detached' });
    await expect.poll(() => button.evaluate((of) => of === document.activeElement)).toBe(true);
    await button.click();
    await menu.waitFor();
    // What lies over the button takes the click.
    await page.mouse.click(...centreOf(await button.boundingBox()));
    await menu.waitFor({ state: 'detached' });
    expect(await button.getAttribute('aria-expanded')).toBe('false');
  }
});

const centreOf = (box: { x: number; y: number; width: number; height: number } | null) =>
  [(box?.x ?? 0) + (box?.width ?? 0) / 2, (box?.y ?? 0) + (box?.height ?? 0) / 2] as const;

test('a passkey is added and removed by whoever has just proven who they are', async () => {
  const { page, person, context } = await open({ tenant: 'passkeys', usedOnce: true });
  const devtools = await context.newCDPSession(page);
  await devtools.send('WebAuthn.enable');
  const options = {
    protocol: 'ctap2',
    transport: 'internal',
    hasResidentKey: true,
    hasUserVerification: true,
  } as const;
  await devtools.send('WebAuthn.addVirtualAuthenticator', {
    options: { ...options, isUserVerified: true, automaticPresenceSimulation: true },
  });
  const { rows } = lab.server.running.accounts;
  const isTheirs = [{ column: 'person', operator: '=', value: person.id }] as const;
  // Passkeys are of names, and not of addresses.
  const [session] = await context.cookies();
  const origin = lab.server.url.replace('127.0.0.1', 'localhost');
  await context.addCookies([{ name: session?.name ?? '', value: session?.value ?? '', url: origin }]);
  await page.goto(`${origin}/account`);
  const dialog = page.getByRole('dialog');
  const add = async (name: string) => {
    await dialog.getByLabel('Passkey name').fill(name);
    await dialog.getByRole('button', { name: 'Add passkey' }).click();
    await page.getByText(name, { exact: true }).waitFor();
  };
  const later = () =>
    rows.update('sessions', isTheirs, { created_at: Date.now() - 3_600_000, reauthenticated_at: null });
  const adds = page.locator('main').getByRole('button', { name: 'Add passkey' });
  const hasFocus = (button: Locator) =>
    expect.poll(() => button.evaluate((element) => element === document.activeElement)).toBe(true);

  await later();
  await adds.press('Enter');
  await dialog.getByRole('button', { name: 'Cancel' }).press('Enter');
  await expect.poll(() => dialog.count()).toBe(0);
  await hasFocus(adds);
  await adds.press('Enter');
  await dialog.getByRole('textbox', { name: 'Current password' }).fill('not this one');
  await page.keyboard.press('Enter');
  await dialog.getByText('The password is wrong.').waitFor();
  await dialog.getByRole('textbox', { name: 'Current password' }).fill('four plain brown boxes');
  await page.keyboard.press('Enter');
  await add('Laptop');
  await hasFocus(adds);

  // Another session, for whoever has a passkey and no password.
  await rows.remove('sign_in_methods', isTheirs);
  await later();
  await page.reload();
  await page.getByRole('button', { name: 'Remove Laptop' }).click();
  await dialog.getByRole('button', { name: 'Use a passkey' }).click();
  const question = page.getByRole('dialog', { name: 'Remove passkey Laptop?' });
  const proof = page.getByRole('dialog', { name: 'Confirm your identity' });
  await question.waitFor();
  // The proof runs out while one thinks about it.
  await later();
  await expect
    .poll(async () => (await page.request.get(`${origin}/api/account/proof`)).json())
    .toMatchObject({ proven: false });
  await question.getByRole('button', { name: 'Remove' }).click();
  await proof.getByRole('button', { name: 'Cancel' }).click();
  await question.getByText('Your identity was not confirmed.').waitFor();
  await question.getByRole('button', { name: 'Remove' }).click();
  await proof.getByRole('button', { name: 'Use a passkey' }).click();
  await page.getByText('You have no passkeys yet.').waitFor();
});
