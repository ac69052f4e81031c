import { uuidv7 } from 'uuidv7';
import { expect, test } from 'vitest';
import { addressKey } from '../../src/core/addresses.ts';
import type { NotificationDraft, TenantId } from '../../src/core/ports.ts';
import type { Query } from '../../src/core/search.ts';
import {
  draft,
  type HistoryDatabase,
  type HistoryLab,
  lobby,
  now,
  routeTo,
  store,
  toTarget,
} from './history-lab.ts';

const all: Query = { kind: 'all' };
const words = (text: string, prefix = false): Query => ({
  kind: 'text',
  field: null,
  phrases: [{ text, prefix }],
});
const address = (kind: 'ip' | 'source', low: string, high = low): Query => ({
  kind,
  ranges: [{ text: low, low: addressKey(low), high: addressKey(high) }],
});
const is = (...states: Extract<Query, { kind: 'is' }>['states'][number][]): Query => ({ kind: 'is', states });

/** Titles of what a query finds, newest first. */
async function found(
  { history }: HistoryDatabase,
  tenant: TenantId,
  query: Query,
  at = now,
): Promise<string[]> {
  return (await history.search(tenant, query, { limit: 100, now: at })).records.map(({ title }) => title);
}

/** One of each kind, whose title tells what to expect of it. */
const night = { id: 'r1', name: 'night mute' };
const samples: readonly Partial<NotificationDraft>[] = [
  {
    title: 'disk full',
    message: 'volume data on db-01',
    host: 'DB-01',
    ip: '10.0.0.5',
    level: 'error',
    key: 'Disk.1',
  },
  {
    title: 'disk fine',
    message: 'again',
    host: 'db-02',
    ip: '10.9.0.1',
    level: 'success',
    rank: 10,
    sourceIp: '203.0.113.7',
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
const expectations: Record<string, [Query, readonly string[]]> = {
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

/** Finding one by its id, and searching. */
export function searchConformance(lab: () => HistoryLab): void {
  test('each kind of condition finds what it names, with the search indexes behind, half way and caught up', async () => {
    const { database, newTenant } = lab();
    const tenants = [await newTenant(), await newTenant(), await newTenant()] as const;
    const check = async (tenant: TenantId, when: string) => {
      for (const [name, [query, expected]] of Object.entries(expectations)) {
        expect([name, when, await found(database, tenant, query)]).toEqual([
          name,
          when,
          expected.toReversed(),
        ]);
      }
    };
    const fill = (tenant: TenantId, some: typeof samples) =>
      Promise.all(some.map((each) => database.history.append(tenant, draft(each), null)));
    await fill(tenants[0], samples);
    await check(tenants[0], 'right after');
    await fill(tenants[1], samples.slice(0, 4));
    await database.indexed();
    await fill(tenants[1], samples.slice(4));
    await check(tenants[1], 'half way');
    await fill(tenants[2], samples);
    await database.indexed();
    await check(tenants[2], 'caught up');
  });

  test('a search right after the acknowledgement finds it, each time', async () => {
    const { database, newTenant } = lab();
    const tenant = await newTenant();
    for (let i = 0; i < 40; i++) {
      const { id } = await store(database.history, tenant, {
        title: `word${i}`,
        host: `h-${i}`,
        key: `k-${i}`,
      });
      const query: Query = {
        kind: 'and',
        terms: [words(`word${i}`), { kind: 'host', patterns: [`h-${i}`] }, is('live')],
      };
      expect(
        (await database.history.search(tenant, query, { limit: 5, now })).records.map((record) => record.id),
      ).toEqual([id]);
      expect((await database.history.find(tenant, id))?.title).toBe(`word${i}`);
    }
  });

  test('what became of one is searched as it is now: cleared, throttled, seen', async () => {
    const { database, newTenant } = lab();
    const { history, receipts } = database;
    const tenant = await newTenant();
    const cleared = await store(history, tenant, { title: 'cleared' });
    const seen = await store(history, tenant, { title: 'seen' });
    await store(history, tenant, { title: 'counted', throttledOn: seen.id, throttleCount: 1 });
    const states = async () =>
      Object.fromEntries(
        await Promise.all(
          (['live', 'cleared', 'throttled', 'unseen'] as const).map(async (state) => [
            state,
            await found(database, tenant, is(state)),
          ]),
        ),
      );
    await database.indexed();
    await history.clear(tenant, cleared.id, 'x', now);
    await receipts.record(tenant, lobby, [{ id: seen.id, state: 'shown', at: now }]);
    expect(await states()).toEqual({
      live: ['seen'],
      cleared: ['cleared'],
      throttled: ['counted'],
      unseen: ['cleared'],
    });
    await database.indexed();
    expect(await states()).toEqual({
      live: ['seen'],
      cleared: ['cleared'],
      throttled: ['counted'],
      unseen: ['cleared'],
    });
  });

  test('pages are newest first, without holes or repeats while more is stored, and end with null', async () => {
    const { database, newTenant } = lab();
    const tenant = await newTenant();
    for (let i = 1; i <= 25; i++)
      await store(database.history, tenant, { title: `n${i}`, host: i % 2 ? 'odd' : 'even' });
    const walk = async (query: Query) => {
      const titles: string[] = [];
      let before: number | undefined;
      do {
        const page = await database.history.search(tenant, query, {
          limit: 4,
          now,
          ...(before !== undefined && { before }),
        });
        expect(page.records.length).toBeLessThanOrEqual(4);
        titles.push(...page.records.map(({ title }) => title));
        before = page.next ?? undefined;
        await store(database.history, tenant, { title: 'new', host: 'odd' });
      } while (before !== undefined);
      return titles;
    };
    const expected = Array.from({ length: 25 }, (_, i) => 25 - i);
    expect(await walk(all)).toEqual(expected.map((i) => `n${i}`));
    expect((await walk({ kind: 'host', patterns: ['odd'] })).filter((title) => title !== 'new')).toEqual(
      expected.filter((i) => i % 2).map((i) => `n${i}`),
    );
  });

  test('a full last page ends too: it promises no next one that is empty', async () => {
    const { database, newTenant } = lab();
    const tenant = await newTenant();
    for (let i = 0; i < 4; i++) await store(database.history, tenant);
    let page = await database.history.search(tenant, all, { limit: 2, now });
    expect(page.records.map(({ position }) => position)).toEqual([4, 3]);
    page = await database.history.search(tenant, all, { limit: 2, now, before: page.next as number });
    expect([page.records.map(({ position }) => position), page.next]).toEqual([[2, 1], null]);
  });

  test('"after" gives what is newer than a position, and the head up to which nothing was left out', async () => {
    const { database, newTenant } = lab();
    const tenant = await newTenant();
    for (let i = 1; i <= 6; i++)
      await store(database.history, tenant, { title: `n${i}`, host: i > 3 ? 'b' : 'a' });
    const newer = async (query: Query, after: number) => {
      const { records, head } = await database.history.search(tenant, query, { limit: 100, now, after });
      return [records.map(({ title }) => title), head];
    };
    for (const caughtUp of [false, true]) {
      if (caughtUp) await database.indexed();
      expect(await newer(all, 4)).toEqual([['n6', 'n5'], 6]);
      expect(await newer({ kind: 'host', patterns: ['a'] }, 1)).toEqual([['n3', 'n2'], 6]);
      expect(await newer(all, 6)).toEqual([[], 6]);
    }
  });

  test('one is found by its id as history tells it, with the name of its token', async () => {
    const { database, newTenant } = lab();
    const tenant = await newTenant();
    const tokenId = uuidv7().slice(-10);
    await database.directory.credentials.add({
      tenant,
      id: tokenId,
      kind: 'token',
      name: 'CI server',
      hash: 'x',
      scopes: ['notify'],
      rate: null,
      panelId: null,
      role: null,
      allowFrom: [],
      createdAt: 1,
      createdBy: 'test',
      lastUsedAt: null,
      lastUsedFrom: null,
      expiresAt: null,
      revokedAt: null,
    });
    const stored = await store(database.history, tenant, { tokenId, ip: '10.0.0.1' });
    const record = {
      ...stored,
      tokenName: 'CI server',
      cleared: null,
      receipts: { shown: 0, expired: 0, cleared: 0 },
    };
    expect(await database.history.find(tenant, stored.id)).toEqual(record);
    expect(await database.history.find(tenant, stored.id.toUpperCase())).toEqual(record);
    await database.indexed();
    expect(await database.history.find(tenant, stored.id)).toEqual(record);
    expect((await database.history.search(tenant, all, { limit: 1, now })).records).toEqual([record]);
  });

  test("what there is not, what is no id, and what is another tenant's is not found", async () => {
    const { database, newTenant } = lab();
    const [a, b] = [await newTenant(), await newTenant()];
    const { id } = await store(database.history, a, { title: 'canary', host: 'canary', ip: '10.0.0.1' });
    for (const caughtUp of [false, true]) {
      if (caughtUp) await database.indexed();
      for (const other of [id, draft().id, 'no uuid', ''])
        expect(await database.history.find(b, other)).toBeUndefined();
      for (const [query] of Object.values(expectations)) expect(await found(database, b, query)).toEqual([]);
      for (const query of [words('canary'), address('ip', '10.0.0.1')])
        expect(await found(database, b, query)).toEqual([]);
    }
  });
}
