/** The terms of a query as PostgreSQL's index is asked for them. */
import type { TenantId } from '#core/ports.ts';
import { flagTerm } from '#core/search/index-terms.ts';
import type { TermExpression } from '#core/search/search-compile.ts';
import { type TermDialect, writeTerms } from '../log-search.ts';

/** Bytes. */
const longestTerm = 2_046;
/** No notification has this term. */
const nothing = "'0.none'";

const dialect: TermDialect = {
  and: ' & ',
  or: ' | ',
  without: ' & !',
  term(term, prefix) {
    // PostgreSQL takes no longer one, and none is indexed.
    if (Buffer.byteLength(term) > longestTerm) return nothing;
    return `'${term.replace(/['\\]/g, '$&$&')}'${prefix ? ':*' : ''}`;
  },
};

/** A term expression as PostgreSQL takes it. */
export const tsqueryOf = (terms: TermExpression | undefined): string =>
  terms ? writeTerms(terms, dialect) : nothing;

/** What has to be in a row besides the term that all of a tenant's rows have, and what must not. */
function partsOf(terms: TermExpression | undefined, tenant: TenantId) {
  const everything = flagTerm(tenant, 'all');
  const [wanted, unwanted]: [TermExpression[], TermExpression[]] = [[], []];
  const split = (part: TermExpression): void => {
    if (part.kind === 'and') part.of.forEach(split);
    else if (part.kind === 'without') {
      split(part.of);
      unwanted.push(part.not);
    } else if (part.kind !== 'term' || part.term !== everything) wanted.push(part);
  };
  if (terms) split(terms);
  return { wanted, unwanted };
}

/** The same rows of this tenant, and maybe rows of others. null: all of them. */
export function termsAlone(terms: TermExpression | undefined, tenant: TenantId): string | null {
  const { wanted, unwanted } = partsOf(terms, tenant);
  const everything: TermExpression = { kind: 'term', term: flagTerm(tenant, 'all'), prefix: false };
  const of: TermExpression = wanted.length > 0 ? { kind: 'and', of: wanted } : everything;
  if (unwanted.length > 0) return tsqueryOf({ kind: 'without', of, not: { kind: 'or', of: unwanted } });
  return wanted.length > 0 ? tsqueryOf(of) : null;
}

const has = (part: TermExpression, test: (term: TermExpression) => boolean): boolean => {
  if (part.kind === 'term') return test(part);
  const of = part.kind === 'without' ? [part.of, part.not] : part.of;
  return of.some((one) => has(one, test));
};

/** The index would read the lists of all terms that begin so. */
const isSlow = (part: TermExpression) => has(part, (term) => term.kind === 'term' && term.prefix);

const allOf = (of: readonly TermExpression[]) => (of.length > 0 ? tsqueryOf({ kind: 'and', of }) : null);

/** Of what has to be in a row, that which restricts most rows: not one of several of which all rows have one. */
function restricting(terms: TermExpression | undefined, tenant: TenantId) {
  const everything = flagTerm(tenant, 'all');
  const { wanted, unwanted } = partsOf(terms, tenant);
  const isAll = (term: TermExpression) => term.kind === 'term' && term.term === everything;
  return { wanted: wanted.filter((part) => !has(part, isAll)), unwanted };
}

/** Terms that find more rows than these, without what the index finds slowly; null: they have nothing that is slow, or nothing else. */
export function quickTerms(terms: TermExpression | undefined, tenant: TenantId): string | null {
  const { wanted, unwanted } = restricting(terms, tenant);
  return [...wanted, ...unwanted].some(isSlow) ? allOf(wanted.filter((part) => !isSlow(part))) : null;
}

/** Terms that find more rows than these, for the index beside a list of rows; null: the list alone is quicker. */
export function termsBesideList(terms: TermExpression | undefined, tenant: TenantId): string | null {
  const { wanted } = restricting(terms, tenant);
  return allOf(wanted.filter((part) => !isSlow(part))) ?? allOf(wanted);
}
