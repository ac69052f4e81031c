/** Compiles a query to an expression over the terms of the index (`index-terms.ts`), which every store can run. */
import type { SearchedField } from '#contract/history/fields.ts';
import { labelStart } from '#contract/history/labels.ts';
import type { TenantId } from '../log/route.ts';
import type { PanelAddress } from '../log/target.ts';
import { blocksOf } from './address-blocks.ts';
import {
  type AddressField,
  addressDigits,
  addressTerm,
  alternatives,
  cut,
  excludedTerms,
  flagTerm,
  isOfTenant,
  joined,
  type LaterState,
  one,
  reversed,
  reversedTermOf,
  type TermExpression,
  type ValueTermField,
  valueTerm,
  wordChars,
} from './index-terms.ts';
import {
  type AddressPattern,
  conjuncts,
  contradict,
  excludesLive,
  isPatternTerm,
  type Phrase,
  type Query,
  type SearchState,
  type Term,
  timesOf,
} from './search-query.ts';
import { literalOf, type Pattern, patternParts, wordsOf } from './search-words.ts';

export interface CompiledQuery {
  /** Finds every match, and nothing else if `exact`. Only rows of this tenant. undefined: nothing matches. */
  readonly terms: TermExpression | undefined;
  /** Otherwise a row that was found must be tested too (`search-evaluate.ts`). */
  readonly exact: boolean;
  /** Every match was received at `after` or later, and before `before`. The terms do not contain the time. Unix milliseconds. */
  readonly after: number;
  readonly before: number;
}

/** The conditions that a store can find by terms, beyond the terms of its index. */
export interface StoreTerms {
  /** The states whose current rows the store finds by a term (`flagTerm`). */
  readonly later: readonly LaterState[];
  /** Whether the store tests the values in terms against a pattern. */
  readonly patterns: boolean;
  /** Whether the store looks up all terms, and so words too, among those of one tenant. */
  readonly isByTenant?: boolean;
}

type Rows = TermExpression | 'all' | 'none';

/** The rows of a part of the query: `all` also if terms cannot restrict them. */
interface Part {
  readonly rows: Rows;
  readonly exact: boolean;
}

export function compileQuery(
  query: Query,
  tenant: TenantId,
  store: StoreTerms = { later: [], patterns: false },
): CompiledQuery {
  const rest = conjuncts(query).filter(({ kind }) => kind !== 'after' && kind !== 'before');
  const noneIsLive = rest.some(excludesLive);
  const { rows, exact } = new Compiler(tenant, { noneIsLive, store }).all(rest);
  return { terms: ofTenant(rows, tenant, store), exact, ...timesOf(query) };
}

/** Words are shared by all tenants, so the tenant's own term is added unless a field term is present. */
function ofTenant(rows: Rows, tenant: TenantId, store: StoreTerms): TermExpression | undefined {
  if (rows === 'none') return undefined;
  const everything = one(flagTerm(tenant, 'all'));
  if (rows === 'all') return everything;
  return store.isByTenant || isOfTenant(rows) ? rows : { kind: 'and', of: [rows, everything] };
}

class Compiler {
  readonly #tenant: TenantId;
  readonly #noneIsLive: boolean;
  readonly #store: StoreTerms;
  readonly #everything: TermExpression & { readonly kind: 'term' };

  /** `noneIsLive`: for notifications that are not on panels now. */
  constructor(
    tenant: TenantId,
    { noneIsLive, store }: { readonly noneIsLive: boolean; readonly store: StoreTerms },
  ) {
    this.#tenant = tenant;
    this.#noneIsLive = noneIsLive;
    this.#store = store;
    this.#everything = one(flagTerm(tenant, 'all'));
  }

