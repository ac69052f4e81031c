/** Boolean expressions over the terms of an index (`index-terms.ts`). */
import type { Pattern } from './search-glob.ts';

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
