/**
 * Tenants, members, accounts and credentials in SQL that both stores share. A tenant always has an owner. Keys and pending
 * invitations end when their creator may no longer grant their role. Deleting a tenant changes its state, and it is gone for
 * everybody at once; its rows are then removed in short transactions, and its log as retention does it.
 */
import { type Expression, type SqlBool, sql } from 'kysely';
import { uuidv7 } from 'uuidv7';
import { builtInStyles } from '#contract/routing/level-styles.ts';
import { type Expected, overdueAt } from '#core/alarms/expectations.ts';
import { conflict, forbidden, notFound } from '#core/errors.ts';
import type { TenantId } from '#core/log/route.ts';
import {
  type DeletedTenant,
  defaultTenant,
  isGone,
  type RateSetting,
  type TenantRecord,
  type Tenants,
} from '#core/tenants/tenants.ts';
import type { Database, Schema, SqlResult, TenantRow } from '../database/sql.ts';
import { difference } from '../directory/audit.ts';
import {
  always,
  bumpChanges,
  compareAndSet,
  currentChange,
  pick,
  precondition,
  updateWhen,
} from '../directory/change.ts';

type Patch = Parameters<Tenants['update']>[1];

/** A new tenant gets the built-in levels in the same transaction. */
export function createTenants(db: Database): Tenants {
  const all = db.selectFrom('tenants').selectAll();
  const kept = all.where('state', 'in', ['active', 'suspended']);
  const get = async (id: TenantId) => {
    const [row] = await db.read(all.where('id', '=', id));
    if (!row) throw notFound('tenant');
    return toTenant(row);
  };

  const count = async () => (await db.read(kept.clearSelect().select('id'))).length;
  const reasonOfRefusal = async ({ most = {}, owner }: NewTenant) => {
    if (typeof most.inAll === 'number' && (await count()) >= most.inAll) return full(most.inAll);
    const [person] =
      owner === undefined
        ? []
        : await db.read(db.selectFrom('people').select('id').where('id', '=', owner.id));
    return person && most.ofOwner !== undefined ? ownsTooMany(most.ofOwner) : notFound('person');
  };
  const create = async (wanted: NewTenant) => {
    const results = await db.write(creation(db, wanted));
    const row = results.at(-1)?.rows[0] as unknown as TenantRow | undefined;
    if (!row) throw await reasonOfRefusal(wanted);
    if (!wasCreated(results)) throw isTaken(wanted.name);
    return toTenant(row);
  };

  return {
    get,

    async create(name, title, by, at) {
      return create({ name, title, by, at });
    },

    async createOwned(tenant, by, at, most = {}) {
      return create({ ...tenant, by, at, most });
    },

    async list() {
      return (await db.read(kept.orderBy('name'))).map(toTenant);
    },

    async findByName(name) {
      const [row] = await db.read(kept.where('name', '=', name));
      return row && toTenant(row);
    },

    async update(id, patch, by, at) {
      const read = all.where('id', '=', id);
      const updated = await compareAndSet(db, read, (row) => {
        if (isGone(row)) throw notFound('tenant');
        const detail = difference({ ...toTenant(row) }, patch);
        const columns = toColumns(patch);
        if (!detail) return undefined;
        const { name = row.name } = columns;
        const isRenamed = name !== row.name;
        if (isRenamed && row.name === defaultTenant) throw isNeeded('renamed');
        return {
          entry: { tenant: id, by, at, action: 'tenant.update', subject: row.name, detail },
          // Creating a tenant takes this lock first, so that no name is given twice.
          locks: isRenamed ? [lockNames] : [],
          when: sql<SqlBool>`${precondition('tenants', { id, ...pick(row, columns) })}
            and ${isRenamed ? sql<SqlBool>`not ${precondition('tenants', { name })}` : always}`,
          effects: (guard) => [updateWhen('tenants', { set: columns, where: { id } }, guard)],
          after: read,
        };
      });
      if (!updated) throw notFound('tenant');
      if (updated.row && !updated.done && difference({ ...toTenant(updated.row) }, patch))
        throw isTaken(patch.name ?? '');
      return toTenant(updated.row ?? updated.before);
    },

    async setState(id, state, by, at) {
      const read = all.where('id', '=', id);
      const [before] = await db.read(read);
      // While it is suspended, nothing of it becomes due.
      if (state === 'active' && before?.state === 'suspended') await restartExpectations(db, id, at);
      const set = await compareAndSet(db, read, (row) => {
        if (isGone(row)) throw notFound('tenant');
        if (row.state === state) return undefined;
        return {
          entry: {
            ...{ tenant: id, by, at, subject: row.name, detail: {} },
            action: state === 'active' ? 'tenant.resume' : 'tenant.suspend',
          },
          when: precondition('tenants', { id, state: row.state }),
          effects: (guard) => [updateWhen('tenants', { set: { state }, where: { id } }, guard)],
          after: read,
        };
      });
      if (!set) throw notFound('tenant');
      return toTenant(set.row ?? set.before);
    },

    async delete(id, by, at) {
      const read = all.where('id', '=', id);
      const deleted = await compareAndSet(db, read, (row) => {
        const { name, title, state } = row;
        if (isGone(row)) throw notFound('tenant');
        if (name === defaultTenant) throw isNeeded('deleted');
        const set = { state: 'deleting', name: nameOfDeleted(name, id) } as const;
        return {
          entry: { tenant: id, by, at, action: 'tenant.delete', subject: name, detail: { title } },
          when: precondition('tenants', { id, name, state }),
          effects: (guard) => [updateWhen('tenants', { set, where: { id } }, guard)],
        };
      });
      if (!deleted) throw notFound('tenant');
    },

    ...createTenantRemoval(db),
  };
}

