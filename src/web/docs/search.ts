/** Full-text search over the sections of all pages, in the browser. */
import MiniSearch from 'minisearch';

export interface SearchHit {
  readonly page: string;
  readonly address: string;
  readonly heading: string;
  readonly excerpt: string;
}

type Section = readonly [page: string, address: string, heading: string, text: string];
const excerptLength = 140;

/** @throws Error when the texts cannot be fetched. */
export async function openSearch(url: string): Promise<(words: string) => readonly SearchHit[]> {
  const answer = await fetch(url);
  if (!answer.ok) throw new Error(`${url}: ${answer.status}`);
  const sections = (await answer.json()) as readonly Section[];
  const index = new MiniSearch({ fields: ['page', 'heading', 'text'] });
  index.addAll(sections.map(([page, , heading, text], id) => ({ id, page, heading, text })));
  return (words) =>
    index
      .search(words, { prefix: true, fuzzy: 0.2, combineWith: 'AND', boost: { page: 2, heading: 3 } })
      .map(({ id, terms }) => hitOf(sections[id] as Section, terms));
}

function hitOf([page, address, heading, text]: Section, terms: readonly string[]): SearchHit {
  const lower = text.toLowerCase();
  const at = Math.max(
    0,
    Math.min(...terms.map((term) => lower.indexOf(term)).filter((each) => each >= 0), text.length),
  );
  const start = at >= text.length || at < 40 ? 0 : text.lastIndexOf(' ', at - 30) + 1;
  const rest = text.slice(start, start + excerptLength + 1);
  const isCut = rest.length > excerptLength;
  const excerpt = isCut ? rest.replace(/\s+\S*$/, '') : rest;
  return {
    page,
    address: `/docs/${address}`,
    heading,
    excerpt: `${start > 0 ? '… ' : ''}${excerpt}${isCut ? ' …' : ''}`,
  };
}
