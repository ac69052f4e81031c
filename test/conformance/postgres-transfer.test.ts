/** What a transfer to PostgreSQL stores beside the log. */
import { sql } from 'kysely';
import { afterAll, expect, test } from 'vitest';
import type { AlarmAction, Entry, History, NotificationDraft } from '#core/log/log.ts';
import type { Route, TenantId } from '#core/log/route.ts';
import { openPostgres } from '#storage/postgres/open.ts';
import { openPostgresTransfer } from '#storage/postgres/transfer.ts';
import { routeTo } from '../support/notification-draft.ts';
import { createDatabase } from '../support/postgres.ts';
import { describeWithPostgres } from '../support/with-postgres.ts';
import { alarmsAt, draft, type HistoryDatabase, newTenant, now, readAll } from './history-lab.ts';
import { openHistoryOn } from './postgres-database.ts';

const hour = 3_600_000;
const end = now + 1_000;

const toAll = (given: Partial<Route>) => routeTo({ all: true }, given);

describeWithPostgres('a transfer to PostgreSQL', (server) => {
  const databases: HistoryDatabase[] = [];
  afterAll(async () => {
    for (const database of databases) await database.close();
  });

  /** Alarms of each kind: replaced, counted, escalated, acknowledged, shelved, suppressed, and open again. */
  async function fill(history: History, tenant: TenantId): Promise<void> {
    let at = now;
    const send = async (over: Partial<NotificationDraft>) => {
      const given = draft({ receivedAt: ++at, rank: 40, level: 'error', ...over });
      await history.append(tenant, given, null);
      return given.id;
    };
    const act = (id: string, action: Partial<AlarmAction>) =>
      history.act(tenant, [id], { at: ++at, by: 'Ada', note: 'n', ...action } as AlarmAction);
    await send({ key: 'disk', rank: 50, level: 'critical' });
    const disk = await send({ key: 'disk' });
    await send({ key: 'other', throttledOn: disk, throttleCount: 1 });
    await act(disk, { kind: 'acknowledge', until: now + hour });
    await send({ key: 'disk' });
    const fan = await send({ key: 'fan' });
    await act(fan, { kind: 'shelve', until: now + 2 * hour });
    await send({ key: 'fan', rank: 30, level: 'warning' });
    await send({ key: 'net' });
    await send({ key: 'net', rank: 10, level: 'success' });
    await send({ key: 'net' });
    const escalation = { rule: { id: 'r', name: 'r' }, steps: [{ afterMs: hour }] };
    const alarm = draft({ receivedAt: ++at, rank: 40 });
    await history.append(tenant, alarm, null, { escalation });
    const step = draft({ receivedAt: ++at, rank: 45 });
    await history.append(tenant, step, null, { replaces: alarm.id, step: 0 });
    const back = await send({});
    await act(back, { kind: 'shelve', until: now + hour });
    await act(back, { kind: 'unshelve' });
    await act(back, { kind: 'acknowledge' });
    await act(back, { kind: 'unacknowledge' });
    await act(await send({}), { kind: 'clear' });
    await act(fan, { kind: 'assign', owner: { id: 'p', name: 'Eve' } });
    const follows = (key: string) => ({ route: toAll({ suppress: { causes: [], follows: [key] } }) });
    const causes = (key: string) => ({
      route: toAll({ suppress: { causes: [{ key, rule: 'r' }], follows: [] } }),
    });
    await send(follows('core'));
    const core = await send({ key: 'core', ...causes('core') });
    await send({ key: 'core', ...causes('core') });
    await send({ key: 'host', ...follows('core') });
    await act(await send(follows('core')), { kind: 'shelve', until: now + hour });
    const over = await send(causes('over'));
    await send(follows('over'));
    while ((await history.updateSuppression(at, 100)).size > 0) at += 1;
    await act(over, { kind: 'clear' });
    while ((await history.updateSuppression(at, 100)).size > 0) at += 1;
    await act(core, { kind: 'assign', owner: null });
  }

  /** All that a history tells of alarms. */
  async function told(history: History, tenant: TenantId, entries: readonly Entry[]) {
    const ids = [...new Set(entries.map(({ id }) => id))];
    const records = await Promise.all(
      ids.map(async (id) => {
        const record = await history.find(tenant, id);
        // The last step of a transfer copies it.
        const { escalation: _, ...alarm } = record?.alarm ?? {};
        return { ...record, alarm };
      }),
    );
    const about = await history.entriesOf(tenant, ids, 100);
    return {
      entries: await readAll(history, tenant),
      records,
      // A clear that a person gave is no other than one by a program.
      about: about.filter(({ kind }) => kind !== 'clear'),
      alarms: await alarmsAt(history, tenant, end),
      suppression: await history.suppression(tenant, end),
      due: (await history.dueReturns(now + 3 * hour, 100)).map(({ id, kind }) => ({ id, kind })),
    };
  }

  test.each([1, 2, 100])('keeps alarms, their memory and their entries, in pages of %i', async (size) => {
    const { database: source } = await openHistoryOn(server());
    databases.push(source);
    const tenant = await newTenant(source);
    await fill(source.history, tenant);
    const entries = await readAll(source.history, tenant);

    const url = await createDatabase(server());
    const storage = await openPostgres({ url, queueCapacity: 10, onProblem: () => undefined });
    await storage.db.write([
      sql`insert into logs (tenant, head, first, first_row, notifications, bytes) values (${tenant}, 0, 1, 0, 0, 0)`,
    ]);
    const target = await openPostgresTransfer(storage, url);
    for (let i = 0; i < entries.length; i += size) {
      const page = entries.slice(i, i + size).map((entry) => ({ entry, receipts: [] }));
      await target.importPage(tenant, page);
    }
    const expected = await told(source.history, tenant, entries);
    expect(await told(storage.history, tenant, entries)).toEqual(expected);
    expect(expected.alarms.length).toBeGreaterThan(4);
    await target.close();
  });
});
