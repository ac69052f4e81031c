/** The search parameters of the pages' URLs, which may contain anything. */
import { type AlarmsTab, alarmsTabs, type StandingState } from '#contract/history/alarm-states.ts';
import type { RuleConditions, RuleWhen } from '#contract/routing/rule.ts';

type Raw = Readonly<Record<string, unknown>>;

/** The parameters with a text; the router reads digits as a number. */
function texts<Name extends string>(search: Raw, ...names: readonly Name[]): { [N in Name]?: string } {
  const found: { [N in Name]?: string } = {};
  for (const name of names) {
    const value = search[name];
    if (typeof value === 'number' || (typeof value === 'string' && value !== '')) found[name] = String(value);
  }
  return found;
}

export interface HistorySearch {
  /** The query. */
  q?: string;
  /** The notification that is open. */
  id?: string;
  /** New ones come in by themselves. */
  live?: true;
}

export const readHistorySearch = (search: Raw): HistorySearch => ({
  ...texts(search, 'q', 'id'),
  ...(search.live === true && { live: true }),
});

/** What a tab lists. */
export const statesOf = (tab: AlarmsTab): readonly StandingState[] =>
  tab === 'active' ? ['open', 'acknowledged'] : [tab];

export interface AlarmsSearch {
  q?: string;
  /** The first is not in the address. */
  tab?: Exclude<AlarmsTab, 'open'>;
  /** How they are grouped, unless by what is similar: `host`, `none`, or a label, as in `label:site`. */
  group?: string;
  /** The alarm that is open: a notification of it. */
  id?: string;
}

const isTab = (given: unknown): given is Exclude<AlarmsTab, 'open'> =>
  given !== 'open' && alarmsTabs.some((tab) => tab === given);

export const readAlarmsSearch = (search: Raw): AlarmsSearch => ({
  ...texts(search, 'q', 'group', 'id'),
  ...(isTab(search.tab) && { tab: search.tab }),
});

export interface PanelsSearch {
  /** The code of a screen that waits for approval. */
  pair?: string;
  /** The panel that is open. */
  id?: string;
}

export const readPanelsSearch = (search: Raw): PanelsSearch => texts(search, 'pair', 'id');

export interface RulesSearch {
  /** The rule that is open, or `new`. */
  id?: string;
  /** The notification to explain. */
  explain?: string;
  /** Start a rule that mutes this host. */
  mute?: string;
  /** Start a rule that mutes what these conditions match. */
  muteWhen?: RuleWhen;
  /** With `muteWhen`: how many more hosts or titles were selected than the conditions have. */
  leftOut?: string;
  /** With `muteWhen`: when the rule ends, in ISO 8601. */
  until?: string;
  /** Start a rule with the conditions of this search. */
  fromSearch?: string;
  /** Start a rule that mutes what this search finds. */
  muteSearch?: string;
  /** Start a rule as a copy of this one. */
  copy?: string;
  /** Start with one of the examples. */
  example?: string;
}

export function readRulesSearch(search: Raw): RulesSearch {
  const muteWhen = readWhen(search.muteWhen);
  return {
    ...texts(search, 'id', 'explain', 'mute', 'leftOut', 'fromSearch', 'muteSearch', 'copy', 'example'),
    ...(muteWhen && { muteWhen }),
    ...(!Number.isNaN(Date.parse(String(search.until))) && { until: String(search.until) }),
  };
}

/** Conditions in the shape that an editor can show; the server checks their values. undefined for anything else. */
function readWhen(given: unknown): RuleWhen | undefined {
  if (!isObject(given)) return undefined;
  const when = readConditions(given);
  const not = isObject(given.not) ? readConditions(given.not) : {};
  if (Object.keys(when).length === 0) return undefined;
  return { ...when, ...(Object.keys(not).length > 0 && { not }) };
}

function readConditions({ host, ip, key, level, token, minLevel, labels, title }: Raw): RuleConditions {
  const lists = { host, ip, key, level, token };
  const [how, patterns] = isObject(title) ? (Object.entries(title)[0] ?? []) : [];
  return {
    ...Object.fromEntries(Object.entries(lists).filter(([, list]) => isTexts(list))),
    ...(typeof minLevel === 'string' && { minLevel }),
    ...(isObject(labels) && Object.values(labels).every(isTexts) && { labels }),
    ...((how === 'contains' || how === 'glob') &&
      (typeof patterns === 'string' || isTexts(patterns)) && { title: { [how]: patterns } }),
  } as RuleConditions;
}

const isObject = (value: unknown): value is Raw =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
const isTexts = (value: unknown): value is string[] =>
  Array.isArray(value) && value.length > 0 && value.every((each) => typeof each === 'string');

/** Of a list: the entry that is open, by its ID or name. */
export const readListSearch = (search: Raw): { id?: string } => texts(search, 'id');

/** Of a list that has a second tab beside its first. */
const readTabSearch =
  <Tab extends string>(tab: Tab) =>
  (search: Raw): { tab?: Tab; id?: string } => ({
    ...readListSearch(search),
    ...(search.tab === tab && { tab }),
  });

export const readTokensSearch = readTabSearch('keys');
export const readIntegrationsSearch = readTabSearch('mappings');

interface SignInSearch {
  /** The page to return to. */
  to?: string;
  /** Why signing in at an identity provider failed. */
  error?: string;
}

/** `to` must be a path of this server: a link to the sign-in must not lead elsewhere. */
export function readSignInSearch(search: Raw): SignInSearch {
  const { to, error } = texts(search, 'to', 'error');
  return { ...(to && /^\/(?![/\\])/.test(to) && { to }), ...(error && { error }) };
}

/** Of the first page: the code of a screen, as its QR code carries it. */
export const readStartSearch = (search: Raw): { pair?: string } => texts(search, 'pair');
