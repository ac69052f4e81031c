/** Builds `belfry/client` into dist/client: one module for Node, browsers and Deno, with its types. */
import { join } from 'node:path';
import { defineConfig } from 'vite';
import { clientDeclarations } from './scripts/client-types.ts';

export default defineConfig({
  root: import.meta.dirname,
  publicDir: false,
  plugins: [
    {
      name: 'belfry-client-declarations',
      generateBundle() {
        for (const [fileName, source] of Object.entries(clientDeclarations(import.meta.dirname)))
          this.emitFile({ type: 'asset', fileName, source });
      },
    },
  ],
  build: {
    outDir: join(import.meta.dirname, 'dist/client'),
    emptyOutDir: true,
    target: 'es2022',
    minify: false,
    license: { fileName: 'licenses.md' },
    reportCompressedSize: false,
    lib: {
      entry: join(import.meta.dirname, 'src/client/published.ts'),
      formats: ['es'],
      fileName: () => 'client.js',
    },
  },
});
