/**
 * Builds the server and the command line into dist/server: a few files of JavaScript with everything in them that is
 * JavaScript alone. The packages that package.json names as `dependencies` stay packages.
 */
import { cpSync } from 'node:fs';
import { basename, dirname, join, relative, resolve } from 'node:path';
import { defineConfig, type Plugin } from 'vite';
import manifest from './package.json' with { type: 'json' };
import { manualPage } from './scripts/manual-page.ts';

const source = join(import.meta.dirname, 'src');
const target = join(import.meta.dirname, 'dist/server');

/**
 * Keeps true what the sources find beside themselves, as in `new URL('./migrations/', import.meta.url)`: a thread becomes
 * a file of the build, a folder of src is copied into it, and a folder outside is found from there.
 */
function filesBesideSources(): Plugin {
  const folders = new Set<string>();
  return {
    name: 'belfry-files-beside-sources',
    enforce: 'pre',
    transform(code, id) {
      if (!id.startsWith(source)) return undefined;
      return code.replace(/new URL\('(\.[^']+)', import\.meta\.url\)/g, (_, path: string) => {
        const found = resolve(dirname(id), path);
        if (path.endsWith('.ts')) {
          const fileName = basename(path).replace(/\.ts$/, '.js');
          this.emitFile({ type: 'chunk', id: found, fileName });
          return `new URL('./${fileName}', import.meta.url)`;
        }
        const isSource = found.startsWith(source);
        if (isSource) folders.add(relative(source, found));
        const place = isSource ? `./${relative(source, found)}` : relative(target, found);
        return `new URL('${place}/', import.meta.url)`;
      });
    },
    writeBundle({ dir = '' }) {
      for (const folder of folders) cpSync(join(source, folder), join(dir, folder), { recursive: true });
    },
  };
}

export default defineConfig({
  root: import.meta.dirname,
  publicDir: false,
  plugins: [
    filesBesideSources(),
    {
      name: 'belfry-manual-page',
      generateBundle() {
        this.emitFile({ type: 'asset', fileName: 'belfry.1', source: manualPage(manifest.version) });
      },
    },
  ],
  define: { builtFromCommit: JSON.stringify(process.env.BUILD_COMMIT ?? '') },
  ssr: { noExternal: true, external: Object.keys(manifest.dependencies) },
  build: {
    ssr: true,
    outDir: target,
    emptyOutDir: true,
    target: 'node24',
    license: { fileName: 'licenses.md' },
    reportCompressedSize: false,
    rolldownOptions: {
      input: { main: join(source, 'main.ts') },
      output: {
        entryFileNames: '[name].js',
        chunkFileNames: '[name]-[hash].js',
        comments: false,
        // V8 keeps the text of a file in twice the memory if one character of it is beyond Latin-1.
        charset: 'ascii',
      },
    },
  },
});
