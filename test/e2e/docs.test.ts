/** The documentation as a server serves it, and its links. */
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { ensureBuilt } from '#scripts/build.mjs';
import { navigation } from '#scripts/docs-navigation.ts';
import { renderSite } from '#scripts/docs-site.ts';
import { TestServer } from '../support/server.ts';
import { root } from '../support/server-process.ts';

let server: TestServer;
beforeAll(async () => {
  await ensureBuilt('docs', root, process.execPath, process.env);
  server = await TestServer.start();
});
afterAll(() => server?.stop());

const get = (path: string, headers: Record<string, string> = {}) =>
  fetch(server.url + path, { headers, redirect: 'manual' });
/** What a page, or a style sheet, loads or links to on this server. */
const linksOf = (text: string) =>
  Array.from(text.matchAll(/(?:(?:src|href|data-search)="|url\()(\/[^"#)]*)/g), ([, link = '']) => link);

test('every page of docs/ is in the navigation, once, and is the only one at its address', () => {
  const listed = navigation.flatMap(({ files }) => files);
  const pages = readdirSync(join(root, 'docs')).filter((name) => name.endsWith('.md'));
  expect(pages.filter((name) => !listed.includes(`docs/${name}`))).toEqual([]);
  const addresses = renderSite(root).pages.map(({ address }) => address);
  expect([...new Set(listed)]).toEqual(listed);
  expect([...new Set(addresses)]).toEqual(addresses);
});

test('every link in the documentation leads to a page, a heading or a file', () => {
  const { pages, deadLinks } = renderSite(root);
  expect(pages.length).toBeGreaterThan(20);
  expect(deadLinks).toEqual([]);
});

test('every page is served with all that it links to, and loads nothing from elsewhere', async () => {
  const seen = new Set<string>();
  const open = ['/docs/'];
  for (let path = open.pop(); path !== undefined; path = open.pop()) {
    if (seen.has(path)) continue;
    seen.add(path);
    const answer = await get(path);
    expect([path, answer.status]).toEqual([path, 200]);
    const text = await answer.text();
    const isPage = answer.headers.get('content-type')?.startsWith('text/html');
    if (isPage && !path.startsWith('/docs/api/')) {
      expect(answer.headers.get('content-security-policy')).toContain("script-src 'self';");
      expect(text).not.toMatch(/<script(?! type="module" src="\/docs\/)|<style|\sstyle="|\son\w+="/);
      expect(text).not.toMatch(/(?:src|rel="stylesheet" href)="https?:/);
    }
    if (isPage || path.endsWith('.css'))
      open.push(
        ...linksOf(text).filter((link) => link.startsWith('/docs/') && !link.startsWith('/docs/api/')),
      );
  }
  const pages = renderSite(root).pages.filter(({ address }) => !address.startsWith('adr/'));
  expect(pages.map(({ address }) => `/docs/${address}`).filter((path) => !seen.has(path))).toEqual([]);
});

test('pages travel compressed and are asked for again only when they changed; assets stay', async () => {
  for (const encoding of ['br', 'gzip']) {
    const answer = await get('/docs/operations', { 'accept-encoding': encoding });
    expect(answer.headers.get('content-encoding')).toBe(encoding);
    expect(await answer.text()).toContain('Operating Belfry');
  }
  const etag = (await get('/docs/operations')).headers.get('etag') ?? '';
  expect(
    (await get('/docs/operations', { 'if-none-match': etag, 'cache-control': 'max-age=0' })).status,
  ).toBe(304);
  const [style = ''] = linksOf(await (await get('/docs/')).text()).filter((link) => link.endsWith('.css'));
  expect((await get(style)).headers.get('cache-control')).toContain('immutable');
});

test('the reference of the API is found, and what is no page is a 404', async () => {
  expect((await get('/docs')).headers.get('location')).toBe('/docs/');
  const reference = await get('/docs/api/');
  expect(await reference.text()).toContain('swagger');
  // Nothing of another server, and nothing that would need https.
  expect(reference.headers.get('content-security-policy')).toMatch(
    /^default-src 'none'; (?!.*https?:|.*upgrade)/,
  );
  for (const path of [
    '/docs/none',
    '/docs/adr',
    '/docs/adr/',
    '/docs/.built',
    '/docs/assets/none.js',
    '/docs/files/../.built',
  ])
    expect([path, (await get(path)).status]).toEqual([path, 404]);
});

test('a browser gets a page that says that there is none, with the search; other clients get JSON', async () => {
  const accept = 'text/html,application/xhtml+xml,*/*;q=0.8';
  for (const path of ['/docs/none', '/docs/adr/none', '/docs/not-found', '/docs/assets/none.js']) {
    const page = await get(path, { accept });
    expect([path, page.status, page.headers.get('content-type')]).toEqual([
      path,
      404,
      'text/html; charset=utf-8',
    ]);
    expect(page.headers.get('content-security-policy')).toContain("script-src 'self';");
    const text = await page.text();
    expect(text).toContain('<h1>Page not found</h1>');
    for (const link of linksOf(text).filter((each) => each.startsWith('/docs/assets/')))
      expect([link, (await get(link)).status]).toEqual([link, 200]);
    const other = await get(path, { accept: 'application/json' });
    expect([other.status, await other.json()]).toEqual([
      404,
      { error: 'there is nothing at this path; /docs/api/ lists all paths' },
    ]);
  }
});

test('the documentation is small enough to come with every package', () => {
  const folder = join(root, 'dist/docs');
  const sizes = readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => statSync(join(parentPath, name)).size);
  expect(sizes.reduce((sum, size) => sum + size, 0)).toBeLessThan(3_000_000);
});

test('the configurations that pages link to are served as they are, as text', async () => {
  const answer = await get('/docs/files/deploy/nginx.conf');
  expect(answer.headers.get('content-type')).toContain('text/plain');
  expect(await answer.text()).toBe(readFileSync(join(root, 'deploy/nginx.conf'), 'utf8'));
});
