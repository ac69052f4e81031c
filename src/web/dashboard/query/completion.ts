/** What can stand where the caret is in a search. */
import { quoteValue, readWords } from './query-words.ts';

export const queryKeys = [
  'level',
  'host',
  'ip',
  'source',
  'token',
  'panel',
  'rule',
  'key',
  'is',
  'since',
  'after',
  'before',
  'title',
  'message',
] as const;
export type QueryKey = (typeof queryKeys)[number];

export const states = ['live', 'unseen', 'cleared', 'expired', 'muted', 'throttled', 'unrouted'] as const;

/** What is asked for: the key, or a value of it, that begins like this, and the part of the text it would stand for. */
export interface CompletionAsk {
  /** undefined: a key is being typed. */
  readonly key: QueryKey | undefined;
  readonly prefix: string;
  readonly start: number;
  readonly end: number;
  /** Of levels: `>=` and the like, which stay. */
  readonly operator: string;
}

export interface Completed {
  readonly text: string;
  readonly caret: number;
}

/** undefined where nothing can be offered: in a phrase, behind an unknown key. */
export function completionAt(text: string, caret: number): CompletionAsk | undefined {
  const word = readWords(text).find(({ start, end, kind }) => {
    const isWord = kind === 'pair' || kind === 'text' || kind === 'operator';
    return isWord && start <= caret && caret <= end;
  });
  if (!word) return { key: undefined, prefix: '', start: caret, end: caret, operator: '' };
  if (word.kind !== 'pair' || caret < word.valueStart) {
    const start = word.negated ? word.start + 1 : word.start;
    const prefix = text.slice(start, caret);
    if (caret < start || prefix.includes('"')) return undefined;
    return {
      key: undefined,
      prefix,
      start,
      end: word.kind === 'pair' ? word.valueStart : word.end,
      operator: '',
    };
  }
  const key = queryKeys.find((each) => each === word.key);
  if (!key || key === 'title' || key === 'message') return undefined;
  const { start, end } = valueAt(text, word.valueStart, word.end, caret);
  const operator = key === 'level' ? (/^[<>]?=?/.exec(text.slice(start, end))?.[0] ?? '') : '';
  const from = Math.min(start + operator.length, Math.max(start, caret));
  const prefix = text.slice(from, caret).replace(/^"/, '').replace(/\\(.)/g, '$1').replace(/"$/, '');
  return { key, prefix, start: from, end, operator };
}

/** The one of several values, comma-separated, that the caret is in. */
function valueAt(text: string, from: number, until: number, caret: number): { start: number; end: number } {
  let start = from;
  let inQuotes = false;
  for (let at = from; at < until; at++) {
    if (text[at] === '\\') at += 1;
    else if (text[at] === '"') inQuotes = !inQuotes;
    else if (text[at] === ',' && !inQuotes) {
      if (at >= caret) return { start, end: at };
      start = at + 1;
    }
  }
  return { start, end: until };
}

/** The text with what was chosen; behind a value there is room for the next word. */
export function complete(text: string, ask: CompletionAsk, chosen: string): Completed {
  const isKey = ask.key === undefined;
  const [, operator = '', value = chosen] = /^([<>]=?)(.*)$/s.exec(ask.key === 'level' ? chosen : '') ?? [];
  const written = isKey ? `${chosen}:` : operator + quoteValue(value);
  const rest = text.slice(ask.end);
  const gap = isKey || /^[\s,)]/.test(rest) ? '' : ' ';
  const start = text.slice(0, operator === '' ? ask.start : ask.start - ask.operator.length);
  const head = start + written + gap;
  return { text: head + rest, caret: head.length };
}

/** Of what is known, what begins like this, then what holds it; itself alone is no offer. */
export function fitting(known: readonly string[], prefix: string, most: number): string[] {
  const low = prefix.toLowerCase();
  const begins = known.filter((each) => each.toLowerCase().startsWith(low));
  const holds = known.filter(
    (each) => !begins.includes(each) && low !== '' && each.toLowerCase().includes(low),
  );
  const found = [...begins, ...holds].slice(0, most);
  return found.length === 1 && found[0] === prefix ? [] : found;
}
