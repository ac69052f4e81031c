/** The search of the documentation. The page itself works without a script. */
import './docs.css';
import type { SearchHit } from './search.ts';

const mostHits = 12;
const [box, input, results] = ['search', '#search', '#results'].map((each) =>
  document.querySelector<HTMLInputElement>(each),
);

if (box && input && results) {
  box.hidden = false;
  input.addEventListener('focus', () => void load(), { once: true });
  input.addEventListener('input', () => void show());
  document.addEventListener('keydown', (event) => {
    if (event.key === '/' && !isTyping(event)) {
      event.preventDefault();
      input.focus();
    } else if (event.key === 'Escape' && box.contains(document.activeElement)) {
      results.hidden = true;
      input.focus();
    } else if (/^Arrow(?:Down|Up)$/.test(event.key) && box.contains(document.activeElement)) {
      event.preventDefault();
      moveFocus(event.key === 'ArrowDown' ? 1 : -1);
    }
  });
  document.addEventListener('click', ({ target }) => {
    if (!box.contains(target as Node)) results.hidden = true;
  });
}

type Find = (words: string) => readonly SearchHit[];
let loading: Promise<Find> | undefined;

/** The texts and the library are fetched when somebody searches. */
function load(): Promise<Find> {
  loading ??= import('./search.ts').then(({ openSearch }) => openSearch(document.body.dataset.search ?? ''));
  // Without a connection: the next letter tries again.
  loading.catch(() => {
    loading = undefined;
  });
  return loading;
}

async function show(): Promise<void> {
  if (!input || !results) return;
  const words = input.value.trim();
  let found: Node[];
  try {
    const find = await load();
    // Another letter was typed meanwhile.
    if (words !== input.value.trim()) return;
    found = find(words).slice(0, mostHits).map(linkTo);
  } catch {
    found = [paragraph('The search could not be loaded. Type again to retry.')];
  }
  if (found.length === 0) found = [paragraph(`Nothing found for “${words}”.`)];
  results.replaceChildren(...found);
  results.hidden = words === '';
}

function linkTo({ page, address, heading, excerpt }: SearchHit): HTMLElement {
  const link = document.createElement('a');
  link.href = address;
  const title = document.createElement('b');
  title.textContent = heading === '' || heading === page ? page : `${page} › ${heading}`;
  link.append(title, paragraph(excerpt));
  link.addEventListener('click', () => {
    if (results) results.hidden = true;
  });
  return link;
}

function paragraph(text: string): HTMLElement {
  const made = document.createElement('p');
  made.textContent = text;
  return made;
}

function moveFocus(step: number): void {
  const stops = [input, ...(results?.querySelectorAll('a') ?? [])];
  const at = stops.indexOf(document.activeElement as HTMLInputElement);
  stops[(at + step + stops.length) % stops.length]?.focus();
}

const isTyping = ({ target, ctrlKey, metaKey, altKey }: KeyboardEvent): boolean =>
  ctrlKey ||
  metaKey ||
  altKey ||
  (target instanceof HTMLElement && /^(?:INPUT|TEXTAREA)$/.test(target.tagName));
