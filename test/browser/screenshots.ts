/** Pictures of every page in every state, to be looked at. */
import { mkdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { ensureBuilt } from '#scripts/build.mjs';
import { closeBrowsers, ensureBrowser } from './browser.ts';
import { takeDashboardPictures } from './dashboard-pictures.ts';
import { takePanelPictures } from './panel-pictures.ts';

const takers = { panel: takePanelPictures, dashboard: takeDashboardPictures };
const help = `Usage: node test/browser/screenshots.ts [panel|dashboard] [--folder <folder>] [--only <part of a name>]

Takes pictures of the panel page (on a wall, 1080p and 4K, a desk and a phone) and of the dashboard (on a desk and a
phone, in English and German), dark and light; of both where none is named. Into dist/screenshots/<page>, or the folder
given.
`;

/** Throws where the arguments name what there is not. */
function read(args: readonly string[]) {
  const { values, positionals } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: {
      folder: { type: 'string', default: 'dist/screenshots' },
      only: { type: 'string', default: '' },
      help: { type: 'boolean', short: 'h', default: false },
    },
  });
  const unknown = positionals.find((page) => !isPage(page));
  if (unknown !== undefined) throw new Error(`There is no page "${unknown}"; there are panel and dashboard.`);
  const pages = positionals.length > 0 ? positionals.filter(isPage) : (['panel', 'dashboard'] as const);
  return { pages, folder: resolve(values.folder), only: values.only, isHelp: values.help };
}

const isPage = (word: string): word is keyof typeof takers => Object.hasOwn(takers, word);

async function takeAll({ pages, folder, only }: ReturnType<typeof read>): Promise<void> {
  await ensureBuilt('pages', join(import.meta.dirname, '../..'), process.execPath, process.env);
  const browserPath = await ensureBrowser();
  for (const page of pages) {
    const into = join(folder, page);
    mkdirSync(into, { recursive: true });
    await takers[page]({ browserPath, folder: into, only });
  }
  await closeBrowsers();
}

let wanted: ReturnType<typeof read> | undefined;
try {
  wanted = read(process.argv.slice(2));
} catch (error) {
  process.stderr.write(`${(error as Error).message}\n\n${help}`);
  process.exitCode = 2;
}
if (wanted?.isHelp) process.stdout.write(help);
else if (wanted) await takeAll(wanted);
