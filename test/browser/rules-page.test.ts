import type { Locator, Page } from 'playwright-core';
import { uuidv7 } from 'uuidv7';
import { afterAll, afterEach, beforeAll, beforeEach, expect, inject, test } from 'vitest';
import type { Role } from '#contract/people/token.ts';
import { ruleSpecWith } from '../support/rule-spec.ts';
import { faultsIn, faultsInBothSchemes } from './accessibility.ts';
import { DashboardLab, type Desk } from './dashboard-lab.ts';
import { manyKinds, seedRules } from './rules-scenes.ts';

let lab: DashboardLab;
let desk: Desk;
let key: string;
beforeAll(async () => {
  lab = await DashboardLab.start(inject('browserPath'));
  key = await lab.server.key('admin');
  await seedRules(lab.server, []);
});
afterAll(() => lab.close());
beforeEach(clear);
afterEach(async () => {
  expect(desk.errors).toEqual([]);
  await desk.close();
});

const call = (method: string, path: string, json?: unknown) =>
  lab.server.call(method, path, { token: key, ...(json !== undefined && { json }) });
const rulesNow = async (): Promise<{ id: string; name: string; [key: string]: unknown }[]> =>
  (await call('GET', '/api/rules')).json.rules;
const namesNow = async () => (await rulesNow()).map(({ name }) => name);

async function clear() {
  for (const { id } of await rulesNow()) await call('DELETE', `/api/rules/${id}`);
}
async function make(...rules: readonly object[]) {
  for (const rule of rules) {
    const { status, text } = await call('POST', '/api/rules', rule);
    expect(status, text).toBe(201);
  }
}
const simple = (name: string) => ({ name, when: { host: [name] }, then: { panels: 'none' as const } });

async function open(path = 'rules', role: Role = 'admin', options: object = {}): Promise<Page> {
  desk = await lab.desk({ role, path, locale: 'en-GB', ...options });
  return desk.page;
}
const row = (page: Page, name: string) => page.locator('main ol > li', { hasText: name });
/** Chooses an option with the keyboard. A list that has just opened may forget what was selected in the same moment. */
async function choose(page: Page, name: string) {
  const option = page.getByRole('option', { name, exact: true });
  const isSelected = async () => (await option.getAttribute('data-combobox-selected')) === 'true';
  await expect
    .poll(async () => {
      if (!(await isSelected())) await page.keyboard.press('ArrowDown');
      // The timers of the list that were waiting have run then.
      await page.evaluate(() => new Promise((done) => setTimeout(done, 50)));
      return isSelected();
    })
    .toBe(true);
  await page.keyboard.press('Enter');
}
const shownNames = (page: Page) => page.locator('[data-rule-link]').allTextContents();

test('a level that is gone is a warning, in the list and the editor, until it is taken out', async () => {
  await call('PUT', '/api/levels/eror', { rank: 41 });
  await make({ name: 'typo', when: { level: ['eror'] }, then: { mute: true } });
  // The API deletes no level that a rule names.
  const { directory } = lab.server.running;
  await directory.levels.remove(await lab.server.tenant(), 'eror', 'test', Date.now());
  await expect.poll(rulesNow).toMatchObject([{ warnings: [expect.any(String)] }]);
  const page = await open();
  const warning = /^No level is named “eror”, so it matches nothing\. Levels: success, info, warning, error/;
  await row(page, 'typo').getByText(warning).waitFor();
  await row(page, 'typo').getByRole('link', { name: 'typo' }).click();
  const sheet = page.getByRole('dialog');
  await sheet.getByText(warning).waitFor();
  expect(await faultsIn('light', page)).toEqual([]);
  await sheet.getByLabel('Values for level').first().press('Backspace');
  await sheet.getByText(warning).waitFor({ state: 'detached' });
});