  /** The conjunction of the queries. */
  all(queries: readonly Query[]): Part {
    if (contradict(queries)) return { rows: 'none', exact: true };
    const parts = queries.map((query) => this.#part(query));
    return { rows: this.#and(parts.map(({ rows }) => rows)), exact: parts.every(({ exact }) => exact) };
  }

  #part(query: Query): Part {
    switch (query.kind) {
      case 'all':
        return { rows: 'all', exact: true };
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

  #not({ rows, exact }: Part): Part {
    return { rows: exact ? this.#without('all', rows) : 'all', exact };
  }

  /** Parts that only exclude rows are subtracted from the other parts, so that not all rows of the tenant must be read. */
  #and(given: readonly Rows[]): Rows {
    const wanted: TermExpression[] = [];
    const unwanted: TermExpression[] = [];
    for (const rows of given) {
      if (rows === 'none') return 'none';
      if (rows === 'all') continue;
      if (rows.kind === 'without' && rows.of === this.#everything) unwanted.push(rows.not);
      else wanted.push(rows);
    }
    const excluded = new Set(unwanted.flatMap(excludedTerms));
    if (wanted.some((part) => alternatives(part).every((term) => excluded.has(term)))) return 'none';
    const rows = wanted.length > 0 ? joined('and', wanted) : 'all';
    return unwanted.length > 0 ? this.#without(rows, joined('or', unwanted)) : rows;
  }

  #without(of: Rows, not: Rows): Rows {
    if (of === 'none' || not === 'all') return 'none';
    if (not === 'none') return of;
    return { kind: 'without', of: of === 'all' ? this.#everything : of, not };
  }

  #term(term: Term): Part {
    if (isPatternTerm(term)) return any(term.patterns.map((pattern) => this.#pattern(term.kind, pattern)));
    switch (term.kind) {
      case 'text':
        return any(term.phrases.map((phrase) => this.#phrase(phrase, term.field === null)));
      case 'ip':
      case 'source':
        return any(term.ranges.map((range) => this.#addresses(term.kind, range)));
      case 'level':
        return this.#values('level', term.names);
      case 'token':
      case 'rule':
        return this.#values(term.kind, term.ids);
      case 'panel':
        return {
          rows: joined(
            'or',
            term.panels.flatMap((panel) => this.#reaching(panel)),
          ),
          exact: true,
        };
      case 'is':
        return any(term.states.map((state) => this.#state(state)));
      case 'after':
      case 'before':
        return { rows: 'all', exact: false };
    }
  }

  /** The words of a phrase in any order and field; exact only for a single word anywhere. */
  #phrase({ text, prefix }: Phrase, anywhere: boolean): Part {
    const words = wordsOf(text);
    const last = words.at(-1);
    if (last === undefined) return { rows: 'all', exact: false };
    const isCut = words.some((word) => word.length > wordChars || (prefix && word.length === wordChars));
    // The terms of fields begin with the number of the tenant.
    const isOfFields = prefix && String(this.#tenant).startsWith(last);
    const terms = words.map((word, i) => {
      const isWhole = word.length <= wordChars;
      return one(isWhole ? word : cut(word), prefix && i === words.length - 1 && isWhole);
    });
    return { rows: joined('and', terms), exact: anywhere && words.length === 1 && !isCut && !isOfFields };
  }

  #values(field: ValueTermField, values: readonly string[]): Part {
    const terms = values.map((value) => one(valueTerm(this.#tenant, field, value)));
    return { rows: joined('or', terms), exact: true };
  }

  #reaching({ id, tags }: PanelAddress): TermExpression[] {
    return [
      one(flagTerm(this.#tenant, 'panels')),
      one(valueTerm(this.#tenant, 'panel', id)),
      ...tags.map((tag) => one(valueTerm(this.#tenant, 'tag', tag))),
    ];
  }

  /** Uses the prefix, and the suffix if the index has the values reversed too, where values in terms are not tested. */
  #pattern(field: SearchedField, pattern: Pattern): Part {
    const literal = literalOf(pattern);
    if (literal !== undefined) return this.#values(field, [literal]);
    const parts = patternParts(pattern);
    const [first, last] = [parts[0], parts.at(-1)];
    // `env=*` finds a label with any value.
    if (field === 'label' && typeof first === 'object' && last === '*' && parts.length === 2) {
      if (labelStart(first.literal) === first.literal) return this.#values('labelname', [first.literal]);
    }
    const ends: TermExpression[] = [];
    if (typeof first === 'object') ends.push(one(valueTerm(this.#tenant, field, first.literal), true));
    const back = reversedTermOf(field);
    if (back !== undefined && typeof last === 'object')
      ends.push(one(valueTerm(this.#tenant, back, reversed(last.literal)), true));
    const isEndOnly = ends.length === 1 && parts.length === 2 && parts.includes('*');
    if (this.#store.patterns && !isEndOnly) {
      const begin = one(valueTerm(this.#tenant, field, typeof first === 'object' ? first.literal : ''), true);
      return { rows: { ...begin, pattern }, exact: true };
    }
    if (ends.length === 0) return { rows: 'all', exact: false };
    return { rows: joined('and', ends), exact: isEndOnly };
  }

  #addresses(field: AddressField, range: AddressPattern): Part {
    const { blocks, exact } = blocksOf(range);
    const terms = blocks.map(({ family, digits }) => {
      const size = addressDigits[family].find((indexed) => indexed >= digits.length) as number;
      return one(addressTerm(this.#tenant, field, { family, size, digits }), digits.length < size);
    });
    return { rows: joined('or', terms), exact };
  }

  #state(state: SearchState): Part {
    const flag = (name: 'muted' | 'throttled' | 'unrouted' | LaterState) => one(flagTerm(this.#tenant, name));
    if (state === 'live' && this.#noneIsLive) return { rows: 'none', exact: true };
    // The store may return rows of other tenants, so the tenant's own term is added.
    if (this.#isKnown(state))
      return { rows: { kind: 'and', of: [flag(state as LaterState), this.#everything] }, exact: true };
    switch (state) {
      case 'muted':
      case 'throttled':
        return { rows: flag(state), exact: true };
      case 'unrouted':
        return { rows: this.#without(flag('unrouted'), flag('throttled')), exact: true };
      default: {
        if (state === 'acknowledged' || state === 'shelved' || state === 'suppressed')
          return { rows: 'all', exact: false };
        const standing = ['live', 'shelved', 'suppressed'] as const;
        const others: readonly LaterState[] = state === 'unseen' ? ['shown'] : ['cleared', ...standing];
        const exact = others.every((other) => this.#isKnown(other));
        const never = (['muted', 'throttled', 'unrouted', ...(exact ? others : [])] as const).map(flag);
        const not = joined('or', never);
        return { rows: this.#without('all', not), exact };
      }
    }
  }

  #isKnown(state: SearchState | LaterState): boolean {
    return (this.#store.later as readonly (SearchState | LaterState)[]).includes(state);
  }
}

function any(parts: readonly Part[]): Part {
  const exact = parts.every((part) => part.exact);
  if (parts.some(({ rows }) => rows === 'all')) return { rows: 'all', exact };
  const terms = parts.flatMap(({ rows }) => (typeof rows === 'string' ? [] : [rows]));
  return { rows: terms.length > 0 ? joined('or', terms) : 'none', exact };
}
