/** What a first look at a page costs: what is sent, compressed as it is sent; faces apart. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { ensurePages } from '../scripts/pages.mjs';

const root = join(import.meta.dirname, '..');
const most = { panel: 60_000 } as const;
/** The subsets a page in a Latin script loads. */
const latin = /^(?:inter|jetbrains-mono)-latin-wght-normal-/;

await ensurePages(root, process.execPath, process.env);
for (const [page, limit] of Object.entries(most)) {
  const html = readFileSync(join(root, `dist/web/${page}/index.html`));
  const names = [...html.toString().matchAll(/(?:src|href)="\/(assets\/[^"]+)"/g)].map(
    ([, name]) => name ?? '',
  );
  const files = names.map((name) => ({ name, bytes: readFileSync(join(root, 'dist/web', name)) }));
  const parts = [{ name: 'index.html', bytes: html }, ...files].map(({ name, bytes }) => ({
    name: name.replace(/^assets\//, ''),
    gzip: gzipSync(bytes, { level: 9 }).length,
  }));
  const total = parts.reduce((sum, { gzip }) => sum + gzip, 0);
  const css = files.find(({ name }) => name.endsWith('.css'))?.bytes.toString() ?? '';
  const faces = [...css.matchAll(/url\(\/assets\/([^)]+)\)/g)]
    .map(([, name]) => name ?? '')
    .filter((name) => latin.test(name))
    .reduce((sum, name) => sum + readFileSync(join(root, 'dist/web/assets', name)).length, 0);
  for (const { name, gzip } of parts) print(`${page}: ${name}`, gzip);
  print(`${page}: all, gzip (at most ${kB(limit)})`, total);
  print(`${page}: faces for Latin, apart`, faces);
  if (total > limit) process.exitCode = 1;
}

function print(what: string, bytes: number): void {
  process.stdout.write(`${what.padEnd(56)} ${kB(bytes)}\n`);
}

function kB(bytes: number): string {
  return `${(bytes / 1_000).toFixed(1)} kB`;
}
