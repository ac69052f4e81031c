import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { accessibilityFaults, colourFaults } from './accessibility.ts';
import { PanelLab } from './panel-lab.ts';
import { fullBoard, hostileNotifications } from './scenes.ts';

let lab: PanelLab;
beforeAll(async () => {
  lab = await PanelLab.start(inject('browserPath'));
});
afterAll(() => lab.stop());

describe('hostile text', () => {
  test('two hundred payloads are text: none runs, none is changed, none leaves its card', async () => {
    expect(hostileNotifications).toHaveLength(200);
    const screen = await lab.screen({ name: 'hostile', viewport: { width: 390, height: 844 } });
    const { page } = screen;
    const key = await lab.server.key('admin');
    await page.evaluate(() => {
      Object.assign(window, { violations: [] });
      addEventListener('securitypolicyviolation', ({ violatedDirective }) =>
        (window as unknown as { violations: string[] }).violations.push(violatedDirective),
      );
    });
    const token = await lab.server.token({ scopes: ['notify'] });
    for (let from = 0; from < hostileNotifications.length; from += 20) {
      // With more, similar ones would be one item.
      const batch = hostileNotifications.slice(from, from + 20);
      const ids = await Promise.all(
        batch.map(async (sent) => {
          const { json, text } = await lab.server.notify(token, sent);
          expect(json?.ok, text).toBe(true);
          return json.id as string;
        }),
      );
      await page.waitForFunction(
        (all) => all.every((id) => document.querySelector(`[data-id="${id}"]`)),
        ids,
        // Fonts for signs of many scripts are looked up at the first sight of them.
        { timeout: 120_000 },
      );
      const shown = await page.evaluate(read, ids);
      batch.forEach((sent, at) => {
        const { title, message, host, inside } = shown[at] as (typeof shown)[0];
        expect([title, message, host]).toEqual([sent.title, sent.message, sent.host]);
        expect(inside).toBe(true);
      });
      await Promise.all(
        ids.map((id) => lab.server.call('POST', `/api/notifications/${id}/clear`, { token: key })),
      );
    }
    expect(await page.evaluate(() => 'hacked' in window)).toBe(false);
    expect(await page.evaluate(() => (window as unknown as { violations: string[] }).violations)).toEqual([]);
    expect(
      await page.evaluate(
        () => document.querySelectorAll('body script, iframe, form, style, img, base').length,
      ),
    ).toBe(0);
    expect(screen.errors).toEqual([]);
    await screen.close();
  });

  test('the page and its policy leave no way in', async () => {
    const { headers } = await lab.server.call('GET', '/panel');
    const policy = headers.get('content-security-policy') ?? '';
    expect(policy).toContain("require-trusted-types-for 'script'");
    expect(policy).not.toContain('unsafe');
    expect(headers.get('cache-control')).toBe('no-cache');
    const html = await (await fetch(`${lab.server.url}/panel`)).text();
    const asset = /src="([^"]+)"/.exec(html)?.[1] ?? '';
    const script = await fetch(lab.server.url + asset, { headers: { 'accept-encoding': 'gzip' } });
    expect(script.headers.get('cache-control')).toBe('public, max-age=31536000, immutable');
    expect(script.headers.get('content-encoding')).toBe('gzip');
    for (const path of ['/assets/', '/assets/%2e%2e/%2e%2e/package.json', '/assets/.built', '/assets/%00'])
      expect((await lab.server.call('GET', path)).text).toBe(
        '{"error":"there is nothing at this path; /docs/api/ lists all paths"}',
      );
    expect((await lab.server.call('GET', '/panel/')).status).toBe(200);
  });
});

/** What the cards of these ids say, and whether all that is painted of them lies inside them. */
function read(ids: readonly string[]) {
  return ids.map((id) => {
    const card = document.querySelector<HTMLElement>(`[data-id="${id}"]`);
    if (!card) throw new Error(`no card ${id}`);
    const style = getComputedStyle(card);
    const { left, right } = card.getBoundingClientRect();
    return {
      title: card.querySelector('h2')?.textContent,
      message: card.querySelector('p')?.textContent,
      host: card.querySelector('.host')?.textContent,
      inside:
        style.overflow === 'hidden' && left >= 0 && right <= innerWidth && card.offsetHeight < innerHeight,
    };
  });
}

describe('everyone can use it', () => {
  const sendCritical = async () => {
    const token = await lab.server.token({ scopes: ['notify'] });
    await lab.server.notify(token, { title: 'Power lost', message: 'm', level: 'critical', ttl: 60_000 });
  };

  test.each(['dark', 'light'] as const)(
    'axe finds nothing on the panel, its settings and pairing: %s',
    async (scheme) => {
      const token = await lab.server.token({ scopes: ['notify'] });
      for (const { agoMs: _, ...sent } of fullBoard) await lab.server.notify(token, { ...sent, ttl: 60_000 });
      const { page, context, close } = await lab.screen({ name: `axe ${scheme}`, reducedMotion: 'reduce' });
      await page.evaluate((chosen) => localStorage.setItem('belfry.screen', JSON.stringify(chosen)), {
        scheme,
      });
      await page.reload();
      await page.locator('.card.critical').first().waitFor();
      const faultsOf = scheme === 'dark' ? accessibilityFaults : colourFaults;
      expect(await page.evaluate(() => document.documentElement.classList.contains('light'))).toBe(
        scheme === 'light',
      );
      expect(await faultsOf(page)).toEqual([]);
      await page.keyboard.press('s');
      await page.locator('dialog[open]').waitFor();
      expect(await faultsOf(page)).toEqual([]);
      await page.evaluate(() => localStorage.setItem('belfry.panel', 'null'));
      const fresh = await context.newPage();
      await fresh.addInitScript(() => localStorage.removeItem('belfry.panel'));
      await fresh.goto(`${lab.server.url}/panel`);
      await fresh.locator('.pairing .qr svg').waitFor();
      expect(await faultsOf(fresh)).toEqual([]);
      await close();
    },
  );

  test('where motion is unwelcome nothing moves', async () => {
    await sendCritical();
    const { page, close } = await lab.screen({ name: 'still', reducedMotion: 'reduce' });
    await page.locator('.card .ttl').first().waitFor();
    expect(await page.evaluate(() => document.getAnimations().length)).toBe(0);
    await close();
  });

  test('it speaks the language of the reader', async () => {
    await sendCritical();
    const { page, close } = await lab.screen({ name: 'deutsch', locale: 'de-DE' });
    await page.locator('.word', { hasText: 'Kritisch' }).first().waitFor();
    expect(await page.evaluate(() => document.documentElement.lang)).toBe('de');
    await close();
  });
});

test('a closed connection is said in words within seconds, long before the screen is stale', async () => {
  const { page } = await lab.screen({ name: 'closed', usedOnce: true });
  await page.clock.install();
  await page.reload();
  await page.locator('header[data-health="online"]').waitFor();
  await lab.server.stop();
  await page.locator('footer .line', { hasText: 'No connection' }).waitFor();
  await page.clock.fastForward(3_000);
  await page.locator('.banner strong', { hasText: /^No contact since \d/ }).waitFor();
  expect(await page.locator('.screen.stale').count()).toBe(0);
});
