/** Searches of every kind, over a history made by history-data.ts. */
import type { SearchContext } from '#core/search/search-terms.ts';
import { hostAddress, hostName, newest, panelId, panelTags, tokenId } from './history-data.ts';
import { Dice } from './history-text.ts';

const dice = new Dice(7);
const numbers = (count: number) => Array.from({ length: count }, (_, number) => number);

/** The names that searches use. */
export const context: SearchContext = {
  now: newest,
  timeZone: 'UTC',
  levels: ['success', 'info', 'warning', 'error', 'critical'].map((name, i) => ({
    name,
    rank: 10 * (i + 1),
  })),
  deletedPanels: [],
  panels: numbers(12).map((number) => ({
    id: panelId(number),
    name: `panel ${number}`,
    tags: panelTags(number),
  })),
  tokens: numbers(40).map((number) => ({ id: tokenId(number), name: `token ${number}` })),
  rules: numbers(10).map((number) => ({ id: `rule-${number}`, name: `rule ${number}` })),
};

const host = () => hostName(dice.below(1000));
const day = (ago: number) => new Date(newest - ago * 86_400_000).toISOString().slice(0, 10);

/** Each function returns a different search of its kind on every call. */
export const kinds: Readonly<Record<string, () => string>> = {
  everything: () => '',
  'common word': () => dice.of(['disk', 'connection', 'high', 'failed', 'after']),
  'rare word': () => `v${dice.below(9)}.${dice.below(40)}.${dice.below(10)}`,
  'two words': () =>
    `${dice.of(['disk', 'backup', 'error'])} ${dice.of(['timed', 'refused', 'postgres', 'kafka'])}`,
  phrase: () =>
    dice.of([
      '"connection refused"',
      '"timed out after"',
      '"backup job redis"',
      '"signed in"',
      '"lag is 42 s"',
    ]),
  prefix: () => dice.of(['conn*', 'post*', 'dis*', 'verb*', 'trace*', 'redi*', 'q*']),
  title: () => `title:${dice.of(['disk', 'reachable', '"failed"', 'deploy*'])}`,
  host: () => `host:${host()}`,
  hosts: () => `host:${host()},${host()},${host()}`,
  'host glob': () => `host:${dice.of(['db-*', 'web-1*', '*-07.example.com', 'edge-9?.*', '*'])}`,
  ip: () => `ip:${hostAddress(dice.below(1000))}`,
  'ip block': () => `ip:10.${dice.below(4)}.${dice.below(64)}.0/24`,
  'wide ip block': () => `ip:10.${dice.below(4)}.0.0/${dice.of([16, 18, 8])}`,
  source: () => `source:192.0.2.${dice.skewed(40)}`,
  'source block': () => `source:192.0.2.${dice.below(3) * 16}/28`,
  level: () => `level:${dice.of(['success', 'info', 'warning', 'error', 'critical'])}`,
  'level by rank': () => `level:${dice.of(['>=warning', '>=error', '<warning', '>error'])}`,
  token: () => `token:"token ${dice.skewed(40)}"`,
  panel: () => `panel:"panel ${dice.below(12)}"`,
  rule: () => `rule:"rule ${1 + dice.below(9)}"`,
  key: () => `key:"check:${host()}:${dice.below(5)}"`,
  'key glob': () => `key:"${dice.of([`check:${host()}:*`, 'check:db-*', '*:3'])}"`,
  muted: () => 'is:muted',
  live: () => 'is:live',
  expired: () => 'is:expired',
  cleared: () => 'is:cleared',
  unseen: () => 'is:unseen',
  throttled: () => 'is:throttled',
  unrouted: () => 'is:unrouted',
  since: () => `since:${dice.of(['10m', '2h', '1d', '30d'])}`,
  'a past day': () => {
    const ago = 1 + dice.below(88);
    return `after:${day(ago)} before:${day(ago - 1)}`;
  },
  before: () => `before:${day(dice.below(89))}`,
  'not level': () => `-level:${dice.of(['info', 'info,success', 'info,success,warning'])}`,
  'not host': () => `-host:${dice.of(['db-*', host()])}`,
  'not word': () => `-${dice.of(['disk', 'backup'])}`,
  either: () =>
    dice.of([
      `(host:${host()} OR level:critical)`,
      `("signed in" OR key:"check:${host()}:1")`,
      `(is:live OR ${host().slice(0, 5)})`,
    ]),
};

/** Typical searches of a dashboard. */
export const everydaySearches = [
  'disk',
  'host:db-*',
  'level:>=error',
  '"connection refused"',
  `host:${hostName(7)} backup`,
  'is:unseen',
  'source:192.0.2.0/28 -disk',
];
