/**
 * The terms under which a notification is found. A term is a word of its text, or a field and its value, as in
 * `7.host:db-01` (tenant 7). Every store indexes these terms and nothing else; `search-compile.ts` turns a query into them.
 *
 * A field's term starts with the tenant, so it finds rows of that tenant only; words are shared by all tenants. No word
 * contains a dot, so no text can look like a field. In values, ASCII characters other than a–z, 0–9 and `. _ : / -` are
 * written as `%` and two hexadecimal digits: an index may fold the others, or split at them.
 */
import {
  type OptionalTexts,
  type PatternFieldName,
  patternFieldNames,
  patternFields,
  type SearchedField,
  searchedValues,
  searchForm,
} from '#contract/history/fields.ts';
import { labelStart } from '#contract/history/labels.ts';
import { type AddressKey, addressKey } from '../addresses.ts';
import { createLruMap } from '../limits/lru-map.ts';
import type { Route, TenantId } from '../log/route.ts';
import { isEmpty } from '../log/target.ts';
import { type Pattern, spacedWords } from './search-words.ts';

/** The index contains only this many characters of a longer word. */
export const wordChars = 64;

/** The fields of a notification that are indexed. */
export interface IndexedNotification extends Pick<OptionalTexts, PatternFieldName | 'labels'> {
  readonly title: string;
  readonly message: string;
  readonly level: string;
  readonly ip: string | null;
  readonly sourceIp: string;
  readonly tokenId: string;
  readonly throttledOn: string | null;
}

type ReversedTerm = {
  [K in PatternFieldName]: (typeof patternFields)[K] extends { readonly reversed: infer R } ? R : never;
}[PatternFieldName];
/** `labelname`: each label once more without its value, as in `env=`. */
export type ValueTermField =
  | SearchedField
  | 'labelname'
  | ReversedTerm
  | 'level'
  | 'token'
  | 'rule'
  | 'panel'
  | 'tag';

/** The name of the terms that have a field's values reversed, for patterns such as *.example.org; undefined: there are none. */
export const reversedTermOf = (field: SearchedField): ReversedTerm | undefined =>
  field === 'label' ? undefined : (patternFields[field] as { readonly reversed?: ReversedTerm }).reversed;

/** ASCII characters that an index may split at or fold. */
const unsafe = /[^a-z0-9._:/\-\x80-\uffff]/g;
const percentEncoded = (character: string) => `%${character.charCodeAt(0).toString(16).padStart(2, '0')}`;

export const valueTerm = (tenant: TenantId, field: ValueTermField, value: string): string =>
  `${tenant}.${field}:${value.replace(unsafe, percentEncoded)}`;

/**
 * States that a notification enters later; `shown`: a panel has reported showing it. No index has their terms. A store may find
 * their rows in another way; it lists these states in `StoreTerms`.
 */
export type LaterState = 'live' | 'shelved' | 'suppressed' | 'cleared' | 'acknowledged' | 'shown';

/** The terms that mark every notification of a tenant, those of a state, and those for all panels. */
export const flagTerm = (
  tenant: TenantId,
  flag: 'all' | 'muted' | 'throttled' | 'unrouted' | 'panels' | LaterState,
): string => `${tenant}.${flag}`;

/** The value in a term of a field, as {@link valueTerm} made it. */
export function valueOfTerm(term: string): string {
  return term
    .slice(term.indexOf(':') + 1)
    .replace(/%([0-9a-f]{2})/g, (_, code: string) => String.fromCharCode(Number.parseInt(code, 16)));
}

export function reversed(text: string): string {
  let reversed = '';
  for (const character of text) reversed = character + reversed;
  return reversed;
}

/** The lengths of the prefixes, in hexadecimal digits, by which an address is indexed; the last is the whole address. */
export const addressDigits = { 4: [4, 6, 8], 6: [12, 16, 32] } as const;
export type AddressFamily = keyof typeof addressDigits;
export type AddressField = 'ip' | 'source';

export const addressTerm = (
  tenant: TenantId,
  field: AddressField,
  {
    family,
    size,
    digits,
  }: { readonly family: AddressFamily; readonly size: number; readonly digits: string },
): string => `${tenant}.${field}${family}/${size * 4}:${digits}`;

/** The family of a key, and its hexadecimal digits: 8 of IPv4, 32 of IPv6. */
export function addressHex(key: AddressKey): { readonly family: AddressFamily; readonly digits: string } {
  const digits = Buffer.from(key.buffer, key.byteOffset, 16).toString('hex');
  return digits.startsWith('00000000000000000000ffff')
    ? { family: 4, digits: digits.slice(24) }
    : { family: 6, digits };
}

/** All terms of a notification, with a space between; one may come twice. */
export function indexTerms(tenant: TenantId, given: IndexedNotification, route: Route): string {
  let terms = `${flagTerm(tenant, 'all')} ${valueTerm(tenant, 'level', given.level)}`;
  terms += ` ${valueTerm(tenant, 'token', given.tokenId)}`;
  for (const field of patternFieldNames) {
    const sent = given[field];
    if (sent === null) continue;
    const value = searchForm(field, sent);
    const back = reversedTermOf(field);
    terms += ` ${valueTerm(tenant, field, value)}`;
    if (back !== undefined) terms += ` ${valueTerm(tenant, back, reversed(value))}`;
  }
  if (given.labels !== null) terms += labelTerms(tenant, given);
  if (given.ip !== null) terms += addressTerms(tenant, 'ip', given.ip);
  terms += addressTerms(tenant, 'source', given.sourceIp) + routeTerms(tenant, route);
  if (given.throttledOn !== null) terms += ` ${flagTerm(tenant, 'throttled')}`;
  return terms + wordTerms(given.title) + wordTerms(given.message);
}

