/** Before the browser tests: the pages are built, and there is a browser. */
import { join } from 'node:path';
import type { TestProject } from 'vitest/node';
import { ensureBuilt } from '#scripts/build.mjs';
import { ensureBrowser } from './browser.ts';

declare module 'vitest' {
  interface ProvidedContext {
    browserPath: string;
  }
}

export async function setup(project: TestProject): Promise<void> {
  await ensureBuilt('pages', join(import.meta.dirname, '../..'), process.execPath, process.env);
  project.provide('browserPath', await ensureBrowser());
}
