/** Compiles a query to an expression over the terms of the index (`index-terms.ts`), which every store can run. */
import { type AddressKey, compareAddresses } from '../addresses.ts';
import type { TenantId } from '../ports.ts';
import type { PanelAddress } from '../target.ts';
import {
  type AddressField,
  addressDigits,
  addressHex,
  addressTerm,
  cut,
  flagTerm,
  reversed,
  type ValueTermField,
  valueTerm,
  wordChars,
} from './index-terms.ts';
import { literalOf, type Pattern, patternParts } from './search-glob.ts';
import type { AddressPattern, Phrase, Query, SearchState, Term } from './search-query.ts';
import { wordsOf } from './search-words.ts';

/** Rows with a term (with `prefix`: one that starts like it), with all or any of several, or with some but not others. */
export type TermExpression =
  | { readonly kind: 'term'; readonly term: string; readonly prefix: boolean }
  | { readonly kind: 'and' | 'or'; readonly of: readonly TermExpression[] }
  | { readonly kind: 'without'; readonly of: TermExpression; readonly not: TermExpression };

export interface CompiledQuery {
  /** Finds every match, and nothing else if `exact`. Only rows of this tenant. */
  readonly terms: TermExpression;
  /** Otherwise a row that was found must be tested too (`search-evaluate.ts`). */
  readonly exact: boolean;
  /** Every match was received at `after` or later, and before `before`. The terms do not contain the time. Unix milliseconds. */
  readonly after: number;
  readonly before: number;
  /** Every match is on panels now. */
  readonly live: boolean;
}

/** The rows of a part of the query; `undefined` if terms cannot restrict them, so any row may match. */
interface Part {
  readonly terms: TermExpression | undefined;
  readonly exact: boolean;
}

/** The most blocks of an address range; otherwise one larger block is used. */
const mostBlocks = 64;

export function compileQuery(query: Query, tenant: TenantId): CompiledQuery {
  const conjuncts = query.kind === 'and' ? query.terms : [query];
  let after = Number.NEGATIVE_INFINITY;
  let before = Number.POSITIVE_INFINITY;
  const rest: Query[] = [];
  for (const term of conjuncts) {
    if (term.kind === 'after') after = Math.max(after, term.at);
    else if (term.kind === 'before') before = Math.min(before, term.at);
    else rest.push(term);
  }
  const compiler = new Compiler(tenant);
  const { terms, exact } = compiler.all(rest);
  const live = rest.some((term) => term.kind === 'is' && term.states.every((state) => state === 'live'));
  return { terms: compiler.ofTenant(terms), exact, after, before, live };
}

class Compiler {
  readonly #tenant: TenantId;
  readonly #everything: TermExpression;

  constructor(tenant: TenantId) {
    this.#tenant = tenant;
    this.#everything = one(flagTerm(tenant, 'all'));
  }

  /** Words are shared by all tenants, so the tenant's own term is added unless a field term is present. */
  ofTenant(terms: TermExpression | undefined): TermExpression {
    if (!terms) return this.#everything;
    return this.#isOfTenant(terms) ? terms : and([this.#everything, terms]);
  }

