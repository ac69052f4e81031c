import { afterAll, afterEach, beforeAll, expect, inject, test } from 'vitest';
import { coreSwitch } from '../support/core-switch.ts';
import { makePerson, TestBrowser, type TestPerson } from '../support/person.ts';
import { faultsInBothSchemes } from './accessibility.ts';
import { PanelLab, type Screen } from './panel-lab.ts';

let lab: PanelLab;
let screen: Screen;
let network: Awaited<ReturnType<typeof coreSwitch>>;
beforeAll(async () => {
  lab = await PanelLab.start(inject('browserPath'));
  network = await coreSwitch(lab.server);
});
afterAll(() => lab.stop());
afterEach(async () => {
  await screen.close();
  await lab.clearAll();
});

const hostsDown = async (count: number) => {
  for (let n = 0; n < count; n++) await network.hostDown(`ap-${n}`);
};

test('a card says how many alarms follow, a touch names them, and they are on the wall when it is cleared', async () => {
  screen = await lab.screen({ name: 'followers' });
  const { page } = screen;
  const core = await network.switchDown();
  await hostsDown(41);
  const followed = page.getByRole('button', { name: '41 followed' });
  await followed.waitFor();
  expect(await page.locator('.cards .card, .row[data-id]').count()).toBe(1);
  await followed.click();
  const details = page.locator('dialog.details');
  await expect.poll(() => details.locator('.followers li b').allTextContents()).toHaveLength(41);
  expect(await details.locator('.followers li').first().textContent()).toBe('ap-40 Host unreachable');
  expect(await faultsInBothSchemes(page)).toEqual([]);
  await page.keyboard.press('Escape');
  await details.waitFor({ state: 'hidden' });
  await followed.press('Enter');
  await details.getByRole('heading', { name: '41 followed' }).waitFor();
  // What is open says what still follows, and closes when its card ends.
  await hostsDown(60);
  await details.getByText('+51 more').waitFor();
  await network.clear(core);
  await details.waitFor({ state: 'hidden' });
  await page.locator('.card.group em', { hasText: '60 hosts' }).waitFor();
  expect(await page.getByText('followed').count()).toBe(0);
});

test('a group and a row of causes say the sum, and their details name what follows each', async () => {
  screen = await lab.screen({ name: 'rows', viewport: { width: 1920, height: 1080 } });
  const { page } = screen;
  await Promise.all(Array.from({ length: 40 }, () => network.switchDown()));
  await hostsDown(2);
  const group = page.locator('.card.group');
  // They follow each of them, and are counted once.
  await expect.poll(() => group.locator('em').textContent()).toBe('40 alarms · 2 followed');
  await group.click();
  await page.locator('dialog.details .followers li').first().waitFor();
});

test('a row says who has acknowledged its alarms, and the heading of its details how many are left', async () => {
  screen = await lab.screen({ name: 'people', viewport: { width: 1920, height: 1080 } });
  const { page } = screen;
  const letters = [...'abcdefghijklmnopqrstuvwxyz'];
  await Promise.all(
    letters.map((letter) =>
      lab.server.notify(network.token, {
        title: `Door ${letter.repeat(3)} is open`,
        message: 'm',
        level: 'error',
      }),
    ),
  );
  const hosts = [];
  for (const host of ['ap-1', 'ap-2', 'ap-3']) hosts.push(await network.hostDown(host));
  // Not before all three have come: until then, each has a row of its own.
  const group = page.locator('.cards button', { hasText: 'Host unreachable' }).filter({ hasText: '3 hosts' });
  await group.click();
  const heading = page.locator('#details-title');
  const heads = (text: string) => expect.poll(() => heading.textContent()).toBe(text);
  await heads('Host unreachable · 3 alarms');
  const people = await Promise.all(
    ['Ada', 'Grace'].map((name) => makePerson(lab.server, 'member', { name })),
  );
  const acknowledge = async (person: number, id: string | undefined) =>
    (await TestBrowser.of(lab.server, people[person] as TestPerson)).post(
      `/api/alarms/${id}/acknowledge`,
      {},
    );
  await acknowledge(0, hosts[0]);
  await heads('Host unreachable · 3 alarms · 1 acknowledged');
  await acknowledge(1, hosts[1]);
  await network.clear(hosts[2] ?? '');
  await heads('Host unreachable · 2 alarms · 2 acknowledged');
  await page.keyboard.press('Escape');
  const end = page.locator('.row.done', { hasText: '2 hosts' }).locator('.end');
  await expect.poll(() => end.textContent()).toMatch(/^(Ada, Grace|Grace, Ada)$/);
});

test('details that nobody touches close by themselves after two minutes', async () => {
  screen = await lab.screen({ name: 'left open', usedOnce: true });
  const { page } = screen;
  await page.clock.install();
  await page.reload();
  await network.switchDown();
  await hostsDown(1);
  await page.getByRole('button', { name: '1 followed' }).click();
  const list = page.locator('dialog.details .followers li');
  await list.waitFor();
  await page.clock.fastForward(90_000);
  await page.keyboard.press('ArrowDown');
  await page.clock.fastForward(90_000);
  expect(await list.count()).toBe(1);
  await page.clock.fastForward(90_000);
  await page.locator('dialog.details').waitFor({ state: 'hidden' });
});
