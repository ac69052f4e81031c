/** Tests a notification against a query, if it is not indexed yet or the terms do not decide. */
import { type PatternFieldName, searchedValues } from '#contract/history/fields.ts';
import { addressKey, compareAddresses } from '../addresses.ts';
import type { NotificationDraft } from '../log/log.ts';
import { isEmpty, reaches } from '../log/target.ts';
import {
  type AddressPattern,
  isPatternTerm,
  type Query,
  type SearchState,
  type Term,
} from './search-query.ts';
import { patternMatcher, phraseMatcher, wordsOf } from './search-words.ts';

/** The fields of a notification that a query can test. */
export interface SearchableNotification
  extends Pick<
    NotificationDraft,
    | 'receivedAt'
    | 'title'
    | 'message'
    | 'level'
    | 'ip'
    | PatternFieldName
    | 'labels'
    | 'sourceIp'
    | 'tokenId'
    | 'route'
    | 'throttledOn'
    | 'expiresAt'
  > {
  readonly cleared: boolean;
  /** A panel has reported showing it. */
  readonly shown: boolean;
  readonly acknowledged: boolean;
  /** Its alarm is off the panels: until a time, or while its cause stands. null: it is not. */
  readonly off: 'shelved' | 'suppressed' | null;
}

export type Matcher = (given: SearchableNotification) => boolean;

/** Splits the text of a notification into words once, even when the query has several phrases. */
class TextWords {
  #text = '';
  #words: readonly string[] = [];

  of(text: string): readonly string[] {
    if (text !== this.#text) {
      this.#text = text;
      this.#words = wordsOf(text);
    }
    return this.#words;
  }
}

interface QueryContext {
  readonly now: number;
  readonly title: TextWords;
  readonly message: TextWords;
}

/** Tests notifications against the query as of `now` (Unix milliseconds). The query is prepared once, not for each notification. */
export function matcherOf(query: Query, now: number): Matcher {
  return queryMatcher(query, { now, title: new TextWords(), message: new TextWords() });
}

function queryMatcher(query: Query, context: QueryContext): Matcher {
  switch (query.kind) {
    case 'all':
      return () => true;
    case 'and': {
      const all = query.terms.map((term) => queryMatcher(term, context));
      return (given) => all.every((matches) => matches(given));
    }
    case 'or': {
      const any = query.terms.map((term) => queryMatcher(term, context));
      return (given) => any.some((matches) => matches(given));
    }
    case 'not': {
      const matches = queryMatcher(query.term, context);
      return (given) => !matches(given);
    }
    default:
      return termMatcher(query, context);
  }
}

function termMatcher(term: Term, { now, title, message }: QueryContext): Matcher {
  if (isPatternTerm(term)) {
    const patterns = term.patterns.map(patternMatcher);
    return (given) =>
      searchedValues(term.kind, given).some((value) => patterns.some((matches) => matches(value)));
  }
  switch (term.kind) {
    case 'text': {
      const { field } = term;
      const phrases = term.phrases.map(({ text, prefix }) => phraseMatcher(text, prefix));
      return (given) =>
        phrases.some(
          (isIn) =>
            (field !== 'message' && isIn(title.of(given.title))) ||
            (field !== 'title' && isIn(message.of(given.message))),
        );
    }
    case 'ip':
      return ({ ip }) => ip !== null && isInAny(term.ranges, ip);
    case 'source':
      return ({ sourceIp }) => isInAny(term.ranges, sourceIp);
    case 'level':
      return ({ level }) => term.names.includes(level);
    case 'token':
      return ({ tokenId, route: { origin } }) =>
        term.ids.includes(tokenId) || (origin !== undefined && term.ids.includes(origin));
    case 'rule':
      return ({ route }) => route.rules.some(({ id }) => term.ids.includes(id));
    case 'panel':
      return ({ route }) => !route.muted && term.panels.some((panel) => reaches(route.target, panel));
    case 'is':
      return (given) => term.states.some((state) => isIn(state, given, now));
    case 'after':
      return ({ receivedAt }) => receivedAt >= term.at;
    case 'before':
      return ({ receivedAt }) => receivedAt < term.at;
  }
}

function isInAny(ranges: readonly AddressPattern[], address: string): boolean {
  const key = addressKey(address);
  return ranges.some(({ low, high }) => compareAddresses(low, key) <= 0 && compareAddresses(key, high) <= 0);
}

function isIn(state: SearchState, given: SearchableNotification, now: number): boolean {
  const { route, throttledOn, expiresAt } = given;
  const isForPanels = !route.muted && throttledOn === null && !isEmpty(route.target);
  const isStanding = !(expiresAt !== null && expiresAt <= now) && !given.cleared;
  switch (state) {
    case 'muted':
      return route.muted;
    case 'throttled':
      return throttledOn !== null;
    case 'cleared':
      return given.cleared;
    case 'acknowledged':
      return given.acknowledged;
    case 'unrouted':
      return !route.muted && throttledOn === null && isEmpty(route.target);
    case 'unseen':
      return isForPanels && !given.shown;
    case 'live':
      return isForPanels && isStanding && given.off === null;
    case 'shelved':
    case 'suppressed':
      return isForPanels && isStanding && given.off === state;
    case 'expired':
      return isForPanels && expiresAt !== null && expiresAt <= now && !given.cleared;
  }
}