test('a token that does not exist is a warning while it is typed, and saving is refused at it', async () => {
  const page = await open('rules?id=new');
  const sheet = page.getByRole('dialog');
  await sheet.getByRole('button', { name: 'Add condition' }).click();
  await page.getByRole('menuitem', { name: 'Token', exact: true }).click();
  await sheet.getByRole('combobox', { name: 'Values for token' }).pressSequentially('nobody,');
  await sheet.getByText(/^No token is named “nobody”/).waitFor();
  await sheet.getByRole('button', { name: 'Add action' }).click();
  await page.getByRole('menuitem', { name: /Mute/ }).click();
  await sheet.getByRole('button', { name: 'Save' }).click();
  await sheet.getByRole('alert').getByText('This token does not exist. Create the token first').waitFor();
  await sheet.locator('[data-wrong="true"]').filter({ hasText: 'nobody' }).first().waitFor();
  expect(await rulesNow()).toEqual([]);
});

test('a rule is written as a sentence, tried while it is written, and saved', async () => {
  const page = await open();
  await page.getByText('No routing rules yet').waitFor();
  await page.getByRole('link', { name: /Send to certain panels/ }).click();
  const sheet = page.getByRole('dialog');
  await sheet
    .getByText('When host matches db-* and level is at least warning → 2 panels tagged noc')
    .waitFor();
  const operator = sheet.getByRole('combobox', { name: 'Operator for host' });
  await operator.focus();
  for (const chosen of ['is not', 'is']) {
    await operator.selectOption(chosen);
    expect(await operator.evaluate((field) => document.activeElement === field)).toBe(true);
  }
  await sheet.getByRole('button', { name: 'Add action' }).click();
  await page.getByRole('menuitem', { name: 'Set display time' }).click();
  await sheet.getByText(/noc, show for 30\ss, then stop/).waitFor();
  await sheet.getByRole('button', { name: 'Add action' }).click();
  await page.getByRole('menuitem', { name: 'Show instructions' }).click();
  await sheet.getByRole('textbox', { name: 'Instructions' }).fill('Call the plant.\nThen wait.');
  await sheet.getByText(/show for 30\ss, show instructions, then stop/).waitFor();
  await sheet.getByRole('textbox', { name: 'Title', exact: true }).fill('Disk almost full');
  await sheet.getByRole('textbox', { name: 'Host', exact: true }).fill('db-01');
  await sheet.getByText('Not matched: level is at least warning (value: info)').waitFor();
  await sheet.getByRole('combobox', { name: 'Level', exact: true }).selectOption('error');
  await sheet.getByText('Shown on 2 panels').waitFor();
  await sheet.getByRole('button', { name: 'Save' }).click();
  await row(page, 'show for 30').waitFor();
  expect(await rulesNow()).toMatchObject([
    {
      when: { host: ['db-*'], minLevel: 'warning' },
      then: {
        panels: { tags: ['noc'] },
        setTtl: 30_000,
        instructions: 'Call the plant.\nThen wait.',
      },
    },
  ]);
});

