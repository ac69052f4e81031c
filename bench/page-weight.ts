/** The weight of a first visit: everything that a page loads before it can be used, compressed; fonts separately. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { ensureBuilt } from '#scripts/build.mjs';

const root = join(import.meta.dirname, '..');
const web = join(root, 'dist/web');

/** Entries of the build's manifest for each page. */
const pages = {
  panel: { limit: 60_000, entries: ['panel/index.html'] },
  dashboard: {
    limit: 225_000,
    entries: [
      'dashboard/index.html',
      'dashboard/pages/overview/overview-page.tsx',
      ...['shell', 'overview', 'history'].map((name) => `dashboard/texts/en/${name}.ts`),
    ],
  },
} as const;
/** The font subsets that a page in a Latin script loads. */
const latin = /^(?:inter|jetbrains-mono)-latin-wght-normal-/;

interface Chunk {
  readonly file: string;
  readonly css?: readonly string[];
  readonly imports?: readonly string[];
}

await ensureBuilt('pages', root, process.execPath, process.env);
const manifestOf = (name: string) =>
  JSON.parse(readFileSync(join(web, '.vite', name), 'utf8')) as Record<string, Chunk>;
/** The panel is built apart, for old browsers. */
const manifest = { ...manifestOf('manifest.json'), ...manifestOf('panel.json') };

for (const [page, { limit, entries }] of Object.entries(pages)) {
  const files = new Set([`${page}/index.html`]);
  for (const entry of entries) collect(entry, files);
  let total = 0;
  for (const file of files) {
    const gzip = gzipSync(readFileSync(join(web, file)), { level: 9 }).length;
    total += gzip;
    print(`${page}: ${file.replace(/^assets\//, '')}`, gzip);
  }
  print(`${page}: all, gzip (at most ${kB(limit)})`, total);
  print(`${page}: faces for Latin, apart`, faceBytes([...files]));
  if (total > limit) process.exitCode = 1;
}

/** Adds the files of a chunk and of its static imports. */
function collect(entry: string, files: Set<string>): void {
  const chunk = manifest[entry];
  if (!chunk) throw new Error(`the build has no ${entry}`);
  if (files.has(chunk.file)) return;
  files.add(chunk.file);
  for (const file of chunk.css ?? []) files.add(file);
  for (const imported of chunk.imports ?? []) collect(imported, files);
}

function faceBytes(files: readonly string[]): number {
  const css = files
    .filter((file) => file.endsWith('.css'))
    .map((file) => readFileSync(join(web, file), 'utf8'));
  const names = new Set(
    css.flatMap((text) => [...text.matchAll(/url\(\/assets\/([^)]+)\)/g)].map(([, name]) => name ?? '')),
  );
  return [...names]
    .filter((name) => latin.test(name))
    .reduce((sum, name) => sum + readFileSync(join(web, 'assets', name)).length, 0);
}

function print(what: string, bytes: number): void {
  process.stdout.write(`${what.padEnd(56)} ${kB(bytes)}\n`);
}

function kB(bytes: number): string {
  return `${(bytes / 1_000).toFixed(1)} kB`;
}
