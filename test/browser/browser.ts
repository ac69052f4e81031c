/** A real browser for the tests: Debian's Chromium, its headless shell if possible; installed when there is none. */
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { type Browser, chromium } from 'playwright-core';
import { installPackages } from '../support/packages.ts';

const root = join(import.meta.dirname, '../..');
/** The headless shell draws the same pages with a fifth less processor time. */
const candidates = [
  '/usr/bin/chromium-headless-shell',
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
];

const flags = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  // Without a graphics card these save a process and its copies.
  '--in-process-gpu',
  '--num-raster-threads=1',
];

/** Where a browser is, installing one where there is none. Throws when that cannot be done: a missing browser is a failure. */
export async function ensureBrowser(): Promise<string> {
  if (findBrowser() === undefined) installPackages(['chromium-headless-shell']);
  return findBrowser() ?? (await fromPackage());
}

const browsers = new Map<string, Promise<Browser>>();

/** A browser with these flags besides ours: the same one for all files of a worker, as launching it takes a second. It ends with the process. */
export function sharedBrowser(executablePath: string, more: readonly string[] = []): Promise<Browser> {
  const key = [executablePath, ...more].join(' ');
  const browser =
    browsers.get(key) ?? chromium.launch({ executablePath, headless: true, args: [...flags, ...more] });
  browsers.set(key, browser);
  return browser;
}

export async function closeWindows(browser: Browser): Promise<void> {
  await Promise.all(browser.contexts().map((context) => context.close()));
}

/** For a script: a test's process ends its browsers by its own end. */
export async function closeBrowsers(): Promise<void> {
  for (const browser of browsers.values()) await (await browser).close();
  browsers.clear();
}

const findBrowser = () => candidates.find((path) => existsSync(path));

/** For machines without apt: a browser that comes as a package, kept beside the checkout's own Node. */
async function fromPackage(): Promise<string> {
  const folder = join(root, '.node', 'browser');
  const entry = join(folder, 'node_modules/@sparticuz/chromium/build/index.js');
  if (!existsSync(entry)) {
    mkdirSync(folder, { recursive: true });
    const args = ['install', '--prefix', folder, '--no-save', '--ignore-scripts', '--no-audit', '--no-fund'];
    execFileSync('npm', [...args, '@sparticuz/chromium@153.0.0'], { stdio: 'ignore' });
  }
  const { default: packaged } = (await import(pathToFileURL(entry).href)) as {
    default: { executablePath(): Promise<string> };
  };
  return packaged.executablePath();
}
