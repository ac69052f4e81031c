/** Builds the documentation site into dist/docs: a page for each Markdown file, readable without JavaScript. */
import { readFileSync } from 'node:fs';
import { extname, join } from 'node:path';
import { defineConfig, type Plugin } from 'vite';
import { compressedFiles } from './scripts/compressed-files.ts';
import { notFoundPage, pageHtml } from './scripts/docs-html.ts';
import { renderSite, type SitePage, siteBase } from './scripts/docs-site.ts';

const root = import.meta.dirname;

/** Pages in which words stand for other reasons than to be found. */
const notSearched = /^(?:CHANGELOG|CONTRIBUTING|bench\/RESULTS|docs\/reliability|docs\/adr\/.*)\b/;

/** What the search of the site reads: for each section its page, address, heading and text. */
const searchText = (pages: readonly SitePage[]): string =>
  JSON.stringify(
    pages
      .filter(({ file }) => !notSearched.test(file))
      .flatMap(({ title, address, sections }) =>
        sections
          .filter(({ heading, text }) => heading || text)
          .map(({ heading, anchor, text }) => [title, `${address}${anchor && `#${anchor}`}`, heading, text]),
      ),
  );

/** Makes the pages, once the names of script and style are known. */
function documentation(): Plugin {
  return {
    name: 'belfry-documentation',
    generateBundle(_options, bundle) {
      const { pages, files, deadLinks } = renderSite(root);
      // A test fails on it; a server must start all the same.
      for (const link of deadLinks) this.warn(`a link leads nowhere: ${link}`);
      const asset = (name: string, source: string | Buffer) =>
        siteBase + this.getFileName(this.emitFile({ type: 'asset', name, source }));
      const named = (extension: string) =>
        siteBase + (Object.keys(bundle).find((name) => extname(name) === extension) ?? '');
      const assets = {
        script:
          siteBase +
          (Object.values(bundle).find((each) => each.type === 'chunk' && each.isEntry)?.fileName ?? ''),
        style: named('.css'),
        icon: asset('icon.svg', readFileSync(join(root, 'src/web/icon.svg'))),
        searchText: asset('search.json', searchText(pages)),
      };
      for (const page of [...pages, notFoundPage])
        this.emitFile({
          type: 'asset',
          fileName: `${page.address || 'start'}.html`,
          source: pageHtml(page, pages, assets),
        });
      for (const [address, file] of files)
        this.emitFile({ type: 'asset', fileName: address, source: readFileSync(join(root, file)) });
    },
  };
}

export default defineConfig({
  root: join(root, 'src/web/docs'),
  base: siteBase,
  publicDir: false,
  css: {
    postcss: {
      plugins: [
        {
          // The colours of the light scheme, which other pages choose by a class, follow the system here.
          postcssPlugin: 'belfry-follow-system',
          Rule(rule, { AtRule }) {
            if (rule.selector !== '.light') return;
            const media = new AtRule({ name: 'media', params: '(prefers-color-scheme: light)' });
            media.append(rule.clone({ selector: ':root' }));
            rule.replaceWith(media);
          },
        },
      ],
    },
  },
  plugins: [documentation(), compressedFiles()],
  build: {
    outDir: join(root, 'dist/docs'),
    emptyOutDir: true,
    target: ['chrome111', 'firefox121', 'safari16.4'],
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
    rolldownOptions: { input: join(root, 'src/web/docs/main.ts') },
  },
});
