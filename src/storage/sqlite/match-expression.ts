import type { TermExpression } from '#core/search/search-compile.ts';

/** A term expression as FTS5 takes it. A term in double quotes is one token, whatever it holds. */
export function matchExpression(terms: TermExpression): string {
  switch (terms.kind) {
    case 'term':
      return `"${terms.term}"${terms.prefix ? ' *' : ''}`;
    case 'and':
      return `(${terms.of.map(matchExpression).join(' AND ')})`;
    case 'or':
      return `(${terms.of.map(matchExpression).join(' OR ')})`;
    case 'without':
      return `(${matchExpression(terms.of)} NOT ${matchExpression(terms.not)})`;
  }
}
