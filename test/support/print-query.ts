import { isPatternTerm, type Query, type Term } from '#core/search/search-query.ts';
import { literalPattern } from '#core/search/search-words.ts';

/** Prints a query so that parsing the text with the same names gives the same query. */
export function printQuery(query: Query): string {
  switch (query.kind) {
    case 'all':
      return '';
    case 'and':
      return query.terms.map((term) => grouped(term, term.kind === 'or')).join(' ');
    case 'or':
      return query.terms.map(printQuery).join(' OR ');
    case 'not':
      return `-${grouped(query.term, query.term.kind === 'and' || query.term.kind === 'or')}`;
    default:
      return printTerm(query);
  }
}

const grouped = (query: Query, needed: boolean) => (needed ? `(${printQuery(query)})` : printQuery(query));

function printTerm(term: Term): string {
  if (isPatternTerm(term)) return `${term.kind}:${term.patterns.map(quoted).join(',')}`;
  switch (term.kind) {
    case 'text': {
      const phrases = term.phrases
        .map(({ text, prefix }) => `${quoted(literalPattern(text))}${prefix ? '*' : ''}`)
        .join(',');
      return term.field === null ? phrases : `${term.field}:${phrases}`;
    }
    case 'ip':
    case 'source':
      return `${term.kind}:${term.ranges.map(({ text }) => quoted(literalPattern(text))).join(',')}`;
    case 'level':
      return `level:${term.names.join(',')}`;
    case 'token':
    case 'rule':
      return `${term.kind}:${term.ids.map(quotedLiteral).join(',')}`;
    case 'panel':
      return `panel:${term.panels.map(({ id }) => quotedLiteral(id)).join(',')}`;
    case 'is':
      return `is:${term.states.join(',')}`;
    case 'after':
    case 'before':
      return `${term.kind}:${new Date(term.at).toISOString()}`;
  }
}

const quotedLiteral = (text: string) => quoted(literalPattern(text));

/** A quoted pattern: its own escapes stay, and quotes are escaped. */
const quoted = (pattern: string) => `"${pattern.replaceAll('"', '\\"')}"`;
