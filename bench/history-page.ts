/// <reference lib="dom" />
/**
 * The history page in a real browser, with a history from history-data.ts: how smoothly it scrolls while it loads more, and how
 * much memory a long live tail uses. Run: node bench/history-page.ts FILE
 */
import { copyFileSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { CDPSession, Page } from 'playwright-core';
import { ensureBuilt } from '#scripts/build.mjs';
import { ensureBrowser } from '#test/browser/browser.ts';
import { DashboardLab } from '#test/browser/dashboard-lab.ts';

const tenant = 'bench';
const scrollMs = 8_000;
/** Pixels a frame: six rows, faster than anybody reads. */
const step = 216;
const tailed = 20_000;
const rate = 400;

const file = process.argv[2];
if (file === undefined) throw new Error('usage: node bench/history-page.ts FILE (made by history-data.ts)');
await ensureBuilt('pages', join(import.meta.dirname, '..'), process.execPath, process.env);
const folder = mkdtempSync(join(tmpdir(), 'belfry-history-page-'));
copyFileSync(file, join(folder, 'belfry.db'));
const env = {
  BELFRY_RATE_TOKEN: 'off',
  BELFRY_RATE_TENANT: 'off',
  BELFRY_RETENTION_COUNT: 'off',
  BELFRY_RETENTION_DAYS: 'off',
};
const lab = await DashboardLab.start(await ensureBrowser(), env, folder);
try {
  const { page, context } = await lab.desk({ tenant, path: 'history' });
  const devtools = await context.newCDPSession(page);
  await page.getByRole('row').nth(5).waitFor();
  await scroll(page, devtools);
  await page.goto(`${lab.server.url}/t/${tenant}/history?live=true`);
  await page.getByRole('row').nth(5).waitFor();
  await tail(devtools);
} finally {
  await lab.close();
  rmSync(folder, { recursive: true, force: true });
}

async function scroll(page: Page, devtools: CDPSession): Promise<void> {
  const frames = await page.evaluate(
    async ({ ms, px }) => {
      const grid = document.querySelector('[role=grid]') as HTMLElement;
      const times: number[] = [];
      const end = performance.now() + ms;
      for (let now = performance.now(); now < end; ) {
        const next: number = await new Promise(requestAnimationFrame);
        times.push(next - now);
        now = next;
        grid.scrollTop += px;
      }
      const rows = [...grid.querySelectorAll('[role=row][aria-rowindex]')];
      return { times: times.slice(1), deepest: Math.max(...rows.map((row) => Number(row.ariaRowIndex))) };
    },
    { ms: scrollMs, px: step },
  );
  print('idle: frames a second', (await idleFrames(page)).toFixed(1));
  const sorted = frames.times.toSorted((a, b) => a - b);
  const at = (share: number) => (sorted[Math.floor(share * (sorted.length - 1))] ?? 0).toFixed(1);
  print('scrolling: frames a second', (frames.times.length / (scrollMs / 1000)).toFixed(1));
  print('scrolling: frame p50, p99 ms', `${at(0.5)}, ${at(0.99)}`);
  print('scrolling: rows read', String(frames.deepest));
  print('scrolling: heap MiB afterwards', await heap(devtools));
}

/** The highest frame rate of the machine, in the same run. */
function idleFrames(page: Page): Promise<number> {
  return page.evaluate(async () => {
    const since = performance.now();
    for (let n = 0; n < 120; n++) await new Promise(requestAnimationFrame);
    return 120_000 / (performance.now() - since);
  });
}

async function tail(devtools: CDPSession): Promise<void> {
  const token = await lab.server.token({ scopes: ['notify'], tenant });
  const message = 'x'.repeat(2_000);
  for (let sent = 0; sent < tailed; sent += rate) {
    const since = performance.now();
    await Promise.all(
      Array.from({ length: rate }, (_, n) =>
        lab.server.notify(token, { title: `Tailed ${sent + n}`, message, host: `h-${n}` }),
      ),
    );
    await new Promise((resolve) => setTimeout(resolve, Math.max(0, 1_000 - (performance.now() - since))));
    if (sent % (tailed / 4) === 0) print(`live tail: heap MiB after ${sent + rate}`, await heap(devtools));
  }
  print(`live tail: heap MiB after ${tailed}`, await heap(devtools));
}

/** The heap size after garbage collection. */
async function heap(devtools: CDPSession): Promise<string> {
  await devtools.send('HeapProfiler.collectGarbage');
  const { usedSize } = (await devtools.send('Runtime.getHeapUsage')) as { usedSize: number };
  return (usedSize / 1024 / 1024).toFixed(1);
}

function print(name: string, value: string): void {
  process.stdout.write(`${name.padEnd(48)} ${value}\n`);
}
