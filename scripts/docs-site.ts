/** The documentation site as files: pages from the Markdown of the repository, and what they link to. */
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join, posix } from 'node:path';
import { type RenderedPage, renderMarkdown } from './docs-markdown.ts';
import { addressOf, navigation } from './docs-navigation.ts';

export interface SitePage extends RenderedPage {
  /** From the checkout's root. */
  readonly file: string;
  /** Below /docs/. */
  readonly address: string;
}

export interface Site {
  readonly pages: readonly SitePage[];
  /** Files that pages link to or show, by the address that they have below /docs/. */
  readonly files: ReadonlyMap<string, string>;
  /** Links that lead nowhere, one line each. */
  readonly deadLinks: readonly string[];
}

export const siteBase = '/docs/';

/** The pages that exist, decisions (docs/adr) included. */
export function pageFiles(root: string): string[] {
  const decisions = readdirSync(join(root, 'docs/adr')).map((name) => `docs/adr/${name}`);
  return [...navigation.flatMap(({ files }) => files), ...decisions.toSorted()].filter((file) =>
    existsSync(join(root, file)),
  );
}

export function renderSite(root: string): Site {
  const wanted = pageFiles(root);
  const files = new Map<string, string>();
  const deadLinks: string[] = [];
  const anchored: { from: string; to: string; anchor: string }[] = [];
  const resolveIn = (file: string) => (target: string) => {
    if (/^(?:https?|mailto):/.test(target)) return target;
    const [path = '', anchor = ''] = target.split('#');
    const to = path === '' ? file : posix.join(posix.dirname(file), decodeURI(path));
    if (wanted.includes(to)) {
      if (anchor) anchored.push({ from: file, to, anchor });
      return `${path === '' ? '' : siteBase + addressOf(to)}${anchor && `#${anchor}`}`;
    }
    if (!isFile(join(root, to))) {
      deadLinks.push(`${file}: ${target}: there is no such page or file`);
      return target;
    }
    const address = `files/${to}`;
    files.set(address, to);
    return siteBase + address;
  };
  const pages = wanted.map((file) => ({
    ...renderMarkdown(readFileSync(join(root, file), 'utf8'), resolveIn(file)),
    file,
    address: addressOf(file),
  }));
  const anchorsOf = new Map(
    pages.map(({ file, sections }) => [file, new Set(sections.map((each) => each.anchor))]),
  );
  for (const { from, to, anchor } of anchored)
    if (!anchorsOf.get(to)?.has(anchor)) deadLinks.push(`${from}: ${to}#${anchor}: there is no such heading`);
  return { pages, files, deadLinks };
}

const isFile = (path: string) => existsSync(path) && statSync(path).isFile();