/** Terms of labels, by tenant and text: a sender has the same labels again and again. At most some megabytes. */
const termsOfLabels = createLruMap<string, string>(1_000_000, (terms, key) => terms.length + key.length);

function labelTerms(tenant: TenantId, given: IndexedNotification): string {
  const key = `${tenant} ${given.labels}`;
  const known = termsOfLabels.get(key);
  if (known !== undefined) return known;
  let terms = '';
  for (const label of searchedValues('label', given))
    terms += ` ${valueTerm(tenant, 'label', label)} ${valueTerm(tenant, 'labelname', labelStart(label))}`;
  termsOfLabels.set(key, terms);
  return terms;
}

const longWord = new RegExp(` [^ ]{${wordChars + 1}}`);

/** Each term of the next three with a space before it. */
function wordTerms(text: string): string {
  const words = ` ${spacedWords(text)}`.trimEnd();
  return longWord.test(words) ? words.split(' ').map(cut).join(' ') : words;
}

/** The indexed beginning of a word, never with half a character. */
export function cut(word: string): string {
  const begin = word.slice(0, wordChars);
  return begin.isWellFormed() ? begin : begin.slice(0, -1);
}

function addressTerms(tenant: TenantId, field: AddressField, text: string): string {
  const { family, digits } = text.includes(':') ? addressHex(addressKey(text)) : quadHex(text);
  const [short, middle, size] = addressDigits[family];
  const term = (size: number) => addressTerm(tenant, field, { family, size, digits: digits.slice(0, size) });
  return ` ${term(short)} ${term(middle)} ${term(size)}`;
}

/** As {@link addressHex}, for the canonical text of an IPv4 address, without its key. */
function quadHex(text: string): ReturnType<typeof addressHex> {
  let number = 0;
  for (const octet of text.split('.')) number = number * 256 + Number(octet);
  return { family: 4, digits: number.toString(16).padStart(8, '0') };
}

function routeTerms(tenant: TenantId, { rules, muted, target, origin }: Route): string {
  let terms = origin === undefined ? '' : ` ${valueTerm(tenant, 'token', origin)}`;
  for (const { id } of rules) terms += ` ${valueTerm(tenant, 'rule', id)}`;
  if (muted) return `${terms} ${flagTerm(tenant, 'muted')}`;
  if (isEmpty(target)) terms += ` ${flagTerm(tenant, 'unrouted')}`;
  if (target.all) terms += ` ${flagTerm(tenant, 'panels')}`;
  for (const id of target.ids) terms += ` ${valueTerm(tenant, 'panel', id)}`;
  for (const tag of target.tags) terms += ` ${valueTerm(tenant, 'tag', tag)}`;
  return terms;
}

/** Boolean expressions over the terms of an index (`index-terms.ts`). */

/** Rows with a term (with `prefix`: one that starts like it), with all or any of several, or with some but not others. */
export type TermExpression =
  | {
      readonly kind: 'term';
      readonly term: string;
      readonly prefix: boolean;
      /** Only terms with a value that matches. */
      readonly pattern?: Pattern;
    }
  | { readonly kind: 'and' | 'or'; readonly of: readonly TermExpression[] }
  | { readonly kind: 'without'; readonly of: TermExpression; readonly not: TermExpression };

export const one = (term: string, prefix = false) => ({ kind: 'term', term, prefix }) as const;

export function joined(kind: 'and' | 'or', of: readonly TermExpression[]): TermExpression {
  const all = of.flatMap((part) => (part.kind === kind ? part.of : [part]));
  // Each term once.
  const seen = new Set<string>();
  const flat = all.filter(
    (part) => part.kind !== 'term' || (!seen.has(nameOf(part)) && seen.add(nameOf(part))),
  );
  return flat.length === 1 ? (flat[0] as TermExpression) : { kind, of: flat };
}

const nameOf = ({ term, prefix, pattern = '' }: TermExpression & { readonly kind: 'term' }) =>
  `${term}${prefix ? '*' : ''}${pattern}`;

/** The expression finds every row that has one of these terms. */
export function excludedTerms(part: TermExpression): string[] {
  if (part.kind === 'term') return [nameOf(part)];
  return part.kind === 'or' ? part.of.flatMap(excludedTerms) : [];
}

/** Every row that the expression finds has at least one of these terms. */
export function alternatives(part: TermExpression): string[] {
  if (part.kind === 'term') return [nameOf(part)];
  return part.kind === 'without' ? alternatives(part.of) : part.of.flatMap(alternatives);
}

/** Whether only rows of one tenant have it: words are shared by all, and terms of fields are not. */
export function isOfTenant(terms: TermExpression): boolean {
  switch (terms.kind) {
    case 'term':
      return terms.term.includes('.');
    case 'and':
      return terms.of.some(isOfTenant);
    case 'or':
      return terms.of.every(isOfTenant);
    case 'without':
      return isOfTenant(terms.of);
  }
}
