/**
 * The header `Belfry-Error` of every error answer, an item with parameters of RFC 9651:
 * `query.unknown-key; at=12; length=4; nearest="host"`. Text is percent-encoded where it is more than letters and digits.
 */
import type { ErrorCode } from './errors.ts';
import { percentDecoded } from './percent.ts';

/** Where in the request the problem is. */
export interface ErrorPlace {
  /** In the body: a JSON Pointer (RFC 6901), as in /when/ip/0. */
  readonly pointer?: string;
  /** The name of a parameter of the query or the path. */
  readonly parameter?: string;
  /** In a search: its first character, counted from 1 … */
  readonly at?: number;
  /** … and how many characters it has. */
  readonly length?: number;
  /** Names that exist and may replace it, the most similar first. */
  readonly nearest?: readonly string[];
}

export const errorHeader = 'belfry-error';

/** Names that would make the list longer are left out: proxies take some 4 KiB of headers. */
const nearestChars = 1_000;

export function formatErrorHeader(code: ErrorCode, place: ErrorPlace = {}): string {
  let text: string = code;
  for (const [name, value] of Object.entries(place)) {
    if (value === undefined || value.length === 0) continue;
    text += typeof value === 'number' ? `; ${name}=${value}` : `; ${name}="${encoded(value)}"`;
  }
  return text;
}

function encoded(value: string | readonly string[]): string {
  if (typeof value === 'string') return encodeURIComponent(value.toWellFormed()).replaceAll('%2F', '/');
  let list = '';
  for (const name of value) {
    const next = `${list}${list === '' ? '' : ','}${encoded(name)}`;
    if (next.length > nearestChars) break;
    list = next;
  }
  return list;
}

/** Reads the header; undefined without one that can be read. A newer server may send codes that are not in the table. */
export function parseErrorHeader(
  header: string | null,
): { readonly code: string; readonly place: ErrorPlace } | undefined {
  const [code = '', ...parameters] = (header ?? '').split(';').map((part) => part.trim());
  if (!/^[a-z][a-z.-]*$/.test(code)) return undefined;
  const place: Record<string, unknown> = {};
  for (const parameter of parameters) {
    const [, name = '', text, digits] = /^([a-z]+)=(?:"([^"]*)"|(\d{1,9}))$/.exec(parameter) ?? [];
    if (digits !== undefined && (name === 'at' || name === 'length')) place[name] = Number(digits);
    if (text !== undefined && (name === 'pointer' || name === 'parameter'))
      place[name] = percentDecoded(text);
    if (text !== undefined && name === 'nearest') place[name] = text.split(',').map(percentDecoded);
  }
  return { code, place };
}