test('a label is a condition with a name and values, and those that must not be together stay as they are', async () => {
  const sender = await lab.server.token({ scopes: ['notify'] });
  await lab.server.notify(sender, { title: 'a', message: 'm', labels: { env: 'prod', cluster: 'c1' } });
  const not = { labels: { site: ['plant 2'], team: ['*'] } };
  await make({ name: 'labelled', when: { not }, then: { throttle: { by: ['title'], perMs: 60_000 } } });
  const page = await open();
  await row(page, 'labelled').click();
  const sheet = page.getByRole('dialog');
  await sheet.getByText('When not all of (label site is plant 2, label team is present) →').waitFor();
  await sheet.getByText('Change this in the JSON tab.').waitFor();
  await sheet.getByRole('button', { name: 'Add condition' }).press('Enter');
  await page.getByRole('menuitem', { name: 'Labels', exact: true }).press('Enter');
  const name = sheet.getByRole('combobox', { name: 'Name of the label' });
  await expect.poll(() => name.evaluate((field) => document.activeElement === field)).toBe(true);
  await page.keyboard.type('1');
  await sheet.getByRole('alert').getByText('starts with a letter').waitFor();
  await page.keyboard.press('Backspace');
  await page.keyboard.type('en');
  await choose(page, 'env');
  await expect.poll(() => name.inputValue()).toBe('env');
  const values = sheet.getByRole('combobox', { name: 'Values for label env' });
  await values.press('p');
  await choose(page, 'prod');
  await page.keyboard.type('stag*,');
  await sheet.getByText('When label env matches prod or stag* and not all of (').waitFor();
  const by = sheet.getByRole('combobox', { name: 'for the same' });
  await by.pressSequentially('clu');
  await choose(page, 'label:cluster');
  await sheet.getByText('for the same title and label cluster').waitFor();
  await sheet.getByRole('button', { name: 'Add action' }).press('Enter');
  await page.getByRole('menuitem', { name: 'Group on one card' }).press('Enter');
  const group = sheet.getByRole('combobox', { name: 'Group on one card' });
  await group.pressSequentially('clu');
  await choose(page, 'label:cluster');
  await sheet.getByText('group by title and label cluster').waitFor();
  await sheet.getByRole('button', { name: 'Add action' }).press('Enter');
  await page.getByRole('menuitem', { name: 'End acknowledgements' }).press('Enter');
  await sheet.getByRole('textbox', { name: 'End acknowledgements' }).fill('8');
  await sheet.getByText('end acknowledgements after 8 h').waitFor();
  const typed = sheet.getByRole('combobox', { name: 'Labels', exact: true });
  await typed.pressSequentially('env,');
  await sheet.getByText('Enter each label once, as name=value.').waitFor();
  await page.keyboard.press('Backspace');
  await typed.pressSequentially('env=test,');
  await sheet.getByText('Not matched: label env matches prod or stag* (value: test)').waitFor();
  expect(await faultsInBothSchemes(page)).toEqual([]);
  await sheet.getByRole('button', { name: 'Save' }).click();
  await sheet.waitFor({ state: 'detached' });
  expect(await rulesNow()).toMatchObject([
    {
      when: { labels: { env: ['prod', 'stag*'] }, not },
      then: {
        throttle: { by: ['title', 'label:cluster'] },
        group: ['title', 'label:cluster'],
        acknowledgeForMs: 8 * 3_600_000,
      },
    },
  ]);
});

test('an error of the server is shown at its value, and nothing is saved', async () => {
  const page = await open('rules?id=new');
  const sheet = page.getByRole('dialog');
  await sheet.getByRole('button', { name: 'Save' }).click();
  await sheet.getByText('Add at least one action.').waitFor();
  await sheet.getByRole('button', { name: 'Add condition' }).click();
  await page.getByRole('menuitem', { name: 'IP', exact: true }).click();
  await sheet.getByRole('combobox', { name: 'Values for IP' }).pressSequentially('10.0.0.0/8,10.0.0.0/33,');
  await sheet.getByRole('button', { name: 'Add action' }).click();
  await page.getByRole('menuitem', { name: /Mute/ }).click();
  await sheet.getByRole('alert').getByText('Enter IP addresses, CIDR blocks or ranges').waitFor();
  await sheet.locator('[data-wrong="true"]').filter({ hasText: '10.0.0.0/33' }).first().waitFor();
  expect(await sheet.locator('[data-wrong="true"]', { hasText: /^10\.0\.0\.0\/8$/ }).count()).toBe(0);
  await sheet.getByRole('button', { name: 'Save' }).click();
  await sheet.getByRole('alert').getByText('Enter IP addresses, CIDR blocks or ranges').waitFor();
  expect(await rulesNow()).toEqual([]);
});

test('changes are not lost by a click beside, by Escape or by the way back', async () => {
  await make(simple('kept'));
  const page = await open();
  await row(page, 'kept').click();
  const sheet = page.getByRole('dialog', { name: 'Rule 1' });
  await sheet.getByLabel('Note').fill('do not lose me');
  const question = page.getByRole('dialog', { name: 'Discard your changes?' });
  for (const leave of [
    () => page.mouse.click(100, 400),
    () => page.keyboard.press('Escape'),
    () => page.goBack(),
  ]) {
    await leave();
    await question.getByRole('button', { name: 'Cancel' }).click();
    await question.waitFor({ state: 'detached' });
    expect(await sheet.getByLabel('Note').inputValue()).toBe('do not lose me');
  }
  await page.keyboard.press('Escape');
  await question.getByRole('button', { name: 'Discard' }).click();
  await sheet.waitFor({ state: 'detached' });
  expect(await rulesNow()).toMatchObject([{ note: '' }]);
});