/** Each expectation of the tenant is as if its last notification had come at `at`: what was sent to a suspended tenant was refused. */
async function restartExpectations(db: Database, tenant: TenantId, at: number): Promise<void> {
  const rows = await db.read(
    db
      .selectFrom('due_times')
      .selectAll()
      .where('tenant', '=', tenant)
      .where('kind', '=', 'expectation')
      .where('due_at', 'is not', null),
    tenant,
  );
  const updates = rows.map(({ subject, version, data }) => {
    const dueAt = overdueAt({ ...(JSON.parse(data) as Expected), lastAt: at });
    return db
      .updateTable('due_times')
      .set({ due_at: dueAt })
      .where('tenant', '=', tenant)
      .where('kind', '=', 'expectation')
      .where('subject', '=', subject)
      .where('version', '=', version)
      .where('due_at', '<', dueAt);
  });
  for (let i = 0; i < updates.length; i += expectationsAtOnce)
    await db.write(updates.slice(i, i + expectationsAtOnce), tenant);
}

/** SQL: the tenant of this column may act. */
export const isActive = (tenant: string) =>
  sql<SqlBool>`${sql.ref(tenant)} not in (select id from tenants where state <> 'active')`;

/** SQL: the tenant of this column is not deleted. */
export const isKept = (tenant: string) =>
  sql<SqlBool>`${sql.ref(tenant)} in (select id from tenants where state in ('active', 'suspended'))`;

const expectationsAtOnce = 500;

/** The row in which each change is counted. */
const lockNames = sql`update meta set value = value where name = 'changes'`;

const isTaken = (name: string) => conflict(`there is a tenant "${name}" already: choose another name`);

const isNeeded = (done: 'renamed' | 'deleted') =>
  conflict(`the tenant "${defaultTenant}" always exists, so it cannot be ${done}`);

const full = (most: number) =>
  forbidden(
    `owners may create tenants on this server up to ${most} (BELFRY_MAX_TENANTS), and there are so many: ask its operator`,
  );

