import { setTimeout as sleep } from 'node:timers/promises';
import { expect, inject, test } from 'vitest';
import { PanelLab } from './panel-lab.ts';

const perSecond = 500;
const seconds = 3;

test('at 500 events a second the screen stays smooth, bounded and up to date', async () => {
  const lab = await PanelLab.start(inject('browserPath'));
  const { page } = await lab.screen({ name: 'flood' });
  const token = await lab.server.token({ scopes: ['notify'] });
  await page.evaluate(countFrames);
  await sleep(1_000);
  const idle = await page.evaluate(() => (window as unknown as { frames: () => Frames }).frames());
  await page.evaluate(countFrames);
  const started = performance.now();
  let sent = 0;
  while (performance.now() - started < seconds * 1_000) {
    const due = Math.floor(((performance.now() - started) / 1_000) * perSecond);
    const burst = [];
    for (; sent < due; sent++) burst.push(notify(lab.server.url, token, sent));
    await Promise.all(burst);
    await sleep(10);
  }
  const frames = await page.evaluate(() => (window as unknown as { frames: () => Frames }).frames());
  // What moves by itself has the screen drawn anew with every frame: here that is nothing.
  const moving = await page.evaluate(() => document.getAnimations().length);
  const elements = await page.evaluate(() => document.querySelectorAll('*').length);
  process.stdout.write(
    `panel at ${Math.round(sent / seconds)} events/s: ${frames.perSecond} frames/s (idle: ${idle.perSecond}), longest ${frames.longestMs} ms, ${elements} elements\n`,
  );
  expect(elements).toBeLessThan(1_000);
  expect(moving).toBeLessThanOrEqual(3);
  await notify(lab.server.url, token, sent, 'critical');
  await page.locator('.card.critical').waitFor();
  await lab.stop();
});

interface Frames {
  readonly perSecond: number;
  readonly longestMs: number;
}

function countFrames(): void {
  const since = performance.now();
  let count = 0;
  let last = since;
  let longest = 0;
  const frame = (at: number) => {
    count += 1;
    longest = Math.max(longest, at - last);
    last = at;
    requestAnimationFrame(frame);
  };
  requestAnimationFrame(frame);
  const frames = (): Frames => ({
    perSecond: Math.round(count / ((performance.now() - since) / 1_000)),
    longestMs: Math.round(longest),
  });
  Object.assign(window, { frames });
}

async function notify(url: string, token: string, n: number, level = 'info'): Promise<void> {
  const response = await fetch(`${url}/api/notify`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: JSON.stringify({
      title: `Event ${n}`,
      message: `of many, on its way`,
      host: `web-${n % 40}`,
      level,
      ttl: 20_000,
    }),
  });
  await response.text();
}
