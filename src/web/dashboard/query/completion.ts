/** Completion of keys and values at the caret of a query. */
import { type SearchKey, searchKeys } from '#contract/history/fields.ts';
import { quoteValue, readWords } from './query-words.ts';

export const states = [
  'open',
  'live',
  'shelved',
  'suppressed',
  'ended',
  'unseen',
  'acknowledged',
  'cleared',
  'expired',
  'muted',
  'throttled',
  'unrouted',
] as const;

/** What to complete: a key or a value by its prefix, and the text it would replace. */
export interface CompletionRequest {
  /** The key whose value is typed; undefined: a key is typed. */
  readonly key: SearchKey | undefined;
  readonly prefix: string;
  readonly start: number;
  readonly end: number;
  /** The operator before a level, as in `>=`; completion keeps it. */
  readonly operator: string;
  /** Behind `label:env=prod,`: `env=`, with which `prefix` begins. A chosen value of this label needs no name. */
  readonly label: string;
}

export interface Completed {
  readonly text: string;
  readonly caret: number;
  /** A value comes next. */
  readonly isOpen: boolean;
}

/** undefined where nothing can be suggested: in a phrase, or after an unknown key. */
export function completionAt(text: string, caret: number): CompletionRequest | undefined {
  const word = readWords(text).find(({ start, end, kind }) => {
    const isWord = kind === 'pair' || kind === 'text' || kind === 'operator';
    return isWord && start <= caret && caret <= end;
  });
  if (!word) return { key: undefined, prefix: '', start: caret, end: caret, operator: '', label: '' };
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
      label: '',
    };
  }
  const key = searchKeys.find((each) => each === word.key);
  if (!key || key === 'title' || key === 'message') return undefined;
  const { start, end } = valueAt(text, word.valueStart, word.end, caret);
  const operator = key === 'level' ? (/^[<>]?=?/.exec(text.slice(start, end))?.[0] ?? '') : '';
  const from = Math.min(start + operator.length, Math.max(start, caret));
  const typed = text.slice(from, caret).replace(/^"/, '').replace(/\\(.)/g, '$1').replace(/"$/, '');
  const isOfSame = key === 'label' && !typed.includes('=');
  const label = isOfSame ? lastLabel(text.slice(word.valueStart, start)) : '';
  return { key, prefix: label + typed, start: from, end, operator, label };
}

/** Of the values before: the name of the last one that has one, with its `=`. */
function lastLabel(values: string): string {
  const each = values.match(/"(?:\\.|[^"\\])*"|(?:\\.|[^",\\])+/gs) ?? [];
  return each.map((value) => /^"?([^="]+=)/.exec(value)?.[1]).findLast((name) => name !== undefined) ?? '';
}

/** The range of the comma-separated value at the caret. */
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

/** A key, or the name of a label: its value comes next. */
const needsValue = ({ key }: CompletionRequest, chosen: string): boolean =>
  key === undefined || (key === 'label' && chosen.endsWith('='));

/** Replaces the typed prefix with the chosen key or value; adds a space after a value. */
export function complete(text: string, request: CompletionRequest, chosen: string): Completed {
  const isKey = request.key === undefined;
  const [, operator = '', value = chosen] =
    /^([<>]=?)(.*)$/s.exec(request.key === 'level' ? chosen : '') ?? [];
  const written = isKey ? `${chosen}:` : operator + quoteValue(withoutLabel(value, request.label));
  const rest = text.slice(request.end);
  const isOpen = needsValue(request, chosen);
  const gap = isOpen || /^[\s,)]/.test(rest) ? '' : ' ';
  const start = text.slice(0, operator === '' ? request.start : request.start - request.operator.length);
  const head = start + written + gap;
  return { text: head + rest, caret: head.length, isOpen };
}

/** The value alone, unless it would be read as a name and a value. */
function withoutLabel(value: string, label: string): string {
  const rest = value.slice(label.length);
  const isOfLabel = value.toLowerCase().startsWith(label.toLowerCase());
  return isOfLabel && rest !== '' && !rest.includes('=') ? rest : value;
}

/** Values that start with the prefix, then those that contain it. Empty if the only match is the prefix itself. */
export function matchingValues(known: readonly string[], prefix: string, most: number): string[] {
  const low = prefix.toLowerCase();
  const begins = known.filter((each) => each.toLowerCase().startsWith(low));
  const holds = known.filter(
    (each) => !begins.includes(each) && low !== '' && each.toLowerCase().includes(low),
  );
  const found = [...begins, ...holds].slice(0, most);
  return found.length === 1 && found[0] === prefix ? [] : found;
}
