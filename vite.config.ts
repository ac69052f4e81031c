/** Builds the pages of src/web into dist/web; each folder with an index.html is one page of its own. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import react from '@vitejs/plugin-react';
import { defineConfig, type Plugin } from 'vite';
import { compressedFiles } from './scripts/compressed-files.ts';
import { levelIcons } from './src/contract/routing/level-styles.ts';

const root = import.meta.dirname;

/** Icons of the panel's own controls; a level's are in the contract. */
const controlIcons = [
  'arrow-up-right',
  'check',
  'eye',
  'list-check',
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
const oneIcon = 'virtual:icon/';

/**
 * The outlines of Tabler's icons as path data, so that no page ever parses markup: `virtual:icons` has those that are
 * chosen by name, `virtual:icon/search` is one alone.
 */
function icons(): Plugin {
  return {
    name: 'belfry-icons',
    resolveId: (id) => (id === iconsId || id.startsWith(oneIcon) ? `\0${id}` : undefined),
    load(id) {
      if (id.startsWith(`\0${oneIcon}`))
        return `export default ${JSON.stringify(pathsOf(id.slice(oneIcon.length + 1)))};`;
      if (id !== `\0${iconsId}`) return undefined;
      const paths = [...levelIcons, ...controlIcons].map((name) => [name, pathsOf(name)]);
      return `export const iconPaths = ${JSON.stringify(Object.fromEntries(paths))};`;
    },
  };
}

/** `virtual:version`: the version that this page was built as. */
function versionOf(): Plugin {
  const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { version: string };
  return {
    name: 'belfry-version',
    resolveId: (id) => (id === 'virtual:version' ? '\0virtual:version' : undefined),
    load: (id) =>
      id === '\0virtual:version' ? `export const version = ${JSON.stringify(version)};` : undefined,
  };
}

/** What belongs to the page of a device under names that do not change. */
function deviceFiles(): Plugin {
  return {
    name: 'belfry-device-files',
    applyToEnvironment: ({ name }) => name === 'client',
    generateBundle() {
      for (const name of ['manifest.webmanifest', 'icon-192.png', 'icon-512.png', 'badge.png'])
        this.emitFile({
          type: 'asset',
          fileName: `push/${name}`,
          source: readFileSync(join(root, 'src/web/push', name)),
        });
    },
  };
}

function pathsOf(name: string): string[] {
  const svg = readFileSync(join(root, `node_modules/@tabler/icons/icons/outline/${name}.svg`), 'utf8');
  if (/<(?!\/?(?:svg|path)\b|!--)/.test(svg))
    throw new Error(`the icon ${name} is drawn with more than paths`);
  return [...svg.matchAll(/<path(?! stroke="none")[^>]* d="([^"]+)"/g)].map(([, d]) => d as string);
}

/** The component library's palettes that nothing here is painted with: a fifth of all styles. */
const unusedPalettes = /^--mantine-color-(?:pink|grape|violet|indigo|cyan|teal|green|lime|yellow|orange)-/;

export default defineConfig({
  css: {
    postcss: {
      plugins: [
        {
          postcssPlugin: 'belfry-unused-palettes',
          Declaration: (declaration) => {
            if (unusedPalettes.test(declaration.prop)) declaration.remove();
          },
        },
      ],
    },
  },
  root: join(root, 'src/web'),
  publicDir: false,
  plugins: [react(), icons(), versionOf(), deviceFiles(), compressedFiles()],
  build: {
    outDir: join(root, 'dist/web'),
    // Everything is a file of its own: the pages' policy allows no data: and nothing inline.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
    // What a page loads, for the measurement of its weight.
    manifest: true,
  },
  environments: {
    client: {
      build: {
        emptyOutDir: true,
        target: ['chrome111', 'firefox121', 'safari16.4'],
        rolldownOptions: {
          // A service worker keeps its address from version to version.
          output: {
            entryFileNames: ({ name }) =>
              name === 'push-worker' ? 'push/worker.js' : 'assets/[name]-[hash].js',
          },
          input: {
            dashboard: join(root, 'src/web/dashboard/index.html'),
            push: join(root, 'src/web/push/index.html'),
            'push-worker': join(root, 'src/web/push/worker.ts'),
          },
        },
      },
    },
    // The panel shares no script with the other pages, because televisions have old browsers: Chromium 76 in Tizen 6 and webOS 5.
    panel: {
      consumer: 'client',
      build: {
        emptyOutDir: false,
        target: 'es2019',
        cssTarget: 'chrome76',
        manifest: '.vite/panel.json',
        rolldownOptions: { input: { panel: join(root, 'src/web/panel/index.html') } },
      },
    },
  },
  builder: {
    async buildApp({ build, environments: { client, panel } }) {
      if (client) await build(client);
      if (panel) await build(panel);
    },
  },
  server: { proxy: { '/api': 'http://127.0.0.1:8080' } },
});
