import { type SqlBool, sql } from 'kysely';
import { limits } from '#contract/limits.ts';
import type { DisplaySettings } from '#contract/panel.ts';
import type { Actor } from '#core/audit.ts';
import type { PanelRecord, Panels } from '#core/directory.ts';
import { AppError } from '#core/errors.ts';
import type { TenantId } from '#core/ports.ts';
import { auditMark, difference } from './audit.ts';
import { deletions } from './audit-log.ts';
import { always, change, compareAndSet, insertWhen, pick, precondition } from './change.ts';
import type { Builder, PanelRow } from './schema.ts';
import type { SqlExecutor } from './sql.ts';

type Patch = Parameters<Panels['update']>[2];

export function createPanels(db: Builder, executor: SqlExecutor): Panels {
  const select = (tenant: TenantId) => db.selectFrom('panels').selectAll().where('tenant', '=', tenant);

  return {
    async list(tenant) {
      return (await executor.read(select(tenant).orderBy('name').compile(), tenant)).map(toPanel);
    },

    async deleted(tenant) {
      const rows = await executor.read(deletions(db, tenant, 'panel.delete'), tenant);
      return rows.map(({ subject, detail, at }) => {
        const { name, tags } = JSON.parse(detail) as Pick<PanelRecord, 'name' | 'tags'>;
        return { id: subject, name, tags, deletedAt: at };
      });
    },

    async find(tenant, id) {
      const [row] = await executor.read(select(tenant).where('id', '=', id).compile(), tenant);
      return row && toPanel(row);
    },

    async register(tenant, { id, name, tags, location }, by, at) {
      const named = select(tenant).where('name', '=', name).compile();
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
        client: null,
        address: null,
      };
      const { done, row: kept } = await change(db, executor, {
        entry: { tenant, by, at, action: 'panel.create', subject: id, detail: { name, tags, location } },
        when: sql<SqlBool>`not exists (select 1 from panels where tenant = ${tenant} and name = ${name})
          and (select count(*) from panels where tenant = ${tenant}) < ${limits.panelsPerTenant}`,
        effects: (guard) => [insertWhen(db, 'panels', row, guard)],
        after: named,
      });
      return kept && { panel: toPanel(kept), created: done };
    },

    async update(tenant, id, patch, by, at) {
      const read = select(tenant).where('id', '=', id).compile();
      const taken = sql`select 1 from panels where tenant = ${tenant} and name = ${patch.name ?? null} and id <> ${id}`;
      const minLevel = patch.display?.minLevel;
      const hasLevel =
        minLevel === undefined
          ? always
          : sql<SqlBool>`exists (select 1 from levels where tenant = ${tenant} and name = ${minLevel})`;
      const updated = await compareAndSet(db, executor, read, (row) => {
        const detail = difference({ ...toPanel(row) }, patch);
        const columns = toColumns(patch);
        return (
          detail && {
            entry: { tenant, by, at, action: 'panel.update', subject: id, detail },
            when: sql<SqlBool>`${precondition('panels', { tenant, id, ...pick(row, columns) })} and not exists (${taken}) and ${hasLevel}`,
            effects: (guard) => [
              db
                .updateTable('panels')
                .set(columns)
                .where('tenant', '=', tenant)
                .where('id', '=', id)
                .where(guard)
                .compile(),
            ],
            after: read,
          }
        );
      });
      // Refused: there was something to do, and it was not done.
      if (updated?.row && !updated.done) {
        const others = select(tenant)
          .where('name', '=', patch.name ?? '')
          .where('id', '<>', id);
        const [other] = await executor.read(others.compile());
        if (other || minLevel === undefined)
          throw new AppError('conflict', `another panel is named "${patch.name}": choose another name`);
        throw new AppError(
          'conflict',
          `the level "${minLevel}" is not there any more: choose another minLevel`,
        );
      }
      return updated && toPanel(updated.row ?? updated.before);
    },

    remove: (tenant, id, by, at) => removePanel(db, executor, { tenant, id, by, at }),

    async noteCommand(tenant, id, command, by, at) {
      const entry = { tenant, by, at, action: `panel.${command}`, subject: id, detail: {} };
      const isThere = sql<SqlBool>`exists (select 1 from panels where tenant = ${tenant} and id = ${id})`;
      const [written] = await executor.write([auditMark(db, entry, isThere).insert], tenant);
      return written?.changes === 1;
    },

    async touch(seen) {
      if (seen.length === 0) return;
      await executor.write(
        seen.map(({ tenant, id, at, cursor, client, address }) =>
          db
            .updateTable('panels')
            .set({ last_seen_at: at, cursor, client, address })
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

/** A screen's own tokens open nothing else: they end with its panel, and the audit log tells it of each. */
async function removePanel(
  db: Builder,
  executor: SqlExecutor,
  { tenant, id, by, at }: { tenant: TenantId; id: string; by: Actor; at: number },
): Promise<boolean> {
  const bound = db
    .selectFrom('credentials')
    .select('id')
    .where('tenant', '=', tenant)
    .where('panel_id', '=', id)
    .where('revoked_at', 'is', null);
  for (;;) {
    const [known] = await executor.read(
      db.selectFrom('panels').selectAll().where('tenant', '=', tenant).where('id', '=', id).compile(),
    );
    if (!known) return false;
    const { name, tags, location } = toPanel(known);
    const tokens = await executor.read(bound.compile());
    const { done } = await change(db, executor, {
      entry: { tenant, by, at, action: 'panel.delete', subject: id, detail: { name, tags, location } },
      when: sql<SqlBool>`${precondition('panels', { tenant, id, name, tags: known.tags, location })}
        and (select count(*) from (${bound}) as bound) = ${tokens.length}`,
      effects: (guard) => [
        db.deleteFrom('panels').where('tenant', '=', tenant).where('id', '=', id).where(guard).compile(),
        ...tokens.map(
          ({ id: subject }) =>
            auditMark(db, { tenant, by, at, action: 'token.revoke', subject, detail: { panelId: id } }, guard)
              .insert,
        ),
        db
          .updateTable('credentials')
          .set({ revoked_at: at })
          .where('tenant', '=', tenant)
          .where('panel_id', '=', id)
          .where('revoked_at', 'is', null)
          .where(guard)
          .compile(),
      ],
      after: bound.compile(),
    });
    // Otherwise it has changed since it was read.
    if (done) return true;
  }
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
    client: row.client,
    address: row.address,
  };
}
