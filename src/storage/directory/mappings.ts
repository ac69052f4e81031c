import { type SqlBool, sql } from 'kysely';
import type { Mapping, MappingPut } from '#contract/integrations/integration.ts';
import { limits } from '#contract/limits.ts';
import { conflict } from '#core/errors.ts';
import type { Mappings } from '#core/tenants/directory.ts';
import { iso } from '#core/time/time.ts';
import type { Database, MappingRow } from '../database/sql.ts';
import { change, compareAndSet, deleteWhen, insertWhen, precondition, updateWhen } from './change.ts';

export function createMappings(db: Database): Mappings {
  const select = (tenant: number) => db.selectFrom('mappings').selectAll().where('tenant', '=', tenant);

  return {
    async list(tenant) {
      return (await db.read(select(tenant).orderBy('name'), tenant)).map(toMapping);
    },

    async put(tenant, name, wanted, by, at) {
      const entry = { tenant, by, at, action: 'mapping.put', subject: name } as const;
      const spec = JSON.stringify(wanted);
      const one = select(tenant).where('name', '=', name);
      for (;;) {
        const replaced = await compareAndSet(db, one, (row) =>
          row.spec === spec
            ? undefined
            : {
                entry: { ...entry, detail: { before: JSON.parse(row.spec), after: wanted } },
                when: precondition('mappings', row),
                effects: (guard) => [
                  updateWhen(
                    'mappings',
                    { set: { spec, updated_at: at, updated_by: by }, where: { tenant, name } },
                    guard,
                  ),
                ],
                after: one,
              },
        );
        if (replaced) return toMapping(replaced.row ?? replaced.before);
        const created = { tenant, name, spec, updated_at: at, updated_by: by };
        const { done, row } = await change(db, {
          entry: { ...entry, detail: { before: null, after: wanted } },
          when: sql<SqlBool>`not ${precondition('mappings', { tenant, name })}
            and (select count(*) from mappings where tenant = ${tenant}) < ${limits.mappingsPerTenant}`,
          effects: (guard) => [insertWhen('mappings', created, guard)],
          after: one,
        });
        if (done) return toMapping(created);
        // Otherwise another caller created the mapping at the same time, so this tries again.
        if (!row)
          throw conflict(
            `there are ${limits.mappingsPerTenant} mappings already: delete one that you do not use`,
          );
      }
    },

    async remove(tenant, name, by, at) {
      const { done } = await change(db, {
        entry: { tenant, by, at, action: 'mapping.delete', subject: name, detail: {} },
        when: precondition('mappings', { tenant, name }),
        effects: (guard) => [deleteWhen('mappings', { tenant, name }, guard)],
      });
      return done;
    },
  };
}

function toMapping({ name, spec, updated_at, updated_by }: MappingRow): Mapping {
  return {
    name,
    ...(JSON.parse(spec) as MappingPut),
    updatedAt: iso(updated_at),
    updatedBy: updated_by,
  };
}