  #isOfTenant(terms: TermExpression): boolean {
    switch (terms.kind) {
      case 'term':
        return terms.term.includes('.');
      case 'and':
        return terms.of.some((part) => this.#isOfTenant(part));
      case 'or':
        return terms.of.every((part) => this.#isOfTenant(part));
      case 'without':
        return this.#isOfTenant(terms.of);
    }
  }

  #part(query: Query): Part {
    switch (query.kind) {
      case 'all':
        return { terms: undefined, exact: true };
      case 'and':
        return this.all(query.terms);
      case 'or':
        return any(query.terms.map((term) => this.#part(term)));
      case 'not':
        return this.#not(this.#part(query.term));
      default:
        return this.#term(query);
    }
  }

  /** The conjunction of the queries; negated ones are subtracted. */
  all(queries: readonly Query[]): Part {
    const wanted: TermExpression[] = [];
    const unwanted: TermExpression[] = [];
    let exact = true;
    for (const query of queries) {
      const part = this.#part(query.kind === 'not' ? query.term : query);
      exact &&= part.exact;
      if (query.kind !== 'not') {
        if (part.terms) wanted.push(part.terms);
      } else if (part.exact) {
        unwanted.push(part.terms ?? this.#everything);
      }
    }
    const terms = wanted.length > 0 ? and(wanted) : undefined;
    if (unwanted.length === 0) return { terms, exact };
    return { terms: { kind: 'without', of: this.ofTenant(terms), not: or(unwanted) }, exact };
  }

  #not({ terms, exact }: Part): Part {
    if (!exact) return { terms: undefined, exact: false };
    return { terms: { kind: 'without', of: this.#everything, not: terms ?? this.#everything }, exact };
  }

  #term(term: Term): Part {
    switch (term.kind) {
      case 'text':
        return any(term.phrases.map((phrase) => phrasePart(phrase, term.field === null)));
      case 'host':
      case 'key':
        return any(term.patterns.map((pattern) => this.#pattern(term.kind, pattern)));
      case 'ip':
      case 'source':
        return any(term.ranges.map((range) => this.#addresses(term.kind, range)));
      case 'level':
        return this.#values('level', term.names);
      case 'token':
      case 'rule':
        return this.#values(term.kind, term.ids);
      case 'panel':
        return { terms: or(term.panels.flatMap((panel) => this.#reaching(panel))), exact: true };
      case 'is':
        return any(term.states.map((state) => this.#state(state)));
      case 'after':
      case 'before':
        return { terms: undefined, exact: false };
    }
  }

  #values(field: ValueTermField, values: readonly string[]): Part {
    return { terms: or(values.map((value) => one(valueTerm(this.#tenant, field, value)))), exact: true };
  }

  #reaching({ id, tags }: PanelAddress): TermExpression[] {
    return [
      one(flagTerm(this.#tenant, 'panels')),
      one(valueTerm(this.#tenant, 'panel', id)),
      ...tags.map((tag) => one(valueTerm(this.#tenant, 'tag', tag))),
    ];
  }

  /** A pattern of hosts or keys: uses its prefix, and for hosts its suffix. */
  #pattern(field: 'host' | 'key', pattern: Pattern): Part {
    const literal = literalOf(pattern);
    if (literal !== undefined) return this.#values(field, [literal]);
    const parts = patternParts(pattern);
    const [first, last] = [parts[0], parts.at(-1)];
    const ends: TermExpression[] = [];
    if (typeof first === 'object') ends.push(one(valueTerm(this.#tenant, field, first.literal), true));
    if (field === 'host' && typeof last === 'object')
      ends.push(one(valueTerm(this.#tenant, 'tsoh', reversed(last.literal)), true));
    if (ends.length === 0) return { terms: undefined, exact: false };
    const isEndOnly = parts.length === 2 && parts.includes('*');
    return { terms: and(ends), exact: isEndOnly };
  }

  #addresses(field: AddressField, { low, high }: AddressPattern): Part {
    const blocks = [...families({ low, high })].flatMap(([from, upTo]) => blocksOf(from, upTo));
    const exact = blocks.length <= mostBlocks;
    const used = exact ? blocks : [...families({ low, high })].map(([from, upTo]) => commonBlock(from, upTo));
    const terms = used.map(({ family, digits }) => {
      const size = addressDigits[family].find((indexed) => indexed >= digits.length) as number;
      return one(addressTerm(this.#tenant, field, { family, size, digits }), digits.length < size);
    });
    return { terms: or(terms), exact };
  }

  #state(state: SearchState): Part {
    const flag = (name: 'muted' | 'throttled' | 'unrouted') => one(flagTerm(this.#tenant, name));
    switch (state) {
      case 'muted':
      case 'throttled':
        return { terms: flag(state), exact: true };
      case 'unrouted':
        return { terms: { kind: 'without', of: flag('unrouted'), not: flag('throttled') }, exact: true };
      case 'acknowledged':
        return { terms: this.#everything, exact: false };
      default: {
        const not = or([flag('muted'), flag('throttled'), flag('unrouted')]);
        return { terms: { kind: 'without', of: this.#everything, not }, exact: false };
      }
    }
  }
}

const one = (term: string, prefix = false): TermExpression => ({ kind: 'term', term, prefix });
const and = (of: readonly TermExpression[]) => joined('and', of);
const or = (of: readonly TermExpression[]) => joined('or', of);

function joined(kind: 'and' | 'or', of: readonly TermExpression[]): TermExpression {
  const flat = of.flatMap((part) => (part.kind === kind ? part.of : [part]));
  return flat.length === 1 ? (flat[0] as TermExpression) : { kind, of: flat };
}

function any(parts: readonly Part[]): Part {
  const exact = parts.every((part) => part.exact);
  const terms: TermExpression[] = [];
  for (const part of parts) {
    if (!part.terms) return { terms: undefined, exact };
    terms.push(part.terms);
  }
  return { terms: or(terms), exact };
}

/** The words of a phrase in any order and field; exact only for a single word anywhere. */
function phrasePart({ text, prefix }: Phrase, anywhere: boolean): Part {
  const words = wordsOf(text);
  if (words.length === 0) return { terms: undefined, exact: false };
  const isCut = words.some((word) => word.length > wordChars || (prefix && word.length === wordChars));
  const terms = words.map((word, i) => {
    const isWhole = word.length <= wordChars;
    return one(isWhole ? word : cut(word), prefix && i === words.length - 1 && isWhole);
  });
  return { terms: and(terms), exact: anywhere && words.length === 1 && !isCut };
}

const firstV4: AddressKey = Uint8Array.from([0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 255, 255, 0, 0, 0, 0]);
const lastV4: AddressKey = Uint8Array.from([0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 255, 255, 255, 255, 255, 255]);

/** Splits a range at the bounds of IPv4 within IPv6. */
export function* families({
  low,
  high,
}: {
  low: AddressKey;
  high: AddressKey;
}): Iterable<[AddressKey, AddressKey]> {
  const isBelow = compareAddresses(low, firstV4) < 0;
  const isAbove = compareAddresses(high, lastV4) > 0;
  if (isBelow) yield [low, lowest(high, neighbour(firstV4, -1))];
  if (compareAddresses(low, lastV4) <= 0 && compareAddresses(high, firstV4) >= 0)
    yield [isBelow ? firstV4 : low, isAbove ? lastV4 : high];
  if (isAbove) yield [compareAddresses(low, lastV4) > 0 ? low : neighbour(lastV4, 1), high];
}

const lowest = (a: AddressKey, b: AddressKey) => (compareAddresses(a, b) < 0 ? a : b);

function neighbour(key: AddressKey, step: 1 | -1): AddressKey {
  const hex = (BigInt(`0x${Buffer.from(key).toString('hex')}`) + BigInt(step)).toString(16).padStart(32, '0');
  return Uint8Array.from(Buffer.from(hex, 'hex'));
}

interface Block {
  readonly family: 4 | 6;
  /** The first hexadecimal digits of every address in the block. */
  readonly digits: string;
}

/** The fewest blocks that hold every address from `low` to `high` and no other; both are of one family. */
function blocksOf(low: AddressKey, high: AddressKey): Block[] {
  const { family, digits: from } = addressHex(low);
  const { digits: upTo } = addressHex(high);
  const blocks: Block[] = [];
  const visit = (prefix: string) => {
    if (blocks.length > mostBlocks) return;
    const first = prefix.padEnd(from.length, '0');
    const last = prefix.padEnd(from.length, 'f');
    if (last < from || first > upTo) return;
    if (first >= from && last <= upTo) blocks.push({ family, digits: prefix });
    else for (const digit of '0123456789abcdef') visit(prefix + digit);
  };
  visit('');
  return blocks;
}

function commonBlock(low: AddressKey, high: AddressKey): Block {
  const { family, digits: from } = addressHex(low);
  const { digits: upTo } = addressHex(high);
  let length = 0;
  while (length < from.length && from[length] === upTo[length]) length += 1;
  return { family, digits: from.slice(0, length) };
}
