/// <reference lib="dom" />
/**
 * A flood on a wall in a real browser: 500 alarms of 20 kinds in 10 s, on four screens. How smoothly the page draws it beside an
 * empty page with something that moves, how busy its main thread is, and what on the screen is restless.
 * Run: node bench/wall-flood.ts [FOLDER for pictures]
 */
import { loadavg } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { CDPSession, Page } from 'playwright-core';
import { ensureBuilt } from '#scripts/build.mjs';
import { closeBrowsers, ensureBrowser } from '#test/browser/browser.ts';
import {
  flood,
  type Restlessness,
  repaintsOf,
  restlessnessOf,
  subjects,
  watchWall,
} from '#test/browser/flood.ts';
import { PanelLab } from '#test/browser/panel-lab.ts';
import { median, percent, spread, table, whole } from './statistics.ts';

const screens = {
  '1920 × 1080': { width: 1920, height: 1080 },
  '3840 × 2160': { width: 3840, height: 2160 },
  '1080 × 1920': { width: 1080, height: 1920 },
  '390 × 844': { width: 390, height: 844 },
};
const count = 500;
const floodMs = 10_000;
const leastFrames = 50;
const smoothHead = [
  'screen',
  'frames/s',
  'in the slowest second',
  'longest frame',
  'empty page',
  'page of text painted 4×/s',
  'of the empty page',
  'long tasks, blocking',
  'main thread busy',
  'script, style and layout',
  'kinds on the page',
  'goal: ≥ 50 frames/s, every kind',
];
const restlessNames = [
  'overtook',
  'withoutReason',
  'fellApart',
  'grewEarly',
  'floodedAgain',
  'cameBack',
  'moves',
] as const;
const calmHead = [
  'screen',
  'overtook another',
  'moved without a reason',
  'kinds fell apart',
  'cards again too early',
  'floods again',
  'back at a place within 3 s',
  'moves in all',
  'last move after',
];
/** A picture disturbs what is measured: then one is enough. */
const rounds = process.argv[2] === undefined ? 3 : 1;
const pictureFolder = process.argv[2];
const only = process.env.BENCH_SCREEN ?? '';

await ensureBuilt('pages', join(import.meta.dirname, '..'), process.execPath, process.env);
const browserPath = await ensureBrowser();
const wanted = Object.entries(screens).filter(([name]) => name.startsWith(only));
const taken = new Map<string, Round[]>(wanted.map(([name]) => [name, []]));
for (let round = 0; round < rounds; round++)
  for (const [name, viewport] of wanted) taken.get(name)?.push(await floodOn(name, viewport));
await closeBrowsers();
const load = `Load of the machine at the end, with other work: ${loadavg()[0]?.toFixed(1)}.`;
const smooth = [...taken].map(([name, all]) => smoothRow(name, all));
const calm = [...taken].map(([name, all]) => calmRow(name, all));
process.stdout.write(
  `${rounds} rounds, all screens in turn; medians, of what is restless the most. Drawn without a graphics card. ${load}\n\n${table([smoothHead, ...smooth])}\n\n${table([calmHead, ...calm])}\n`,
);

interface Round {
  readonly measured: Measured;
  readonly empty: Measured;
  readonly painted: Measured;
  readonly restless: Restlessness;
  readonly kinds: number;
}

async function floodOn(name: string, viewport: Viewport): Promise<Round> {
  const lab = await PanelLab.start(browserPath);
  try {
    return await floodIn(lab, name, viewport);
  } finally {
    await lab.stop();
  }
}

async function floodIn(lab: PanelLab, name: string, viewport: Viewport): Promise<Round> {
  const empty = await measureBaseline(lab, viewport, false);
  const painted = await measureBaseline(lab, viewport, true);
  const { page, context } = await lab.screen({ name: 'Wall', viewport });
  const devtools = await context.newCDPSession(page);
  await sleep(1_000);
  await watchWall(page);
  const [measured] = await Promise.all([
    measure(page, devtools, floodMs),
    flood(lab.server, { count, ms: floodMs }),
    takePictures(page, name),
  ]);
  await sleep(1_000);
  const restless = restlessnessOf(await repaintsOf(page));
  const kinds = await visibleKinds(page);
  return { measured, empty, painted, restless, kinds };
}

function smoothRow(name: string, all: readonly Round[]): string[] {
  const middle = (of: (round: Round) => number) => median(all.map(of));
  const frames = middle(({ measured }) => measured.frames);
  const kinds = Math.min(...all.map((each) => each.kinds));
  const longTasks = whole(middle(({ measured }) => measured.longTasks));
  return [
    name,
    spread(
      all.map(({ measured }) => measured.frames),
      (value) => value.toFixed(1),
    ),
    whole(middle(({ measured }) => measured.leastFrames)),
    `${whole(middle(({ measured }) => measured.longestMs))} ms`,
    middle(({ empty }) => empty.frames).toFixed(1),
    middle(({ painted }) => painted.frames).toFixed(1),
    percent(middle(({ measured, empty }) => measured.frames / empty.frames)),
    `${longTasks}, ${whole(middle(({ measured }) => measured.blockedMs))} ms`,
    percent(middle(({ measured }) => measured.busyMs / floodMs)),
    percent(middle(({ measured }) => measured.scriptMs / floodMs)),
    `${kinds} of ${subjects.length}`,
    frames >= leastFrames && kinds === subjects.length ? 'reached' : 'missed',
  ];
}