const ownsTooMany = (most: number) =>
  conflict(
    `you own ${most} tenants, the most that a person may create: ask the operator of this server for more`,
  );

type Owner = Parameters<Tenants['createOwned']>[0]['owner'];

interface NewTenant {
  readonly name: string;
  readonly title: string;
  readonly timeZone?: string;
  readonly owner?: Owner;
  readonly most?: NonNullable<Parameters<Tenants['createOwned']>[3]>;
  readonly by: string;
  readonly at: number;
}

/** Statement 1 creates the tenant. The counter of changes is incremented before it, so `changed` shows whether the tenant is new. */
function creation(db: Database, { name, title, timeZone, owner, most = {}, by, at }: NewTenant) {
  const { inAll = 'off', ofOwner } = most;
  const created = sql<SqlBool>`tenants.name = ${name} and tenants.changed = ${currentChange}`;
  return [
    bumpChanges(always),
    sql`insert into tenants (id, name, title, time_zone, rules_revision, changed, created_at)
      select (select coalesce(max(id), 0) + 1 from tenants), ${name}, ${title}, ${timeZone ?? 'UTC'}, 0, ${currentChange}, ${at}
      where not exists (select 1 from tenants where name = ${name})
      and ${inAll === 'off' ? always : sql<SqlBool>`(select count(*) from tenants where state in ('active', 'suspended')) < ${inAll}`}
      and ${owner === undefined || ofOwner === undefined ? always : ownsFewerThan(owner, ofOwner)}
      and ${owner === undefined ? always : precondition('people', { id: owner.id })}`,
    sql`insert into audit (tenant, id, at, "by", action, subject, detail)
      select tenants.id, ${uuidv7()}, ${at}, ${by}, 'tenant.create', ${name}, ${JSON.stringify({ title, timeZone })}
      from tenants where ${created}`,
    ...Object.entries(builtInStyles).map(
      ([level, { rank, color, icon, sound, durationMs }]) =>
        sql`insert into levels (tenant, name, rank, color, icon, sound, duration_ms)
        select tenants.id, ${level}, ${rank}, ${color}, ${icon}, ${sound}, ${durationMs}
        from tenants where ${created}`,
    ),
    ...(owner === undefined ? [] : ownership({ owner, by, at }, created)),
    db.selectFrom('tenants').selectAll().where('name', '=', name),
  ];
}

const ownsFewerThan = ({ id }: Owner, most: number) =>
  sql<SqlBool>`(select count(*) from members where person = ${id} and role = 'owner' and ${isKept('members.tenant')}) < ${most}`;

function ownership(
  { owner, by, at }: { owner: Owner; by: string; at: number },
  created: Expression<SqlBool>,
) {
  return [
    sql`insert into audit (tenant, id, at, "by", action, subject, detail)
      select tenants.id, ${uuidv7()}, ${at}, ${by}, 'member.add', ${owner.id}, ${JSON.stringify({ email: owner.email, role: 'owner' })}
      from tenants where ${created}`,
    sql`insert into members (tenant, person, role, joined_at, last_seen_at)
      select tenants.id, ${owner.id}, 'owner', ${at}, null from tenants where ${created}`,
  ];
}

function wasCreated(results: readonly SqlResult[]): boolean {
  return results[1]?.changes === 1;
}

function toColumns(patch: Patch): Partial<TenantRow> {
  const columns: Partial<TenantRow> = {};
  if (patch.name !== undefined) columns.name = patch.name;
  if (patch.title !== undefined) columns.title = patch.title;
  if (patch.timeZone !== undefined) columns.time_zone = patch.timeZone;
  if (patch.rate !== undefined) columns.rate = toJson(patch.rate);
  if (patch.retentionDays !== undefined) columns.retention_days = toJson(patch.retentionDays);
  if (patch.retentionCount !== undefined) columns.retention_count = toJson(patch.retentionCount);
  return columns;
}

