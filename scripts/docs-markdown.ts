/** Turns one Markdown file into what a page of the documentation site needs. */
import MarkdownIt, { type Token } from 'markdown-it';

export interface Section {
  /** The heading's words, and its anchor; both empty above the first heading. */
  readonly heading: string;
  readonly anchor: string;
  readonly level: number;
  text: string;
}

export interface RenderedPage {
  readonly title: string;
  readonly html: string;
  readonly sections: readonly Section[];
}

/** Where a link or an image of a page leads: an address of the site. @throws Error when there is nothing. */
export type Resolve = (target: string) => string;

/** `source` begins with its title as a heading of level 1. Nothing in it becomes a script, a style or raw HTML. */
export function renderMarkdown(source: string, resolve: Resolve): RenderedPage {
  const markdown = new MarkdownIt({ html: false });
  const sections: Section[] = [{ heading: '', anchor: '', level: 1, text: '' }];
  const tokens = markdown.parse(source, {});
  const anchors = new Map<string, number>();
  for (const [index, token] of tokens.entries()) {
    // The page's policy allows no style attributes.
    const style = token.attrGet('style');
    if (style) token.attrs = [['class', String(style).replace('text-align:', '')]];
    for (const child of token.children ?? []) redirect(child, resolve);
    if (token.type === 'heading_open') {
      const heading = plainText(tokens[index + 1]?.children ?? []);
      const anchor = uniqueAnchor(heading, anchors);
      token.attrSet('id', anchor);
      sections.push({ heading, anchor, level: Number(token.tag.slice(1)), text: '' });
    } else if (token.type === 'inline' && tokens[index - 1]?.type !== 'heading_open') {
      addText(sections, plainText(token.children ?? []));
    } else if (token.type === 'fence') {
      addText(sections, token.content);
    }
  }
  const { rules } = markdown.renderer;
  // What is wider than a phone scrolls in itself, also by keyboard.
  rules.table_open = () => '<div class="scroll" tabindex="0"><table>';
  rules.table_close = () => '</table></div>';
  rules.fence = (all, at) =>
    `<pre tabindex="0"><code>${markdown.utils.escapeHtml(all[at]?.content ?? '')}</code></pre>\n`;
  const html = markdown.renderer.render(tokens, markdown.options, {});
  return { title: sections[1]?.heading ?? '', html, sections };
}

function redirect(token: Token, resolve: Resolve): void {
  const name = token.type === 'link_open' ? 'href' : 'src';
  const target = token.attrGet(name);
  if (target) token.attrSet(name, resolve(String(target)));
  if (token.type === 'image') token.attrSet('loading', 'lazy');
}

const plainText = (tokens: readonly Token[]): string =>
  tokens.map((token) => (token.type === 'softbreak' ? ' ' : token.content)).join('');

function addText(sections: Section[], text: string): void {
  const last = sections.at(-1);
  if (last) last.text = `${last.text} ${text}`.trim();
}

/** As GitHub makes them, so that a link works in both places. */
function uniqueAnchor(heading: string, taken: Map<string, number>): string {
  const anchor = heading
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\p{M}_\- ]/gu, '')
    .replaceAll(' ', '-');
  const count = taken.get(anchor) ?? 0;
  taken.set(anchor, count + 1);
  return count === 0 ? anchor : `${anchor}-${count}`;
}