test('rules are put in order by keys and by dragging, announced to screen readers, and kept', async () => {
  await make(...['one', 'two', 'three'].map(simple));
  const page = await open();
  await page.getByRole('link', { name: 'three' }).focus();
  await page.keyboard.press('Alt+ArrowUp');
  await page.keyboard.press('Alt+ArrowUp');
  await page.getByRole('status').getByText('“three” moved to position 1 of 3.').waitFor();
  expect(await page.evaluate(() => document.activeElement?.textContent)).toBe('three');
  await expect.poll(namesNow).toEqual(['three', 'one', 'two']);

  await page.getByRole('button', { name: 'Move “three”' }).focus();
  await page.keyboard.press('Space');
  await page.getByText('Picked up “three”, position 1 of 3.').waitFor();
  // The library listens to the keys one timer after the pick-up.
  await page.evaluate(() => new Promise((resolve) => setTimeout(resolve)));
  await page.keyboard.press('ArrowDown');
  await page.getByText('“three” is over position 2 of 3.').waitFor();
  await page.keyboard.press('Space');
  await expect.poll(namesNow).toEqual(['one', 'three', 'two']);

  await page.getByRole('button', { name: 'Move “two”' }).hover();
  await page.mouse.down();
  const first = await row(page, 'one').boundingBox();
  await page.mouse.move((first?.x ?? 0) + 20, (first?.y ?? 0) + 20, { steps: 8 });
  await page.getByText('“two” is over position 1 of 3.').waitFor();
  await page.mouse.up();
  await expect.poll(namesNow).toEqual(['two', 'one', 'three']);
});

test('an order that is not saved is taken back, and said', async () => {
  await make(...['one', 'two'].map(simple));
  const page = await open();
  const { promise: isShown, resolve: refuse } = Promise.withResolvers<void>();
  await page.route('**/api/rules/order', async (route) => {
    await isShown;
    await route.fulfill({ status: 503, json: { error: 'the disk is full' } });
  });
  await page.getByRole('link', { name: 'two' }).focus();
  await page.keyboard.press('Alt+ArrowUp');
  await expect.poll(() => shownNames(page)).toEqual(['two', 'one']);
  refuse();
  await page.getByRole('alert').getByText('the disk is full').waitFor();
  await expect.poll(() => shownNames(page)).toEqual(['one', 'two']);
});

test('a rule that changes much is replayed before it is saved, and asked about', async () => {
  const token = await lab.server.token({ scopes: ['notify'] });
  for (let n = 0; n < 30; n++)
    await lab.server.notify(token, { title: `noise ${n}`, message: 'm', host: 'noisy' });
  const page = await open('rules?mute=noisy');
  const sheet = page.getByRole('dialog', { name: 'Create rule' });
  await sheet.getByRole('tab', { name: 'Replay' }).click();
  await sheet.getByRole('button', { name: 'Replay', exact: true }).click();
  await sheet.getByText('30 changes').waitFor();
  await sheet.getByText('30 muted').click();
  await sheet.getByRole('link', { name: 'noise 29' }).waitFor();
  await sheet.getByRole('button', { name: 'Save' }).click();
  const question = page.getByRole('dialog', { name: /would have changed 30 notifications in 7 days/ });
  await question.getByText('30 muted').waitFor();
  expect(await rulesNow()).toEqual([]);
  await question.getByRole('button', { name: 'Save anyway' }).click();
  await page.getByText('1 mute is active').waitFor();
  const [mute] = await rulesNow();
  expect(mute).toMatchObject({ when: { host: ['noisy'] }, then: { mute: true } });
  expect(String(mute?.activeUntil)).toMatch(/T08:00:00/);
  await page.getByRole('button', { name: /^End now/ }).click();
  await page.getByRole('button', { name: 'Delete 1 ended mute' }).click();
  await page.getByRole('button', { name: 'Delete rule' }).click();
  await page.getByText('No routing rules yet').waitFor();
});

