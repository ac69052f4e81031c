import { expect, test } from 'vitest';
import { limits } from '#contract/limits.ts';
import { draft, type HistoryLab, newTenant, readAll } from './history-lab.ts';

/** Retry keys: the same key with the same content stores nothing again. */
export function retriesConformance(lab: () => HistoryLab): void {
  const retry = (key: string, hash = 'same') => ({ key, hash });

  test('the same key with the same content answers the first id again and stores nothing', async () => {
    const { database, newTenant } = lab();
    const tenant = await newTenant();
    const first = draft();
    expect(await database.history.append(tenant, first, retry('a'))).toMatchObject({
      kind: 'stored',
      id: first.id,
    });
    expect(await database.history.append(tenant, draft(), retry('a'))).toEqual({
      kind: 'repeated',
      id: first.id,
    });
    expect(await readAll(database.history, tenant)).toHaveLength(1);
  });

  test('the same key with other content is a conflict and stores nothing', async () => {
    const { database, newTenant } = lab();
    const tenant = await newTenant();
    await database.history.append(tenant, draft(), retry('a'));
    expect(await database.history.append(tenant, draft(), retry('a', 'other'))).toEqual({ kind: 'conflict' });
    expect(await readAll(database.history, tenant)).toHaveLength(1);
  });

  test('what a key was used for can be asked without storing, within its time and in its tenant alone', async () => {
    const { database, newTenant } = lab();
    const [tenant, other] = [await newTenant(), await newTenant()];
    const first = draft();
    await database.history.append(tenant, first, retry('a'));
    const { findRepeat } = database.history;
    const ask = (of: number, key: string, hash = 'same', at = first.receivedAt) =>
      findRepeat.call(database.history, of, retry(key, hash), at);
    expect(await ask(tenant, 'a')).toEqual({ kind: 'repeated', id: first.id });
    expect(await ask(tenant, 'a', 'other')).toEqual({ kind: 'conflict' });
    expect(await ask(tenant, 'b')).toBeUndefined();
    expect(await ask(other, 'a')).toBeUndefined();
    expect(await ask(tenant, 'a', 'same', first.receivedAt + limits.idempotencyMs)).toBeUndefined();
  });

  test('a newer state under the same key is stored, and only the newest state counts as a repeat', async () => {
    const { database, newTenant } = lab();
    const tenant = await newTenant();
    const state = (hash: string) => ({ ...retry('a', hash), isState: true });
    const drafts = [draft(), draft(), draft()] as const;
    expect(await database.history.append(tenant, drafts[0], state('firing'))).toMatchObject({
      kind: 'stored',
    });
    expect(
      await database.history.findRepeat(tenant, state('resolved'), drafts[0].receivedAt),
    ).toBeUndefined();
    expect(await database.history.append(tenant, drafts[1], state('resolved'))).toMatchObject({
      kind: 'stored',
    });
    expect(await database.history.append(tenant, drafts[2], state('firing'))).toMatchObject({
      kind: 'stored',
    });
    const repeated = { kind: 'repeated', id: drafts[2].id };
    expect(await database.history.append(tenant, draft(), state('firing'))).toEqual(repeated);
    expect(await database.history.findRepeat(tenant, state('firing'), drafts[2].receivedAt)).toEqual(
      repeated,
    );
    expect(await readAll(database.history, tenant)).toHaveLength(3);
  });

  test('a key with a time of its own is free again after that', async () => {
    const { database, newTenant } = lab();
    const tenant = await newTenant();
    const { receivedAt } = draft();
    const of = (at: number) => ({ ...retry('a'), until: at + 1_000 });
    await database.history.append(tenant, draft(), of(receivedAt));
    const before = draft({ receivedAt: receivedAt + 999 });
    expect((await database.history.append(tenant, before, of(before.receivedAt))).kind).toBe('repeated');
    const after = draft({ receivedAt: receivedAt + 1_000 });
    expect((await database.history.append(tenant, after, of(after.receivedAt))).kind).toBe('stored');
  });

  test('twenty at once with one key: one is stored, and all get its id', async () => {
    const { database, newTenant } = lab();
    const tenant = await newTenant();
    const outcomes = await Promise.all(
      Array.from({ length: 20 }, () => database.history.append(tenant, draft(), retry('race'))),
    );
    expect(outcomes.filter(({ kind }) => kind === 'stored')).toHaveLength(1);
    expect(outcomes.filter(({ kind }) => kind === 'repeated')).toHaveLength(19);
    expect(new Set(outcomes.map((outcome) => ('id' in outcome ? outcome.id : outcome.kind))).size).toBe(1);
    expect(await readAll(database.history, tenant)).toHaveLength(1);
  });

  test('of two contents racing under one key, one is stored and the other conflicts', async () => {
    const { database, newTenant } = lab();
    const tenant = await newTenant();
    const outcomes = await Promise.all(
      ['one', 'two'].map((hash) => database.history.append(tenant, draft(), retry('race', hash))),
    );
    expect(outcomes.map(({ kind }) => kind).toSorted()).toEqual(['conflict', 'stored']);
  });

  test('a key is good for 24 hours and then free again', async () => {
    const { database, newTenant } = lab();
    const tenant = await newTenant();
    const { receivedAt } = draft();
    await database.history.append(tenant, draft(), retry('a'));
    const late = draft({ receivedAt: receivedAt + limits.idempotencyMs - 1 });
    expect((await database.history.append(tenant, late, retry('a'))).kind).toBe('repeated');
    const later = draft({ receivedAt: receivedAt + limits.idempotencyMs });
    expect(await database.history.append(tenant, later, retry('a', 'other'))).toMatchObject({
      kind: 'stored',
      id: later.id,
    });
  });

  test('sweeping forgets no key before its time', async () => {
    const { database, newTenant } = lab();
    const tenant = await newTenant();
    await database.history.append(tenant, draft(), retry('a'));
    await database.sweep(draft().receivedAt + limits.idempotencyMs - 1);
    expect((await database.history.append(tenant, draft(), retry('a'))).kind).toBe('repeated');
  });

  test("one tenant's key means nothing to another", async () => {
    const { database, newTenant } = lab();
    const [a, b] = [await newTenant(), await newTenant()];
    await database.history.append(a, draft(), retry('a'));
    expect((await database.history.append(b, draft(), retry('a', 'other'))).kind).toBe('stored');
  });

  test('a key is remembered when the database is opened again', async () => {
    let database = await lab().open();
    try {
      const tenant = await newTenant(database);
      const first = draft();
      await database.history.append(tenant, first, retry('a'));
      database = await database.reopen();
      expect(await database.history.append(tenant, draft(), retry('a'))).toEqual({
        kind: 'repeated',
        id: first.id,
      });
    } finally {
      await database.close();
    }
  });
}
