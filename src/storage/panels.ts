import { type SqlBool, sql } from 'kysely';
import { limits } from '../contract/limits.ts';
import type { DisplaySettings } from '../contract/panel.ts';
import type { PanelRecord, Panels } from '../core/directory.ts';
import { AppError } from '../core/errors.ts';
import type { TenantId } from '../core/ports.ts';
import { change, insertWhen } from './change.ts';
import type { Builder, PanelRow } from './schema.ts';
import type { SqlExecutor } from './sql.ts';

type Patch = Parameters<Panels['update']>[2];

export function createPanels(db: Builder, executor: SqlExecutor): Panels {
  const of = (tenant: TenantId) => db.selectFrom('panels').selectAll().where('tenant', '=', tenant);

  return {
    async list(tenant) {
      return (await executor.read(of(tenant).orderBy('name').compile())).map(toPanel);
    },

    async register(tenant, { id, name, tags, location }, by, at) {
      const named = of(tenant).where('name', '=', name).compile();
      // A screen registers at every start: one that is known costs no write.
      const [known] = await executor.read(named);
      if (known) return { panel: toPanel(known), created: false };
      const row = {
        tenant,
        id,
        name,
        tags: JSON.stringify(tags),
        location,
        display: '{}',
        created_at: at,
        last_seen_at: null,
        cursor: null,
      };
      const { done, row: kept } = await change(db, executor, {
        entry: { tenant, by, at, action: 'panel.create', subject: id, detail: { name, tags, location } },
        when: sql<SqlBool>`not exists (select 1 from panels where tenant = ${tenant} and name = ${name})
          and (select count(*) from panels where tenant = ${tenant}) < ${limits.panelsPerTenant}`,
        effects: (agreed) => [insertWhen(db, 'panels', row, agreed)],
        after: named,
      });
      return kept && { panel: toPanel(kept), created: done };
    },

    async update(tenant, id, patch, by, at) {
      const columns = toColumns(patch);
      const taken = sql`select 1 from panels where tenant = ${tenant} and name = ${patch.name ?? null} and id <> ${id}`;
      const { done, row } = await change(db, executor, {
        entry: { tenant, by, at, action: 'panel.update', subject: id, detail: patch },
        when: sql<SqlBool>`exists (select 1 from panels where tenant = ${tenant} and id = ${id}) and not exists (${taken})`,
        effects: (agreed) =>
          Object.keys(columns).length === 0
            ? []
            : [
                db
                  .updateTable('panels')
                  .set(columns)
                  .where('tenant', '=', tenant)
                  .where('id', '=', id)
                  .where(agreed)
                  .compile(),
              ],
        after: of(tenant).where('id', '=', id).compile(),
      });
      if (row && !done)
        throw new AppError('conflict', `another panel is named "${patch.name}": choose another name`);
      return row && toPanel(row);
    },

    async remove(tenant, id, by, at) {
      const [known] = await executor.read(of(tenant).where('id', '=', id).compile());
      if (!known) return false;
      const { done } = await change(db, executor, {
        entry: { tenant, by, at, action: 'panel.delete', subject: id, detail: { name: known.name } },
        when: sql<SqlBool>`exists (select 1 from panels where tenant = ${tenant} and id = ${id})`,
        effects: (agreed) => [
          db.deleteFrom('panels').where('tenant', '=', tenant).where('id', '=', id).where(agreed).compile(),
          // A screen's own token opens nothing else: it ends with its panel.
          db
            .updateTable('credentials')
            .set({ revoked_at: at })
            .where('tenant', '=', tenant)
            .where('panel_id', '=', id)
            .where('revoked_at', 'is', null)
            .where(agreed)
            .compile(),
        ],
        after: of(tenant).where('id', '=', id).compile(),
      });
      return done;
    },

    async touch(seen) {
      if (seen.length === 0) return;
      await executor.write(
        seen.map(({ tenant, id, at, cursor }) =>
          db
            .updateTable('panels')
            .set({ last_seen_at: at, cursor })
            .where('tenant', '=', tenant)
            .where('id', '=', id)
            // A node that a panel has left may write after the one it went to.
            .where((eb) => eb.or([eb('last_seen_at', 'is', null), eb('last_seen_at', '<=', at)]))
            .compile(),
        ),
      );
    },
  };
}

function toColumns(patch: Patch): Partial<PanelRow> {
  const columns: Partial<PanelRow> = {};
  if (patch.name !== undefined) columns.name = patch.name;
  if (patch.tags !== undefined) columns.tags = JSON.stringify(patch.tags);
  if (patch.location !== undefined) columns.location = patch.location;
  if (patch.display !== undefined) columns.display = JSON.stringify(patch.display);
  return columns;
}

function toPanel(row: PanelRow): PanelRecord {
  return {
    id: row.id,
    name: row.name,
    tags: JSON.parse(row.tags) as string[],
    location: row.location,
    display: JSON.parse(row.display) as DisplaySettings,
    createdAt: row.created_at,
    lastSeenAt: row.last_seen_at,
    cursor: row.cursor,
  };
}