function calmRow(name: string, all: readonly Round[]): string[] {
  const most = (of: keyof Restlessness) => Math.max(...all.map(({ restless }) => restless[of]));
  return [
    name,
    ...restlessNames.map((each) => String(most(each))),
    `${(most('lastMoveMs') / 1_000).toFixed(1)} s`,
  ];
}

interface Measured {
  readonly frames: number;
  /** In the slowest whole second. */
  readonly leastFrames: number;
  readonly longestMs: number;
  readonly longTasks: number;
  /** What long tasks took beyond 50 ms. */
  readonly blockedMs: number;
  readonly busyMs: number;
  readonly scriptMs: number;
}

interface Viewport {
  readonly width: number;
  readonly height: number;
}

async function measure(page: Page, devtools: CDPSession, forMs: number): Promise<Measured> {
  await devtools.send('Performance.enable');
  const before = await metrics(devtools);
  const frames = await page.evaluate(async (ms) => {
    const long: number[] = [];
    const observer = new PerformanceObserver((list) =>
      long.push(...list.getEntries().map((each) => each.duration)),
    );
    observer.observe({ type: 'longtask' });
    const times: number[] = [];
    const since = performance.now();
    while (performance.now() - since < ms) times.push(await new Promise(requestAnimationFrame));
    observer.disconnect();
    return { times, long };
  }, forMs);
  const after = await metrics(devtools);
  const spent = (name: string) => ((after.get(name) ?? 0) - (before.get(name) ?? 0)) * 1_000;
  const { times, long } = frames;
  const first = times[0] ?? 0;
  const perSecond = Array.from(
    { length: Math.floor(forMs / 1_000) },
    (_, second) => times.filter((at) => Math.floor((at - first) / 1_000) === second).length,
  );
  return {
    frames: ((times.length - 1) * 1_000) / ((times.at(-1) ?? 0) - first),
    leastFrames: Math.min(...perSecond),
    longestMs: Math.max(...times.slice(1).map((at, i) => at - (times[i] ?? at))),
    longTasks: long.length,
    blockedMs: long.reduce((sum, each) => sum + each - 50, 0),
    busyMs: spent('TaskDuration'),
    scriptMs: spent('ScriptDuration') + spent('LayoutDuration') + spent('RecalcStyleDuration'),
  };
}

async function metrics(devtools: CDPSession): Promise<ReadonlyMap<string, number>> {
  const { metrics: all } = (await devtools.send('Performance.getMetrics')) as {
    metrics: { name: string; value: number }[];
  };
  return new Map(all.map(({ name, value }) => [name, value]));
}

/**
 * Without the panel, on a page of the same size: with a square that moves with each frame, the most that the browser draws on this
 * machine; and with lines of text that all change their colours as often as a panel is painted.
 */
async function measureBaseline(lab: PanelLab, viewport: Viewport, isPainted: boolean): Promise<Measured> {
  const { page, context, close } = await lab.window({ viewport });
  await page.evaluate((painted) => {
    const { body } = document;
    const square = document.createElement('div');
    square.style.cssText = 'position:absolute;top:0;width:200px;height:200px;background:#c33';
    body.style.cssText = 'margin:0;overflow:hidden;font-size:2.5vh';
    const line = 'The quick brown fox jumps over the lazy dog. '.repeat(3);
    for (let n = 0; painted && n < 30; n++) body.append(line, document.createElement('br'));
    body.append(square);
    const move = (at: number) => {
      square.style.left = `${at % 180}px`;
      const isEven = Math.floor(at / 250) % 2 === 0;
      if (painted) body.style.backgroundColor = isEven ? '#eee' : '#ddd';
      if (painted) body.style.color = isEven ? '#111' : '#222';
      requestAnimationFrame(move);
    };
    requestAnimationFrame(move);
  }, isPainted);
  await sleep(500);
  const measured = await measure(page, await context.newCDPSession(page), 3_000);
  await close();
  return measured;
}

function visibleKinds(page: Page): Promise<number> {
  return page.evaluate((all) => {
    const texts = [...document.querySelectorAll('.cards h2, .common, .row .what')].map(
      (each) => each.textContent ?? '',
    );
    return all.filter((subject) => texts.some((text) => text.startsWith(subject))).length;
  }, subjects);
}

async function takePictures(page: Page, name: string): Promise<void> {
  if (pictureFolder === undefined) return;
  let at = 0;
  for (const second of [3, 6, 10]) {
    await sleep((second - at) * 1_000);
    at = second;
    await page.screenshot({ path: join(pictureFolder, `${name.replace(/ × /, 'x')}-${second}s.png`) });
  }
}
