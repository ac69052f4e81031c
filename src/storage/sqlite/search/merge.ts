/** Several conditions on the same small set of values as one list of them. */
import type { Query, SearchState } from '../../../core/search/search-query.ts';
import type { Field } from '../index/postings.ts';
import { listed, type Source } from './candidates.ts';
import { mutedRoutes, routesOf, unroutedRoutes } from './predicate.ts';
import { listWithout, type SourceScope, sourceOf } from './source.ts';

/** The lists of all levels or tokens that are named and not excluded. */
export function namedSource(
  kind: 'level' | 'token',
  terms: readonly Query[],
  scope: SourceScope,
): Source | undefined {
  return remaining(kind, terms, scope, (term) =>
    term.kind === 'level' ? term.names : term.kind === 'token' ? term.ids : [],
  );
}

/** Whether the route alone decides it. */
export function isRouted(term: Query): boolean {
  if (term.kind === 'rule' || term.kind === 'panel') return true;
  if (term.kind === 'is') return term.states.every((state) => state === 'muted' || state === 'unrouted');
  return term.kind === 'not' && (term.term.kind === 'rule' || term.term.kind === 'panel');
}

/** The lists of all routes that are meant and not excluded; `states` are all conditions on the state. */
export function routeSource(
  terms: readonly Query[],
  states: readonly Query[],
  scope: SourceScope,
): Source | undefined {
  return remaining('route', terms, scope, (term) => {
    if (term.kind === 'rule' || term.kind === 'panel') return routesOf(term, scope);
    return possible(term, states).flatMap((state) =>
      state === 'muted' ? mutedRoutes(scope) : unroutedRoutes(scope),
    );
  });
}

function remaining<T extends string | number>(
  field: Field,
  terms: readonly Query[],
  scope: SourceScope,
  valuesOf: (term: Query) => readonly T[],
): Source | undefined {
  let wanted: readonly T[] | undefined;
  const unwanted = new Set<T>();
  for (const term of terms) {
    const values = new Set(valuesOf(term.kind === 'not' ? term.term : term));
    if (term.kind === 'not') for (const value of values) unwanted.add(value);
    else wanted = wanted ? wanted.filter((value) => values.has(value)) : [...values];
  }
  return wanted
    ? listed(
        field,
        wanted.filter((value) => !unwanted.has(value)),
        scope,
      )
    : listWithout(field, unwanted, scope);
}

/** States a notification can be in at once, besides each with itself. */
const together: readonly (readonly [SearchState, SearchState])[] = [
  ['muted', 'throttled'],
  ['unseen', 'live'],
  ['unseen', 'expired'],
  ['unseen', 'cleared'],
];
const canMeet = (a: SearchState, b: SearchState) =>
  a === b || together.some(([one, other]) => (a === one && b === other) || (a === other && b === one));

/** The states of a condition that no other condition on the state rules out. */
function possible(term: Query, all: readonly Query[]): readonly SearchState[] {
  if (term.kind !== 'is') return [];
  return term.states.filter((state) =>
    all.every((other) => other.kind !== 'is' || other.states.some((met) => canMeet(state, met))),
  );
}

/** Most states exclude each other, which no estimate can know. */
export function stateSource(term: Query, all: readonly Query[], scope: SourceScope): Source | undefined {
  const states = possible(term, all);
  return states.length === 0 ? listed('state', [], scope) : sourceOf({ kind: 'is', states }, scope);
}
