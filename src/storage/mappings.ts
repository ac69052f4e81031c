import { type SqlBool, sql } from 'kysely';
import { limits } from '#contract/limits.ts';
import type { Mapping, MappingPut } from '#contract/mapping.ts';
import type { Mappings } from '#core/directory.ts';
import { AppError } from '#core/errors.ts';
import { change, compareAndSet, insertWhen, precondition } from './change.ts';
import type { Builder, MappingRow } from './schema.ts';
import type { SqlExecutor } from './sql.ts';

export function createMappings(db: Builder, executor: SqlExecutor): Mappings {
  const select = (tenant: number) => db.selectFrom('mappings').selectAll().where('tenant', '=', tenant);

  return {
    async list(tenant) {
      return (await executor.read(select(tenant).orderBy('name').compile(), tenant)).map(toMapping);
    },

    async put(tenant, name, wanted, by, at) {
      const entry = { tenant, by, at, action: 'mapping.put', subject: name };
      const spec = JSON.stringify(wanted);
      const one = select(tenant).where('name', '=', name).compile();
      for (;;) {
        const replaced = await compareAndSet(db, executor, one, (row) =>
          row.spec === spec
            ? undefined
            : {
                entry: { ...entry, detail: { before: JSON.parse(row.spec), after: wanted } },
                when: precondition('mappings', row),
                effects: (guard) => [
                  db
                    .updateTable('mappings')
                    .set({ spec, updated_at: at, updated_by: by })
                    .where('tenant', '=', tenant)
                    .where('name', '=', name)
                    .where(guard)
                    .compile(),
                ],
                after: one,
              },
        );
        if (replaced) return toMapping(replaced.row ?? replaced.before);
        const created = { tenant, name, spec, updated_at: at, updated_by: by };
        const { done, row } = await change(db, executor, {
          entry: { ...entry, detail: { before: null, after: wanted } },
          when: sql<SqlBool>`not ${precondition('mappings', { tenant, name })}
            and (select count(*) from mappings where tenant = ${tenant}) < ${limits.mappingsPerTenant}`,
          effects: (guard) => [insertWhen(db, 'mappings', created, guard)],
          after: one,
        });
        if (done) return toMapping(created);
        // Unless somebody else made it at the same moment.
        if (!row)
          throw new AppError(
            'conflict',
            `there are ${limits.mappingsPerTenant} mappings already: delete one that you do not use`,
          );
      }
    },

    async remove(tenant, name, by, at) {
      const { done } = await change(db, executor, {
        entry: { tenant, by, at, action: 'mapping.delete', subject: name, detail: {} },
        when: precondition('mappings', { tenant, name }),
        effects: (guard) => [
          db
            .deleteFrom('mappings')
            .where('tenant', '=', tenant)
            .where('name', '=', name)
            .where(guard)
            .compile(),
        ],
        after: select(tenant).where('name', '=', name).compile(),
      });
      return done;
    },
  };
}

function toMapping({ name, spec, updated_at, updated_by }: MappingRow): Mapping {
  const { items, fields, levels } = JSON.parse(spec) as MappingPut;
  return {
    name,
    ...(items !== undefined && { items }),
    fields,
    ...(levels !== undefined && { levels }),
    updatedAt: new Date(updated_at).toISOString(),
    updatedBy: updated_by,
  };
}
