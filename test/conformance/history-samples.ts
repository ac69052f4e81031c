import { addressKey } from '#core/addresses.ts';
import type { NotificationDraft } from '#core/log/log.ts';
import type { Query } from '#core/search/search-query.ts';
import { routeTo } from '#test/support/notification-draft.ts';
import { now, toTarget } from './history-lab.ts';

export const all: Query = { kind: 'all' };
export const words = (text: string, prefix = false): Query => ({
  kind: 'text',
  field: null,
  phrases: [{ text, prefix }],
});
export const address = (kind: 'ip' | 'source', low: string, high = low): Query => ({
  kind,
  ranges: [{ text: low, low: addressKey(low), high: addressKey(high) }],
});
export const is = (...states: Extract<Query, { kind: 'is' }>['states'][number][]): Query => ({
  kind: 'is',
  states,
});

/** One of each kind, whose title tells what to expect of it. */
const night = { id: 'r1', name: 'night mute' };
export const samples: readonly Partial<NotificationDraft>[] = [
  {
    title: 'disk full',
    message: 'volume data on db-01',
    host: 'DB-01',
    ip: '10.0.0.5',
    level: 'error',
    key: 'Disk.1',
    labels: '{"Env":"prod","site":"plant 2"}',
  },
  {
    title: 'disk fine',
    message: 'again',
    host: 'db-02',
    ip: '10.9.0.1',
    level: 'success',
    rank: 10,
    sourceIp: '203.0.113.7',
    labels: '{"__proto__":"","env":"Stag*1"}',
  },
  {
    title: 'link slow',
    message: 'Überlast am Uplink',
    host: 'sw-1',
    ip: '2001:db8::5',
    level: 'warning',
    rank: 30,
    tokenId: 'othertoken',
  },
  { title: 'muted one', route: routeTo(toTarget({}), { muted: true, rules: [night] }) },
  { title: 'expired one', ttl: 1, expiresAt: now - 1, receivedAt: now - 60_000 },
  { title: 'nobody got this', route: routeTo(toTarget({})) },
  { title: 'for the lobby', route: routeTo(toTarget({ ids: ['lobby'] })) },
  { title: 'for the front', route: routeTo(toTarget({ tags: ['front'] })) },
  { title: 'for the back', route: routeTo(toTarget({ tags: ['back'] })) },
];

const shown = ['disk full', 'disk fine', 'link slow', 'for the lobby', 'for the front', 'for the back'];
const others = (...titles: string[]) =>
  samples.map(({ title }) => title as string).filter((title) => !titles.includes(title));
const panel = (id: string, ...tags: string[]): Query => ({ kind: 'panel', panels: [{ id, tags }] });

/** What each query finds among the samples, in the order in which they were stored. */
export const expectations: Record<string, [Query, readonly string[]]> = {
  everything: [all, others()],
  'a word': [words('disk'), ['disk full', 'disk fine']],
  'a word of the message, without case and marks': [words('uberlast'), ['link slow']],
  'the beginning of a word': [words('uplin', true), ['link slow']],
  'no part of a word': [words('plink'), []],
  'words in a row': [words('data on'), ['disk full']],
  'words not in that order': [words('on data'), []],
  'a word of the title alone': [
    { kind: 'text', field: 'title', phrases: [{ text: 'again', prefix: false }] },
    [],
  ],
  'a word of the message alone': [
    { kind: 'text', field: 'message', phrases: [{ text: 'again', prefix: false }] },
    ['disk fine'],
  ],
  'a host, without case': [{ kind: 'host', patterns: ['db-01'] }, ['disk full']],
  'hosts by pattern': [{ kind: 'host', patterns: ['db-*'] }, ['disk full', 'disk fine']],
  'hosts by one unknown character': [{ kind: 'host', patterns: ['sw-?', 'db-0?2'] }, ['link slow']],
  'a key, with case': [{ kind: 'key', patterns: ['Disk.1'] }, ['disk full']],
  'no key in other case': [{ kind: 'key', patterns: ['disk.1'] }, []],
  'keys by pattern': [{ kind: 'key', patterns: ['Disk*'] }, ['disk full']],
  'a label, without case': [{ kind: 'label', patterns: ['env=prod', 'site=x'] }, ['disk full']],
  'labels by pattern': [{ kind: 'label', patterns: ['env=*g*', 'site=pl?nt*'] }, ['disk full', 'disk fine']],
  'a label with any value': [{ kind: 'label', patterns: ['env=*'] }, ['disk full', 'disk fine']],
  'a label without a value': [{ kind: 'label', patterns: ['__proto__='] }, ['disk fine']],
  'a label whose value has an asterisk': [{ kind: 'label', patterns: ['env=stag\\*1'] }, ['disk fine']],
  'no label with the beginning of a name': [{ kind: 'label', patterns: ['en=*', 'sit=*'] }, []],
  'all but those with a label': [
    { kind: 'not', term: { kind: 'label', patterns: ['env=*'] } },
    others('disk full', 'disk fine'),
  ],
  'an address': [address('ip', '10.0.0.5'), ['disk full']],
  'a block of addresses': [address('ip', '10.0.0.0', '10.255.255.255'), ['disk full', 'disk fine']],
  'an IPv6 block': [address('ip', '2001:db8::', '2001:db8::ffff'), ['link slow']],
  'a source address': [address('source', '203.0.113.0', '203.0.113.255'), ['disk fine']],
  levels: [{ kind: 'level', names: ['success', 'warning'] }, ['disk fine', 'link slow']],
  'a token': [{ kind: 'token', ids: ['othertoken'] }, ['link slow']],
  'a rule that matched': [{ kind: 'rule', ids: ['r1'] }, ['muted one']],
  'what reaches a panel': [
    panel('lobby'),
    [...others('muted one', 'nobody got this', 'for the front', 'for the back')],
  ],
  'what reaches a panel by its tags': [
    panel('x', 'front'),
    [...others('muted one', 'nobody got this', 'for the lobby', 'for the back')],
  ],
  'what is live': [is('live'), shown],
  'what is muted': [is('muted'), ['muted one']],
  'what has expired': [is('expired'), ['expired one']],
  'what no panel was chosen for': [is('unrouted'), ['nobody got this']],
  'what no panel has shown': [is('unseen'), others('muted one', 'nobody got this')],
  'what came before': [{ kind: 'before', at: now }, ['expired one']],
  'what came since': [{ kind: 'after', at: now }, others('expired one')],
  both: [{ kind: 'and', terms: [words('disk'), { kind: 'host', patterns: ['db-02'] }] }, ['disk fine']],
  either: [{ kind: 'or', terms: [words('slow'), is('muted')] }, ['link slow', 'muted one']],
  'all but': [{ kind: 'not', term: words('disk') }, others('disk full', 'disk fine')],
  'all without an address in a block': [
    { kind: 'not', term: address('ip', '0.0.0.0', '255.255.255.255') },
    others('disk full', 'disk fine'),
  ],
};
