import { uuidv7 } from 'uuidv7';
import { expect, test } from 'vitest';
import { recordForms } from '#core/log/history-view.ts';
import type { HistoryRecord } from '#core/log/log.ts';
import type { TenantId } from '#core/log/route.ts';
import type { WantedValues } from '#core/log/statistics.ts';
import type { Query } from '#core/search/search-query.ts';
import { eventually } from '../support/eventually.ts';
import { draft, type HistoryDatabase, type HistoryLab, lobby, now, store } from './history-lab.ts';
import { address, all, expectations, is, samples, words } from './history-samples.ts';

/** Titles of what a query finds, newest first. */
async function found(
  { history }: HistoryDatabase,
  tenant: TenantId,
  query: Query,
  at = now,
): Promise<string[]> {
  return (await history.search(tenant, query, { limit: 100, now: at })).records.map(({ title }) => title);
}

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
    await fill(tenants[1], samples.slice(4));
    await check(tenants[1], 'half way');
    await fill(tenants[2], samples);
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
    await history.clear(tenant, cleared.id, 'x', now);
    await receipts.record(tenant, lobby, [{ id: seen.id, state: 'shown', at: now }]);
    expect(await states()).toEqual({
      live: ['seen'],
      cleared: ['cleared'],
      throttled: ['counted'],
      unseen: ['cleared'],
    });
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

  test('a search whose time is over answers what it found, how far back that is, and where to continue', async () => {
    const { database, newTenant } = lab();
    const tenant = await newTenant();
    const size = 40;
    for (let i = 1; i <= size; i++)
      await store(database.history, tenant, {
        title: `n${i}`,
        host: i % 9 ? 'odd' : 'even',
        receivedAt: now + i,
      });
    const queries: Query[] = [
      all,
      words('n7'),
      { kind: 'host', patterns: ['even'] },
      { kind: 'not', term: is('live') },
      { kind: 'and', terms: [{ kind: 'after', at: now + 5 }, is('expired', 'live')] },
    ];
    for (const query of queries) {
      const whole = await database.history.search(tenant, query, { limit: 100, now });
      expect([whole.next, whole.searchedTo]).toEqual([null, null]);
      const positions: number[] = [];
      let before = size + 1;
      for (let isLast = false; !isLast; ) {
        const page = await database.history.search(tenant, query, { limit: 3, now, before, timeoutMs: 0 });
        positions.push(...page.records.map(({ position }) => position));
        isLast = page.next === null;
        if (page.searchedTo !== null) {
          expect(page.next).not.toBeNull();
          expect(page.searchedTo).toBe(now + (page.next ?? 0));
        }
        if (page.next !== null) expect(page.next).toBeLessThan(before);
        before = page.next ?? before;
      }
      expect(positions).toEqual(whole.records.map(({ position }) => position));
    }
  });

  test('a search, count or completion whose caller has gone rejects with the reason, and the next is answered', async () => {
    const { database, newTenant } = lab();
    const { history, statistics } = database;
    const tenant = await newTenant();
    await store(history, tenant, { host: 'h' });
    const calls: ((signal?: AbortSignal) => Promise<unknown>)[] = [
      (signal) => history.search(tenant, all, { limit: 1, now, ...(signal && { signal }) }),
      (signal) =>
        statistics.count(
          tenant,
          all,
          { after: 0, before: now + 1, origin: 0, bucketMs: now },
          { now, ...(signal && { signal }) },
        ),
      (signal) =>
        statistics.values(tenant, { field: 'host', prefix: '', limit: 9, ...(signal && { signal }) }),
    ];
    for (const call of calls) {
      const reason = new Error('gone');
      await expect(call(AbortSignal.abort(reason))).rejects.toBe(reason);
      const controller = new AbortController();
      const waiting = call(controller.signal);
      controller.abort(reason);
      await expect(waiting).rejects.toBe(reason);
      await expect(call()).resolves.toBeDefined();
    }
  });

  test("one tenant's searches do not hold up another's: the tenants take turns", async () => {
    const { database, newTenant } = lab();
    const [busy, quiet] = [await newTenant(), await newTenant()];
    for (const tenant of [busy, quiet]) await store(database.history, tenant);
    const ended: string[] = [];
    const search = async (tenant: TenantId, name: string) => {
      await database.history.search(tenant, all, { limit: 1, now });
      ended.push(name);
    };
    const many = Array.from({ length: 20 }, () => search(busy, 'busy'));
    await Promise.all([...many, search(quiet, 'quiet')]);
    // Without turns it would be the last.
    expect(ended.indexOf('quiet')).toBeLessThan(10);
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
    expect(await newer(all, 4)).toEqual([['n6', 'n5'], 6]);
    expect(await newer({ kind: 'host', patterns: ['a'] }, 1)).toEqual([['n3', 'n2'], 6]);
    expect(await newer(all, 6)).toEqual([[], 6]);
  });

  test('values of a field complete what is typed, indexed or not: addresses by number, and nothing of another tenant', async () => {
    const { database, newTenant } = lab();
    const [tenant, other] = [await newTenant(), await newTenant()];
    const addresses = [
      '10.3.1.7',
      '10.3.10.9',
      '10.3.100.2',
      '10.3.2.1',
      '10.30.0.1',
      '2001:db8::1',
      '2001:db8:1::5',
    ];
    for (let round = 0; round < 2; round++)
      for (const ip of addresses)
        await store(database.history, tenant, { ip, host: `DB-${ip}`, key: `K/${ip}` });
    await store(database.history, other, { ip: '10.3.1.8', host: 'db-10.3.1.8', key: 'K/10.3.1.8' });
    for (const labels of ['{"Env":"Prod","env2":"x"}', '{"env":"a=1","site":""}', '{"env":"prod"}', null])
      await store(database.history, tenant, { labels });
    await store(database.history, other, { labels: '{"env":"other","envy":"x"}' });
    // A busy machine reads only the newest in the 150 ms there are, perhaps many times.
    const expectValues = (field: WantedValues['field'], prefix: string, expected: object, limit = 9) =>
      eventually(
        async () =>
          expect(await database.statistics.values(tenant, { field, prefix, limit })).toEqual(expected),
        { timeout: 120_000 },
      );
    await expectValues('ip', '10.3.1', ['10.3.1.7', '10.3.10.9', '10.3.100.2']);
    await expectValues('ip', '10.3', ['10.3.1.7', '10.3.2.1', '10.3.10.9', '10.3.100.2'], 4);
    await expectValues('ip', '2001:DB8:', ['2001:db8::1', '2001:db8:1::5']);
    await expectValues('ip', '10.4', []);
    await expectValues('ip', 'x', []);
    await expectValues('host', 'dB-10.3.1', ['db-10.3.1.7', 'db-10.3.10.9'], 2);
    await expectValues('key', 'K/2001', ['K/2001:db8:1::5', 'K/2001:db8::1']);
    await expectValues('key', 'k/', []);
    // Names first, each once, then their values.
    await expectValues('label', '', ['env2=', 'env=', 'site=']);
    await expectValues('label', 'EN', ['env2=', 'env=']);
    await expectValues('label', 'ENV=', ['env=a=1', 'env=prod']);
    await expectValues('label', 'env=p', ['env=prod']);
    await expectValues('label', 'site=', ['site=']);
    await expectValues('label', 'x', []);
    await expectValues('source', '', [expect.any(String)]);
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
      allowInUrl: false,
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
      acknowledged: null,
      receipts: { shown: 0, expired: 0, cleared: 0 },
      alarm: {
        since: now,
        count: 1,
        highestLevel: stored.level,
        highestRank: stored.rank,
        shelved: null,
        suppressed: null,
        owner: null,
      },
    };
    expect(await database.history.find(tenant, stored.id)).toEqual(record);
    expect(await database.history.find(tenant, stored.id.toUpperCase())).toEqual(record);
    const told = await database.history.find(tenant, stored.id);
    expect(told).toEqual(record);
    expect((await database.history.search(tenant, all, { limit: 1, now })).records).toEqual([record]);
    for (const form of ['record', 'lines', 'ndjson', 'csv'] as const) {
      const { records } = await database.history.search(tenant, all, { limit: 1, now, form });
      expect(records).toEqual([recordForms[form](told as HistoryRecord, now)]);
    }
  });

  test("what there is not, what is no id, and what is another tenant's is not found", async () => {
    const { database, newTenant } = lab();
    const [a, b] = [await newTenant(), await newTenant()];
    const { id } = await store(database.history, a, { title: 'canary', host: 'canary', ip: '10.0.0.1' });
    for (const other of [id, draft().id, 'no uuid', ''])
      expect(await database.history.find(b, other)).toBeUndefined();
    for (const [query] of Object.values(expectations)) expect(await found(database, b, query)).toEqual([]);
    for (const query of [words('canary'), address('ip', '10.0.0.1')])
      expect(await found(database, b, query)).toEqual([]);
  });
}