test('what is saved anyway is what was checked; what was written meanwhile stays in the editor', async () => {
  const token = await lab.server.token({ scopes: ['notify'] });
  for (let n = 0; n < 12; n++)
    await lab.server.notify(token, { title: `buzz ${n}`, message: 'm', host: 'buzzing' });
  const page = await open('rules?mute=buzzing');
  const answer = Promise.withResolvers<void>();
  await page.route('**/api/rules/replay', async (route) => {
    await answer.promise;
    await route.continue();
  });
  const sheet = page.getByRole('dialog', { name: 'Create rule' });
  await sheet.getByRole('button', { name: 'Save' }).click();
  await sheet.getByText('Checking the effect').waitFor();
  await sheet.getByLabel('Note').fill('written meanwhile');
  answer.resolve();
  await page.getByRole('button', { name: 'Save anyway' }).click();
  await page.getByRole('dialog', { name: 'Rule 1' }).waitFor();
  expect(await rulesNow()).toMatchObject([{ when: { host: ['buzzing'] }, note: '' }]);
  expect(await page.getByLabel('Note').inputValue()).toBe('written meanwhile');
});

test('a check that fails or takes too long is not passed over: it is said, and asked about', async () => {
  const page = await open('rules?mute=unsure', 'admin', { usedOnce: true });
  const sheet = page.getByRole('dialog', { name: 'Create rule' });
  const question = page.getByRole('dialog', { name: 'Save without knowing the effect?' });
  await page.route('**/api/rules/replay', (route) =>
    route.fulfill({ status: 503, json: { error: 'too many replays' } }),
  );
  await sheet.getByRole('button', { name: 'Save' }).click();
  await question.getByText('Checking the last 7 days failed: too many replays').waitFor();
  await question.getByRole('button', { name: 'Cancel' }).click();
  expect(await rulesNow()).toEqual([]);
  await page.unroute('**/api/rules/replay');
  await page.route('**/api/rules/replay', () => new Promise(() => undefined));
  await page.clock.install();
  await sheet.getByRole('button', { name: 'Save' }).click();
  await sheet.getByText('Checking the effect').waitFor();
  await page.clock.fastForward(7_000);
  await question.getByText('took too long').waitFor();
  expect(await rulesNow()).toEqual([]);
  await question.getByRole('button', { name: 'Save anyway' }).click();
  await page.getByText('1 mute is active').waitFor();
  expect((await rulesNow()).length).toBe(1);
});

test('a rule at a position is made by one request: one that fails leaves nothing', async () => {
  await make(...['one', 'two'].map(simple));
  const page = await open();
  await page.route('**/api/rules/order', (route) => route.abort());
  await page.goto(`${lab.server.url}/t/default/rules?copy=${(await rulesNow())[0]?.id}&id=new`);
  await page.getByRole('dialog').getByRole('button', { name: 'Save' }).click();
  await expect.poll(namesNow).toEqual(['one', expect.stringContaining('one'), 'two']);
});

test('a new mute stands before the rules that would end the walk', async () => {
  await make({ name: 'all', then: { panels: 'all' } });
  const page = await open('rules?mute=quiet-1');
  await page.getByRole('button', { name: 'Save' }).click();
  await expect.poll(namesNow).toEqual([expect.stringContaining('quiet-1'), 'all']);
});

test('a rule is copied and brought back as JSON, also where the browser has no clipboard to give', async () => {
  const page = await open('rules?id=new');
  const sheet = page.getByRole('dialog');
  await sheet.getByRole('tab', { name: 'JSON' }).click();
  const field = sheet.getByRole('textbox', { name: 'Rule as JSON' });
  await field.fill('{"name":"as code","when":{"hots":["a"]},"then":{"mute":true}}');
  await field.blur();
  await sheet.getByText('Unknown field: “when.hots”').waitFor();
  await field.fill('{"name":"as code","when":{"host":["a"]},"then":{"mute":true},"hits":3}');
  await field.blur();
  await sheet.getByText('When host is a → mute').waitFor();
  // As on a page of plain HTTP.
  await page.evaluate(() => Object.defineProperty(navigator, 'clipboard', { value: undefined }));
  await sheet.getByRole('button', { name: 'Copy: Rule as JSON' }).click();
  await sheet.getByText('Copied').waitFor();
  await field.press('Control+A');
  await field.press('Delete');
  await field.press('Control+V');
  await expect.poll(() => field.inputValue()).toContain('"name": "as code"');
  await sheet.getByRole('button', { name: 'Save' }).click();
  await expect.poll(namesNow).toEqual(['as code']);
});

