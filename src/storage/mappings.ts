import { type SqlBool, sql } from 'kysely';
import { limits } from '#contract/limits.ts';
import type { Mapping, MappingPut } from '#contract/mapping.ts';
import type { Mappings } from '#core/directory.ts';
import { AppError } from '#core/errors.ts';
import { change, precondition } from './change.ts';
import type { Builder, MappingRow } from './schema.ts';
import type { SqlExecutor } from './sql.ts';

export function createMappings(db: Builder, executor: SqlExecutor): Mappings {
  const of = (tenant: number) => db.selectFrom('mappings').selectAll().where('tenant', '=', tenant);

  return {
    async list(tenant) {
      return (await executor.read(of(tenant).orderBy('name').compile())).map(toMapping);
    },

    async put(tenant, name, wanted, by, at) {
      const spec = JSON.stringify(wanted);
      const { done, row } = await change(db, executor, {
        entry: { tenant, by, at, action: 'mapping.put', subject: name, detail: wanted },
        when: sql<SqlBool>`(${precondition('mappings', { tenant, name })}
          or (select count(*) from mappings where tenant = ${tenant}) < ${limits.mappingsPerTenant})`,
        effects: (guard) => [
          sql`insert into mappings (tenant, name, spec, updated_at, updated_by)
            select ${tenant}, ${name}, ${spec}, ${at}, ${by} where ${guard}
            on conflict (tenant, name) do update set spec = excluded.spec, updated_at = excluded.updated_at,
              updated_by = excluded.updated_by`.compile(db),
        ],
        after: of(tenant).where('name', '=', name).compile(),
      });
      if (done && row) return toMapping(row);
      throw new AppError(
        'conflict',
        `there are ${limits.mappingsPerTenant} mappings already: delete one that you do not use`,
      );
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
        after: of(tenant).where('name', '=', name).compile(),
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