export function toTenant(row: TenantRow): TenantRecord {
  return {
    id: row.id,
    name: row.name,
    title: row.title,
    timeZone: row.time_zone,
    state: row.state,
    rate: fromJson<RateSetting>(row.rate),
    retentionDays: fromJson<number | 'off' | null>(row.retention_days),
    retentionCount: fromJson<number | 'off' | null>(row.retention_count),
    createdAt: row.created_at,
    changed: row.changed,
    rulesRevision: row.rules_revision,
  };
}

function toJson(value: unknown): string | null {
  return value === null ? null : JSON.stringify(value);
}

function fromJson<T>(text: string | null): T | null {
  return text === null ? null : (JSON.parse(text) as T);
}

/** Removes the data of deleted tenants, in short transactions. Their logs are removed as retention does it. */

const rowsAStep = 500;

type TableOfTenants = {
  [Table in keyof Schema]: 'tenant' extends keyof Schema[Table] ? Table : never;
}[keyof Schema];

/** The rest of the key of each table that begins with the tenant. Pairings end by themselves within minutes. */
const keys: Readonly<Record<Exclude<TableOfTenants, 'pairings'>, readonly string[]>> = {
  credentials: ['id'],
  members: ['person'],
  invitations: ['id'],
  due_times: ['kind', 'subject'],
  deliveries: ['channel', 'position'],
  push_devices: ['channel', 'id'],
  channels: ['id'],
  panels: ['id'],
  rule_hits: ['id'],
  rules: ['id', 'since'],
  saved_searches: ['id'],
  mappings: ['name'],
  on_call: ['id'],
  levels: ['name'],
  audit: ['id'],
};

/** No tenant can have such a name, so the former one is free. */
const nameOfDeleted = (name: string, id: TenantId): string => `${name}~${id}`;
const formerName = (name: string): string => name.replace(/~\d+$/, '');

type Removal = Pick<Tenants, 'listDeleting' | 'listDeleted' | 'removeSome' | 'endDeletion'>;

function createTenantRemoval(db: Database): Removal {
  return {
    async listDeleting() {
      const rows = await db.read(
        db.selectFrom('tenants').select(['id', 'name']).where('state', '=', 'deleting').orderBy('id'),
      );
      return rows.map(({ id, name }) => ({ id, name: formerName(name) }));
    },

    async listDeleted() {
      const rows = await db.read(
        db
          .selectFrom('tenants')
          .innerJoin('audit', 'audit.tenant', 'tenants.id')
          .select(['tenants.title', 'tenants.state', 'audit.subject', 'audit.at', 'audit.by'])
          .where('tenants.state', 'in', ['deleting', 'deleted'])
          .where('audit.action', '=', 'tenant.delete')
          .orderBy('audit.at', 'desc')
          .orderBy('tenants.id', 'desc'),
      );
      return rows.map(({ title, state, subject, at, by }) => ({
        name: subject,
        title,
        state: state as DeletedTenant['state'],
        deletedAt: at,
        deletedBy: by,
      }));
    },

    async removeSome(id) {
      for (const [table, columns] of Object.entries(keys)) {
        const key = sql.join(columns.map((column) => sql.ref(column)));
        // The entry that says who deleted the tenant stays.
        const others = table === 'audit' ? sql`and action <> 'tenant.delete'` : sql``;
        const [result] = await db.write(
          [
            sql`delete from ${sql.table(table)} where tenant = ${id} and (${key}) in (
              select ${key} from ${sql.table(table)} where tenant = ${id} ${others} limit ${rowsAStep})`,
          ],
          id,
        );
        if (result && result.changes > 0) return result.changes;
      }
      return 0;
    },

    async endDeletion(id) {
      await db.write([
        db
          .updateTable('tenants')
          .set({ state: 'deleted' })
          .where('id', '=', id)
          .where('state', '=', 'deleting'),
      ]);
    },
  };
}
