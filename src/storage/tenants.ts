import { type Expression, type SqlBool, sql } from 'kysely';
import { uuidv7 } from 'uuidv7';
import { builtInStyles } from '#contract/level-styles.ts';
import { AppError, notFound } from '#core/errors.ts';
import type { TenantId } from '#core/ports.ts';
import type { RateSetting, TenantRecord, Tenants } from '#core/tenants.ts';
import { difference } from './audit.ts';
import { always, bumpChanges, compareAndSet, currentChange, pick, precondition } from './change.ts';
import type { Builder, TenantRow } from './schema.ts';
import type { SqlExecutor, SqlResult } from './sql.ts';

type Patch = Parameters<Tenants['update']>[1];

/** A new tenant gets the built-in levels in the same transaction. */
export function createTenants(db: Builder, executor: SqlExecutor): Tenants {
  const all = db.selectFrom('tenants').selectAll();
  const get = async (id: TenantId) => {
    const [row] = await executor.read(all.where('id', '=', id).compile());
    if (!row) throw notFound('tenant');
    return toTenant(row);
  };

  const create = async (wanted: NewTenant) => {
    const results = await executor.write(creation(db, wanted));
    const row = results.at(-1)?.rows[0] as unknown as TenantRow | undefined;
    if (!row) throw notFound('person');
    if (!wasCreated(results))
      throw new AppError('conflict', `there is a tenant "${wanted.name}" already: choose another name`);
    return toTenant(row);
  };

  return {
    get,

    async create(name, title, by, at) {
      return create({ name, title, by, at });
    },

    async createOwned(tenant, by, at) {
      return create({ ...tenant, by, at });
    },

    async list() {
      return (await executor.read(all.orderBy('name').compile())).map(toTenant);
    },

    async findByName(name) {
      const [row] = await executor.read(all.where('name', '=', name).compile());
      return row && toTenant(row);
    },

    async update(id, patch, by, at) {
      const read = all.where('id', '=', id).compile();
      const updated = await compareAndSet(db, executor, read, (row) => {
        const detail = difference({ ...toTenant(row) }, patch);
        const columns = toColumns(patch);
        return (
          detail && {
            entry: { tenant: id, by, at, action: 'tenant.update', subject: row.name, detail },
            when: precondition('tenants', { id, ...pick(row, columns) }),
            effects: (guard) => [
              db.updateTable('tenants').set(columns).where('id', '=', id).where(guard).compile(),
            ],
            after: read,
          }
        );
      });
      if (!updated) throw notFound('tenant');
      return toTenant(updated.row ?? updated.before);
    },
  };
}

type Owner = Parameters<Tenants['createOwned']>[0]['owner'];

interface NewTenant {
  readonly name: string;
  readonly title: string;
  readonly timeZone?: string;
  readonly owner?: Owner;
  readonly by: string;
  readonly at: number;
}

/** Statement 1 makes the tenant; the change was counted before, so `changed` tells a new one from one that was there. */
function creation(db: Builder, { name, title, timeZone, owner, by, at }: NewTenant) {
  const created = sql<SqlBool>`tenants.name = ${name} and tenants.changed = ${currentChange}`;
  return [
    bumpChanges(db, always),
    sql`insert into tenants (id, name, title, time_zone, rules_revision, changed, created_at)
      select (select coalesce(max(id), 0) + 1 from tenants), ${name}, ${title}, ${timeZone ?? 'UTC'}, 0, ${currentChange}, ${at}
      where not exists (select 1 from tenants where name = ${name})
      and ${owner === undefined ? always : precondition('people', { id: owner.id })}`.compile(db),
    sql`insert into audit (tenant, id, at, "by", action, subject, detail)
      select tenants.id, ${uuidv7()}, ${at}, ${by}, 'tenant.create', ${name}, ${JSON.stringify({ title, timeZone })}
      from tenants where ${created}`.compile(db),
    ...Object.entries(builtInStyles).map(([level, { rank, color, icon, sound, durationMs }]) =>
      sql`insert into levels (tenant, name, rank, color, icon, sound, duration_ms)
        select tenants.id, ${level}, ${rank}, ${color}, ${icon}, ${sound}, ${durationMs}
        from tenants where ${created}`.compile(db),
    ),
    ...(owner === undefined ? [] : ownership(db, { owner, by, at }, created)),
    db.selectFrom('tenants').selectAll().where('name', '=', name).compile(),
  ];
}

function ownership(
  db: Builder,
  { owner, by, at }: { owner: Owner; by: string; at: number },
  created: Expression<SqlBool>,
) {
  return [
    sql`insert into audit (tenant, id, at, "by", action, subject, detail)
      select tenants.id, ${uuidv7()}, ${at}, ${by}, 'member.add', ${owner.id}, ${JSON.stringify({ email: owner.email, role: 'owner' })}
      from tenants where ${created}`.compile(db),
    sql`insert into members (tenant, person, role, joined_at, last_seen_at)
      select tenants.id, ${owner.id}, 'owner', ${at}, null from tenants where ${created}`.compile(db),
  ];
}

function wasCreated(results: readonly SqlResult[]): boolean {
  return results[1]?.changes === 1;
}

function toColumns(patch: Patch): Partial<TenantRow> {
  const columns: Partial<TenantRow> = {};
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
