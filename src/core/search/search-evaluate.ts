/** Whether a notification matches a query, decided on the notification itself: what no index knows yet, or cannot decide. */
import { addressKey, compareAddresses } from '../addresses.ts';
import type { NotificationDraft } from '../ports.ts';
import { isEmpty, reaches } from '../target.ts';
import { matchesPattern } from './search-glob.ts';
import type { AddressPattern, Query, SearchState, Term } from './search-query.ts';
import { phraseMatcher } from './search-words.ts';

/** What of a notification a search can ask about. */
export interface SearchableNotification
  extends Pick<
    NotificationDraft,
    | 'receivedAt'
    | 'title'
    | 'message'
    | 'level'
    | 'ip'
    | 'host'
    | 'key'
    | 'sourceIp'
    | 'tokenId'
    | 'route'
    | 'throttledOn'
    | 'expiresAt'
  > {
  readonly cleared: boolean;
  /** A panel has reported showing it. */
  readonly shown: boolean;
}

export type Matcher = (given: SearchableNotification) => boolean;

/** Tests notifications against the query as of `now` (Unix milliseconds). What it takes from the query it works out once. */
export function matcherOf(query: Query, now: number): Matcher {
  switch (query.kind) {
    case 'all':
      return () => true;
    case 'and': {
      const all = query.terms.map((term) => matcherOf(term, now));
      return (given) => all.every((matches) => matches(given));
    }
    case 'or': {
      const any = query.terms.map((term) => matcherOf(term, now));
      return (given) => any.some((matches) => matches(given));
    }
    case 'not': {
      const matches = matcherOf(query.term, now);
      return (given) => !matches(given);
    }
    default:
      return termMatcher(query, now);
  }
}

function termMatcher(term: Term, now: number): Matcher {
  switch (term.kind) {
    case 'text': {
      const { field } = term;
      const phrases = term.phrases.map(({ text, prefix }) => phraseMatcher(text, prefix));
      return ({ title, message }) =>
        phrases.some((isIn) => (field !== 'message' && isIn(title)) || (field !== 'title' && isIn(message)));
    }
    case 'host':
      return ({ host }) =>
        host !== null && term.patterns.some((pattern) => matchesPattern(pattern, host.toLowerCase()));
    case 'key':
      return ({ key }) => key !== null && term.patterns.some((pattern) => matchesPattern(pattern, key));
    case 'ip':
      return ({ ip }) => ip !== null && isInAny(term.ranges, ip);
    case 'source':
      return ({ sourceIp }) => isInAny(term.ranges, sourceIp);
    case 'level':
      return ({ level }) => term.names.includes(level);
    case 'token':
      return ({ tokenId }) => term.ids.includes(tokenId);
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
  const { route, throttledOn, cleared, shown, expiresAt } = given;
  if (state === 'muted') return route.muted;
  if (state === 'throttled') return throttledOn !== null;
  if (state === 'cleared') return cleared;
  const isForPanels = !route.muted && throttledOn === null && !isEmpty(route.target);
  switch (state) {
    case 'unrouted':
      return !route.muted && throttledOn === null && isEmpty(route.target);
    case 'unseen':
      return isForPanels && !shown;
    case 'live':
      return isForPanels && !cleared && !(expiresAt !== null && expiresAt <= now);
    case 'expired':
      return isForPanels && !cleared && expiresAt !== null && expiresAt <= now;
  }
}