test('a viewer reads and asks, and changes nothing', async () => {
  await make(simple('web-1'), simple('web-2'));
  const page = await open('rules', 'viewer');
  await row(page, 'web-2').waitFor();
  expect(await page.getByRole('button', { name: /Create rule|Move|More/ }).count()).toBe(0);
  expect(await page.getByRole('switch').count()).toBe(0);
  await page.getByRole('link', { name: 'web-2' }).click();
  const sheet = page.getByRole('dialog', { name: 'web-2' });
  await sheet.getByText('You can view this but not change it. Your role is viewer.').waitFor();
  await sheet.getByRole('textbox', { name: 'Host', exact: true }).fill('web-2');
  await sheet.getByText('Not shown on any panel').waitFor();
  await sheet.getByText('Not matched: host is web-1 (value: web-2)').waitFor();
  expect(await sheet.getByRole('button', { name: 'Save' }).count()).toBe(0);
});

test('a recorded notification is explained from its link', async () => {
  await make(simple('recorded-1'));
  const token = await lab.server.token({ scopes: ['notify'] });
  const { json } = await lab.server.notify(token, { title: 'From afar', message: 'm', host: 'recorded-1' });
  const page = await open(`rules?explain=${json.id}`, 'member');
  const sheet = page.getByRole('dialog', { name: 'Explain routing' });
  await sheet.getByRole('button', { name: 'From afar', pressed: true }).waitFor();
  await sheet.getByText('Not shown on any panel').waitFor();
});

test('a thousand rules scroll, are moved and are found', async () => {
  const token = await lab.server.key('admin', 'many');
  const tenant = await lab.server.tenant('many');
  for (let n = 0; n < 1_000; n += 1) {
    const spec = ruleSpecWith({ id: uuidv7(), ...simple(`host-${n}`) });
    await lab.server.running.directory.rules.create(tenant, spec, 'test', Date.now());
  }
  const page = await open('rules', 'admin', { tenant: 'many' });
  await row(page, 'When host').first().waitFor();
  expect(await page.locator('main ol > li').count()).toBeLessThan(60);
  await page.locator('#page').evaluate((main) => main.scrollTo(0, main.scrollHeight));
  const last = page.locator('[aria-posinset="1000"] [data-rule-link]');
  const name = (await last.textContent()) ?? '';
  await last.focus();
  await page.keyboard.press('Alt+ArrowUp');
  await page.locator('[aria-posinset="999"]', { hasText: name }).waitFor();
  const { json } = await lab.server.call('GET', '/api/rules', { token });
  expect(json.rules).toHaveLength(1_000);
  await page.getByRole('searchbox', { name: 'Filter rules' }).fill('host-777');
  await expect.poll(() => page.locator('main ol > li').count()).toBe(1);
  expect(await page.getByRole('button', { name: /^Move/ }).count()).toBe(0);
});

test('the fields of a time window show the focus by keyboard, and a time that cannot be read', async () => {
  const page = await open('rules?mute=noisy');
  const sheet = page.getByRole('dialog', { name: 'Create rule' });
  await sheet.getByRole('button', { name: 'Add time window' }).click();
  const time = sheet.getByLabel('until', { exact: true });
  const look = (field: Locator) =>
    field.evaluate((element) => {
      const { outlineStyle, borderColor } = getComputedStyle(element);
      return [outlineStyle, borderColor];
    });
  const [, hidden] = await look(time);
  await time.fill('25:00');
  await expect.poll(async () => (await look(time))[1]).not.toBe(hidden);
  expect((await look(time))[0]).toBe('solid');
  await page.keyboard.press('Tab');
  expect(await time.inputValue()).toBe('18:00');
  const zone = sheet.getByRole('combobox', { name: 'Time zone' });
  await zone.focus();
  expect((await look(zone))[0]).toBe('solid');
});

test('list and editor are accessible', async () => {
  await make(...manyKinds());
  const page = await open();
  await row(page, 'Noise').waitFor();
  expect(await faultsIn('light', page)).toEqual([]);
  await row(page, 'Quiet nights').click();
  const sheet = page.getByRole('dialog', { name: 'Rule 5' });
  await sheet.getByRole('textbox', { name: 'Title', exact: true }).fill('x');
  await sheet.getByText(/Muted: recorded|Shown on/).waitFor();
  expect(await faultsIn('dark', page)).toEqual([]);
});
