import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { AccountStore, Condition, NewPerson } from '#core/people/accounts.ts';
import type { Directory } from '#core/tenants/directory.ts';
import { createDirectory } from '#storage/directory/directory.ts';
import { createAccountStore } from '#storage/people/accounts.ts';
import type { DirectoryDatabase } from './directory.ts';

/** Every promise of core/people/accounts.ts, to be run against every backend. */
export function accountsConformance(backend: string, open: () => Promise<DirectoryDatabase>): void {
  describe(`accounts on ${backend}`, () => {
    let database: DirectoryDatabase;
    let store: AccountStore;
    let directory: Directory;
    let tenant: number;
    let made = 0;
    beforeAll(async () => {
      database = await open();
      store = createAccountStore(database.db);
      directory = createDirectory(database.db);
      ({ id: tenant } = await directory.tenants.create('acme', 'Acme', 'test', 1));
    });
    afterAll(() => database.close());

    const person = (over: Partial<NewPerson> = {}): NewPerson => {
      made += 1;
      return {
        id: `p${made}`,
        email: `p${made}@example.org`,
        name: `P ${made}`,
        signInWith: { passwordHash: 'hash' },
        emailVerified: true,
        ...over,
      };
    };
    const session = async (of: string, over: Record<string, string | number> = {}) => {
      made += 1;
      const row = {
        id: `s${made}`,
        token_hash: `hash of s${made}`,
        person: of,
        remembered: 0,
        created_at: 1,
        last_seen_at: made,
        expires_at: 1_000,
        ...over,
      };
      await store.rows.insert('sessions', row);
      return row;
    };
    const is = (column: string, value: Condition['value'], more: Partial<Condition> = {}): Condition => ({
      column,
      operator: '=',
      value,
      ...more,
    });

    test('the first account is made once, of several at the same time, and owns the tenant', async () => {
      expect(await store.isEmpty()).toBe(true);
      const all = [person(), person(), person()];
      const session = { remembered: false, expiresAt: 9, address: '127.0.0.1', userAgent: null };
      const done = await Promise.all(
        all.map((each) =>
          store.createFirst({
            person: each,
            tenant: { id: tenant, title: each.name, timeZone: 'Asia/Tokyo' },
            session: { ...session, id: each.id, tokenHash: each.id },
            by: 'test',
            at: 5,
          }),
        ),
      );
      expect(done.filter(Boolean)).toHaveLength(1);
      const winner = all[done.indexOf(true)] as NewPerson;
      expect(await store.list()).toEqual([
        { id: winner.id, email: winner.email, name: winner.name, twoFactor: false, createdAt: 5 },
      ]);
      expect(await directory.tenants.get(tenant)).toMatchObject({
        title: winner.name,
        timeZone: 'Asia/Tokyo',
      });
      expect(await directory.members.roles(tenant)).toEqual(new Map([[winner.id, 'owner']]));
      expect(await store.isEmpty()).toBe(false);
      for (const { id } of all)
        expect((await store.findSession(id, 8))?.person.id).toBe(id === winner.id ? id : undefined);
    });

    test('an address is one account, in whatever case', async () => {
      const anna = person({ email: 'anna@example.org' });
      expect(await store.addMember(anna, { tenant, role: 'viewer' }, 'test', 1)).toBe(true);
      const again = person({ email: 'Anna@Example.org' });
      expect(await store.addMember(again, { tenant, role: 'owner' }, 'test', 1)).toBe(false);
      expect(await store.findByEmail('ANNA@example.org')).toMatchObject({ id: anna.id });
      expect(await store.find(again.id)).toBeUndefined();
      expect((await directory.members.find(tenant, anna.id))?.role).toBe('viewer');
    });

    test('an invited person joins in one step, with the identity or the password they came with', async () => {
      const identity = { provider: 'oidc', subject: 'https://id.example.org 7' };
      const joined = person({ signInWith: identity });
      const invitation = {
        tenant,
        id: `of ${joined.id}`,
        role: 'member',
        email: joined.email,
        createdAt: 1,
        createdBy: 'test',
        expiresAt: 100,
      } as const;
      await directory.invitations.create(invitation, `hash of ${invitation.id}`);
      expect(await store.join(joined, invitation, 5)).toBe('done');
      expect((await directory.members.find(tenant, joined.id))?.role).toBe('member');
      expect(await store.rows.select('sign_in_methods', [is('person', joined.id)])).toMatchObject([
        { ...identity, password_hash: null },
      ]);
      // The provider vouched for the address: a later proof of it takes nothing away.
      expect(await store.forgetUnproven(joined.id)).toBe(false);
      const late = person();
      expect(await store.join(late, invitation, 6)).toBe('no-invitation');
      expect(await store.find(late.id)).toBeUndefined();
    });

    test('a session is found by its hash until its time is over', async () => {
      const one = person();
      await store.addMember(one, { tenant, role: 'viewer' }, 'test', 1);
      const { id, token_hash: hash } = await session(one.id);
      expect(await store.findSession(hash, 999)).toMatchObject({ person: { id: one.id }, session: { id } });
      expect(await store.findSession(hash, 1_000)).toBeUndefined();
      await store.touchSession(id, 900, 5_000);
      expect(await store.findSessionById(id, 4_999)).toMatchObject({ lastSeenAt: 900, expiresAt: 5_000 });
      // One that is over is not brought back.
      await store.touchSession(id, 6_000, 9_000);
      expect(await store.findSessionById(id, 6_000)).toBeUndefined();
    });

    test('sessions are ended by their person alone, one or all but one', async () => {
      const [one, other] = [person(), person()];
      for (const each of [one, other]) await store.addMember(each, { tenant, role: 'viewer' }, 'test', 1);
      const [a, b, c] = [await session(one.id), await session(one.id), await session(one.id)];
      const foreign = await session(other.id);
      expect((await store.sessionsOf(one.id, 1)).map(({ id }) => id)).toEqual([c.id, b.id, a.id]);
      expect(await store.endSession(other.id, a.id)).toBe(false);
      expect(await store.endSession(one.id, a.id)).toBe(true);
      expect(await store.endSessions(one.id, b.id)).toBe(1);
      expect((await store.sessionsOf(one.id, 1)).map(({ id }) => id)).toEqual([b.id]);
      expect(await store.endSessions(one.id, undefined)).toBe(1);
      expect(await store.sessionsOf(other.id, 1)).toHaveLength(1);
      await store.sweep(1_000);
      expect(await store.rows.select('sessions', [is('id', foreign.id)])).toEqual([]);
    });

    const newSession = (id: string) => ({
      ...{ id, tokenHash: `hash of ${id}`, remembered: true, expiresAt: 1_000 },
      ...{ address: '127.0.0.1', userAgent: null },
    });
    const trustDevice = (of: string) =>
      store.rows.insert('verifications', {
        ...{ id: `device of ${of}`, identifier: `of ${of}`, value: of },
        ...{ expires_at: 1_000, created_at: 1, updated_at: 1 },
      });
    const sessionIds = async (of: string) => (await store.sessionsOf(of, 1)).map(({ id }) => id);

    test('a password changes with the end of every session and trusted device, or not at all; once of several at once', async () => {
      const [one, other] = [person(), person()];
      for (const each of [one, other]) await store.addMember(each, { tenant, role: 'viewer' }, 'test', 1);
      const [a, foreign] = [await session(one.id, { remembered: 1 }), await session(other.id)];
      await trustDevice(one.id);
      const stored = async () => {
        const method = [is('person', one.id), is('provider', 'credential')];
        return (await store.rows.select('sign_in_methods', method))[0]?.password_hash;
      };
      const change = (from: string, to: string, id = `with ${to}`) =>
        store.changePassword(one.id, { from, to }, newSession(id), 5);
      expect(await change('another', 'new')).toBe(false);
      // The new session cannot be stored, so nothing is.
      await expect(change('hash', 'new', foreign.id)).rejects.toThrow();
      expect([await stored(), await sessionIds(one.id)]).toEqual(['hash', [a.id]]);
      expect(await store.rows.count('verifications', [is('value', one.id)])).toBe(1);
      const news = ['x', 'y', 'z'];
      const done = await Promise.all(news.map((to) => change('hash', to)));
      expect(done.filter(Boolean)).toHaveLength(1);
      const winner = news[done.indexOf(true)];
      expect([await stored(), await sessionIds(one.id)]).toEqual([winner, [`with ${winner}`]]);
      expect((await store.sessionsOf(one.id, 1))[0]).toMatchObject({ remembered: true, createdAt: 5 });
      expect(await store.rows.count('verifications', [is('value', one.id)])).toBe(0);
      expect(await sessionIds(other.id)).toEqual([foreign.id]);
    });

    test('a second factor is activated, and removed, with the renewal of the session, or not at all', async () => {
      const one = person();
      await store.addMember(one, { tenant, role: 'viewer' }, 'test', 1);
      const [a, b] = [await session(one.id), await session(one.id)];
      await store.rows.update('sessions', [is('id', a.id)], { reauthenticated_at: 2 });
      const renewal = (former: string, id: string) => ({ former, session: newSession(id), at: 5 });
      const factor = { id: `f ${one.id}`, person: one.id, secret: 'sealed', backup_codes: 'x' };
      await store.rows.insert('two_factors', { ...factor, verified: 0, failures: 0 });
      await trustDevice(one.id);
      const isOn = async () => (await store.find(one.id))?.twoFactor;
      const factors = (verified: number) =>
        store.rows.count('two_factors', [is('person', one.id), is('verified', verified)]);
      expect(await store.activateTwoFactor(one.id, 'other', renewal(a.id, 'a2'))).toBe(false);
      expect(await store.activateTwoFactor(one.id, 'sealed', renewal('ended', 'a2'))).toBe(false);
      await expect(store.activateTwoFactor(one.id, 'sealed', renewal(a.id, b.id))).rejects.toThrow();
      expect([await isOn(), await factors(0), await sessionIds(one.id)]).toEqual([false, 1, [b.id, a.id]]);
      expect(await store.activateTwoFactor(one.id, 'sealed', renewal(a.id, 'a2'))).toBe(true);
      expect([await isOn(), await factors(1)]).toEqual([true, 1]);
      expect((await sessionIds(one.id)).toSorted()).toEqual(['a2', b.id].toSorted());
      expect(await store.findSessionById('a2', 6)).toMatchObject({ createdAt: 5, reauthenticatedAt: null });
      expect(await store.activateTwoFactor(one.id, 'sealed', renewal('a2', 'a3'))).toBe(false);
      expect(await store.removeTwoFactor(one.id, renewal(a.id, 'a3'))).toBe(false);
      await expect(store.removeTwoFactor(one.id, renewal('a2', b.id))).rejects.toThrow();
      expect([await isOn(), await factors(1)]).toEqual([true, 1]);
      expect(await store.rows.count('verifications', [is('value', one.id)])).toBe(1);
      expect(await store.removeTwoFactor(one.id, renewal('a2', 'a3'))).toBe(true);
      expect([await isOn(), await factors(1)]).toEqual([false, 0]);
      expect(await store.rows.count('verifications', [is('value', one.id)])).toBe(0);
      expect((await sessionIds(one.id)).toSorted()).toEqual(['a3', b.id].toSorted());
    });

    test('the sessions that were used last are kept, of that person alone', async () => {
      const [one, other] = [person(), person()];
      for (const each of [one, other]) await store.addMember(each, { tenant, role: 'viewer' }, 'test', 1);
      const all = [await session(one.id), await session(one.id), await session(one.id)];
      const foreign = await session(other.id);
      await store.touchSession(all[0]?.id as string, 900, 5_000);
      const trimTo = (most: number, newest: string) => store.trimSessions(one.id, { most, newest });
      await trimTo(3, all[2]?.id as string);
      expect(await sessionIds(one.id)).toHaveLength(3);
      // The newest stays, also if the clock was set back since the others were used.
      await trimTo(2, all[1]?.id as string);
      expect((await sessionIds(one.id)).toSorted()).toEqual([all[0]?.id, all[1]?.id].toSorted());
      expect(await sessionIds(other.id)).toEqual([foreign.id]);
      await store.endSessions(one.id, undefined);
    });

    test('a reset takes the sessions, what waits, and if asked to passkeys and the second factor', async () => {
      const one = person();
      await store.addMember(one, { tenant, role: 'viewer' }, 'test', 1);
      await session(one.id);
      const factor = {
        id: `f${made}`,
        person: one.id,
        secret: 'x',
        backup_codes: 'x',
        verified: 1,
        failures: 0,
      };
      await store.rows.insert('two_factors', factor);
      await store.rows.update('people', [is('id', one.id)], { two_factor_enabled: 1 });
      const passkey = {
        name: 'key',
        public_key: 'x',
        counter: 0,
        device_type: 'singleDevice',
        backed_up: 0,
        created_at: 1,
      };
      for (const id of ['a', 'b'])
        await store.rows.insert('passkeys', { ...passkey, id, person: one.id, credential_id: id });
      await store.rows.insert('sign_in_methods', {
        id: 'at a provider',
        person: one.id,
        provider: 'oidc',
        subject: 'sub',
        created_at: 1,
        updated_at: 1,
      });
      const kept = { keepTwoFactor: true, keepPasskeys: true, at: 7 };
      expect(await store.resetPassword(one.id, 'new hash', kept)).toEqual({
        passkeysRemoved: 0,
        identities: 1,
      });
      expect(await store.rows.count('passkeys', [is('person', one.id)])).toBe(2);
      expect(await store.sessionsOf(one.id, 1)).toEqual([]);
      expect((await store.find(one.id))?.twoFactor).toBe(true);
      const taken = { keepTwoFactor: false, keepPasskeys: false, at: 8 };
      expect(await store.resetPassword(one.id, 'newer hash', taken)).toEqual({
        passkeysRemoved: 2,
        identities: 1,
      });
      expect(await store.rows.count('passkeys', [is('person', one.id)])).toBe(0);
      expect((await store.find(one.id))?.twoFactor).toBe(false);
      expect(await store.rows.select('two_factors', [is('person', one.id)])).toEqual([]);
      const methods = [is('person', one.id), is('provider', 'credential')];
      expect(await store.rows.select('sign_in_methods', methods)).toMatchObject([
        { provider: 'credential', password_hash: 'newer hash', updated_at: 8 },
      ]);
    });

    test('what an account has that began with no invitation stays once its address is proven', async () => {
      const one = person();
      await store.addMember(one, { tenant, role: 'viewer' }, 'test', 1);
      await session(one.id);
      expect(await store.forgetUnproven(one.id)).toBe(false);
      expect(await store.sessionsOf(one.id, 1)).toHaveLength(1);
      expect(await store.rows.count('sign_in_methods', [is('person', one.id)])).toBe(1);
    });

    test('what may be used once is, of several at the same time, until it is over', async () => {
      const use = (what: string, at: number) => store.takeOnce(what, { at, until: at + 100 });
      const used = await Promise.all([use('a', 1), use('a', 2), use('a', 3), use('b', 3)]);
      expect(used.filter(Boolean)).toHaveLength(2);
      expect(await use('a', 50)).toBe(false);
      expect(await use('a', 103)).toBe(true);
      await store.sweep(1_000);
      expect(await use('a', 110)).toBe(true);
      await store.sweep(2_000);
    });

    test('rows are found, counted, changed and removed by every condition', async () => {
      const table = 'verifications';
      const row = (n: number) => ({
        id: `v${n}`,
        identifier: `i${n % 2}`,
        value: String(n),
        expires_at: n,
        created_at: n,
        updated_at: n,
      });
      for (let n = 1; n <= 6; n++) await store.rows.insert(table, row(n));
      const ids = async (...where: Condition[]) =>
        (await store.rows.select(table, where, 'expires_at')).map(({ id }) => id);
      expect(await ids(is('expires_at', 4, { operator: '>' }))).toEqual(['v5', 'v6']);
      expect(await ids(is('expires_at', 2, { operator: '<=' }))).toEqual(['v1', 'v2']);
      expect(await ids(is('identifier', 'i1'), is('expires_at', 4, { operator: '>' }))).toEqual(['v5']);
      expect(await ids(is('value', "' or '1'='1"))).toEqual([]);
      expect(await store.rows.count(table, [is('identifier', 'i0')])).toBe(3);
      expect(
        await store.rows.update(table, [is('id', 'v3')], { value: 'x' }, { expires_at: 10 }),
      ).toMatchObject([{ id: 'v3', value: 'x', expires_at: 13 }]);
      // No row is given to two callers; that one of several comes away with nothing is allowed.
      const takeOne = () => store.rows.remove(table, [is('identifier', 'i1')], true);
      const taken = await Promise.all([1, 2, 3, 4].map(takeOne));
      expect(taken.flat().length).toBeGreaterThan(0);
      for (let more = await takeOne(); more.length > 0; more = await takeOne()) taken.push(more);
      expect(
        taken
          .flat()
          .map(({ id }) => id)
          .toSorted(),
      ).toEqual(['v1', 'v3', 'v5']);
      expect(await store.rows.remove(table, [])).toHaveLength(3);
    });
  });
}
