/** Conditions of which no notification fulfils all. */
import { compareAddresses } from '../addresses.ts';
import type { AddressPattern, Query, SearchState } from './search-query.ts';

/** A notification for panels is in one of these states at a time. */
const lifetimes: readonly SearchState[] = ['live', 'expired', 'cleared'];
/** No notification in one of these states is on panels. */
const offPanels: readonly SearchState[] = ['expired', 'cleared', 'muted', 'throttled', 'unrouted'];

export const excludesLive = (query: Query) =>
  query.kind === 'is' && query.states.every((state) => offPanels.includes(state));

/** Whether two of some conditions that all have to hold exclude each other. */
export const contradict = (queries: readonly Query[]): boolean =>
  queries.some((one, i) => queries.slice(i + 1).some((other) => exclude(one, other)));

/** Whether no notification can fulfil both conditions, as it has one lifetime, one level and one address. */
function exclude(one: Query, other: Query): boolean {
  if (one.kind === 'is' && other.kind === 'is') {
    const both = [...one.states, ...other.states];
    return both.every((state) => lifetimes.includes(state)) && !shareAny(one.states, other.states);
  }
  if (one.kind === 'level' && other.kind === 'level') return !shareAny(one.names, other.names);
  if ((one.kind !== 'ip' && one.kind !== 'source') || one.kind !== other.kind) return false;
  const meet = (a: AddressPattern, b: AddressPattern) =>
    compareAddresses(a.low, b.high) <= 0 && compareAddresses(b.low, a.high) <= 0;
  return !one.ranges.some((range) => other.ranges.some((another) => meet(range, another)));
}

const shareAny = (some: readonly string[], others: readonly string[]) =>
  some.some((value) => others.includes(value));
