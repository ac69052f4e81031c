/** The frame of each page of the documentation site. */
import { addressOf, navigation } from './docs-navigation.ts';
import { type SitePage, siteBase } from './docs-site.ts';

export interface Assets {
  readonly script: string;
  readonly style: string;
  readonly icon: string;
  readonly searchText: string;
}

export function pageHtml(page: SitePage, pages: readonly SitePage[], assets: Assets): string {
  const title = page.address === '' ? 'Belfry documentation' : `${page.title} · Belfry`;
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="dark light">
<title>${escapeHtml(title)}</title>
<link rel="icon" type="image/svg+xml" href="${assets.icon}">
<link rel="stylesheet" href="${assets.style}">
<script type="module" src="${assets.script}"></script>
</head>
<body data-search="${assets.searchText}">
<a class="skip" href="#content">Skip to the content</a>
<header>
<a class="home" href="${siteBase}"><img src="${assets.icon}" alt="" width="24" height="24">Belfry</a>
<search hidden>
<input type="search" id="search" placeholder="Search" aria-label="Search the documentation" autocomplete="off" aria-controls="results">
<div id="results" class="results" hidden></div>
</search>
<nav aria-label="Other pages"><a href="${siteBase}api/">API</a><a href="/">Dashboard</a></nav>
</header>
<div class="frame">
<details class="menu"><summary>Contents</summary>${navigationHtml(page, pages, 'All pages, small screen')}</details>
<div class="side">${navigationHtml(page, pages, 'All pages')}</div>
<main id="content">
${page.html}${neighboursHtml(page, pages)}</main>
${outlineHtml(page)}
</div>
</body>
</html>
`;
}

/** Shown in place of a page that does not exist. */
export const notFoundPage: SitePage = {
  file: '',
  address: 'not-found',
  title: 'Page not found',
  html: `<h1>Page not found</h1>
<p>There is no page at this address. Search the documentation, or start at the <a href="${siteBase}">first page</a>.</p>
`,
  sections: [],
};

function navigationHtml(page: SitePage, pages: readonly SitePage[], label: string): string {
  const titles = new Map(pages.map(({ file, title }) => [file, title]));
  const groups = navigation.map(({ title, files }) => {
    const links = files.flatMap((file) => {
      const name = titles.get(file);
      if (name === undefined) return [];
      const current = file === page.file ? ' aria-current="page"' : '';
      return `<li><a href="${siteBase}${addressOf(file)}"${current}>${escapeHtml(name)}</a></li>`;
    });
    return `<p>${title}</p><ul>${links.join('')}</ul>`;
  });
  return `<nav aria-label="${label}">${groups.join('')}</nav>`;
}

/** The headings of a page that has more than two. */
function outlineHtml({ sections }: SitePage): string {
  const headings = sections.filter(({ level, anchor }) => anchor && (level === 2 || level === 3));
  if (headings.length < 3) return '';
  const links = headings.map(
    ({ level, anchor, heading }) =>
      `<li class="level-${level}"><a href="#${anchor}">${escapeHtml(heading)}</a></li>`,
  );
  return `<aside><nav aria-label="On this page"><p>On this page</p><ul>${links.join('')}</ul></nav></aside>`;
}

function neighboursHtml(page: SitePage, pages: readonly SitePage[]): string {
  const at = pages.indexOf(page);
  if (at < 0) return '';
  const link = (other: SitePage | undefined, rel: string, words: string) =>
    other
      ? `<a rel="${rel}" href="${siteBase}${other.address}"><span>${words}</span>${escapeHtml(other.title)}</a>`
      : '<span></span>';
  return `<nav class="neighbours" aria-label="Previous and next page">${link(pages[at - 1], 'prev', 'Previous')}${link(pages[at + 1], 'next', 'Next')}</nav>`;
}

const escapeHtml = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');
