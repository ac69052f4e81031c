/** Builds the pages of src/web into dist/web; each folder with an index.html is one page of its own. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';
import { defineConfig, type Plugin } from 'vite';
import { levelIcons } from './src/contract/level.ts';

const root = import.meta.dirname;

/** Icons of the pages' own controls; a level's are in the contract. */
const controlIcons = [
  'arrow-up-right',
  'bell-off',
  'check',
  'maximize',
  'minimize',
  'plug-connected-x',
  'settings',
  'stack-2',
  'volume',
  'volume-off',
  'x',
] as const;

const iconsId = 'virtual:icons';

/** `virtual:icons`: the outlines of Tabler's icons as path data, so that no page ever parses markup. */
function icons(): Plugin {
  return {
    name: 'belfry-icons',
    resolveId: (id) => (id === iconsId ? `\0${iconsId}` : undefined),
    load(id) {
      if (id !== `\0${iconsId}`) return undefined;
      const paths = [...levelIcons, ...controlIcons].map((name) => [name, pathsOf(name)]);
      return `export const iconPaths = ${JSON.stringify(Object.fromEntries(paths))};`;
    },
  };
}

function pathsOf(name: string): string[] {
  const svg = readFileSync(join(root, `node_modules/@tabler/icons/icons/outline/${name}.svg`), 'utf8');
  if (/<(?!\/?(?:svg|path)\b|!--)/.test(svg))
    throw new Error(`the icon ${name} is drawn with more than paths`);
  return [...svg.matchAll(/<path(?! stroke="none")[^>]* d="([^"]+)"/g)].map(([, d]) => d as string);
}

/** Writes each text file compressed beside itself, to be sent as it is. */
function compressed(): Plugin {
  return {
    name: 'belfry-compressed',
    apply: 'build',
    writeBundle({ dir = '' }, bundle) {
      for (const name of Object.keys(bundle).filter((each) => /\.(?:js|css|svg)$/.test(each))) {
        const bytes = readFileSync(join(dir, name));
        const params = { [constants.BROTLI_PARAM_QUALITY]: 11 };
        writeFileSync(join(dir, `${name}.br`), brotliCompressSync(bytes, { params }));
        writeFileSync(join(dir, `${name}.gz`), gzipSync(bytes, { level: 9 }));
      }
    },
  };
}

export default defineConfig({
  root: join(root, 'src/web'),
  publicDir: false,
  plugins: [icons(), compressed()],
  build: {
    outDir: join(root, 'dist/web'),
    emptyOutDir: true,
    target: ['chrome111', 'firefox121', 'safari16.4'],
    // Everything is a file of its own: the pages' policy allows no data: and nothing inline.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
    rolldownOptions: { input: { panel: join(root, 'src/web/panel/index.html') } },
  },
  server: { proxy: { '/api': 'http://127.0.0.1:8080' } },
});
