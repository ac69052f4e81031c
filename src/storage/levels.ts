import { type Expression, type SqlBool, sql } from 'kysely';
import { builtInLevels, type Level, type LevelPut } from '../contract/level.ts';
import { limits } from '../contract/limits.ts';
import type { Levels } from '../core/directory.ts';
import { compareLevels, isBuiltInLevel } from '../core/levels.ts';
import type { TenantId } from '../core/ports.ts';
import { change, countChange, lockTenant } from './change.ts';
import type { Builder, LevelRow } from './schema.ts';
import type { SqlExecutor } from './sql.ts';

export function createLevels(db: Builder, executor: SqlExecutor): Levels {
  const of = (tenant: TenantId) => db.selectFrom('levels').selectAll().where('tenant', '=', tenant);

  return {
    async list(tenant) {
      const rows = await executor.read(of(tenant).compile());
      return rows.map(toLevel).sort(compareLevels);
    },

    async register(tenant, name) {
      const isNew = sql<SqlBool>`not ${known(tenant, name)} and ${hasRoom(tenant)}`;
      // No one person did this, so there is no audit row to go by: the condition holds until the last statement.
      const results = await executor.write([
        lockTenant(db, tenant),
        ...countChange(db, tenant, isNew),
        likeInfo(db, tenant, name, isNew),
        of(tenant).where('name', '=', name).compile(),
      ]);
      return results.at(-1)?.rows.length === 1;
    },

    async put(tenant, name, style, by, at) {
      const columns = toColumns(style);
      const { row } = await change(db, executor, {
        entry: { tenant, by, at, action: 'level.put', subject: name, detail: style },
        when: sql<SqlBool>`(${known(tenant, name)} or ${hasRoom(tenant)})`,
        effects: (agreed) => [
          likeInfo(db, tenant, name, sql<SqlBool>`not ${known(tenant, name)} and ${agreed}`),
          ...(Object.keys(columns).length === 0
            ? []
            : [
                db
                  .updateTable('levels')
                  .set(columns)
                  .where('tenant', '=', tenant)
                  .where('name', '=', name)
                  .where(agreed)
                  .compile(),
              ]),
        ],
        after: of(tenant).where('name', '=', name).compile(),
      });
      return row && toLevel(row);
    },

    async remove(tenant, name, by, at) {
      if (isBuiltInLevel(name)) return false;
      const { done } = await change(db, executor, {
        entry: { tenant, by, at, action: 'level.delete', subject: name, detail: {} },
        when: known(tenant, name),
        effects: (agreed) => [
          db
            .deleteFrom('levels')
            .where('tenant', '=', tenant)
            .where('name', '=', name)
            .where(agreed)
            .compile(),
        ],
        after: of(tenant).where('name', '=', name).compile(),
      });
      return done;
    },
  };
}

function known(tenant: TenantId, name: string): Expression<SqlBool> {
  return sql<SqlBool>`exists (select 1 from levels where tenant = ${tenant} and name = ${name})`;
}

function hasRoom(tenant: TenantId): Expression<SqlBool> {
  return sql<SqlBool>`(select count(*) from levels where tenant = ${tenant} and name not in (${sql.join(builtInLevels)}))
    < ${limits.customLevelsPerTenant}`;
}

/** A level with the rank and look that info has in this tenant. */
function likeInfo(db: Builder, tenant: TenantId, name: string, when: Expression<SqlBool>) {
  return sql`insert into levels (tenant, name, rank, color, icon, sound, duration_ms)
    select tenant, ${name}, rank, color, icon, sound, duration_ms
    from levels where tenant = ${tenant} and name = 'info' and ${when}`.compile(db);
}

function toColumns(style: LevelPut): Partial<LevelRow> {
  const { durationMs, ...same } = style;
  return durationMs === undefined ? same : { ...same, duration_ms: durationMs };
}

function toLevel({ name, rank, color, icon, sound, duration_ms }: LevelRow): Level {
  return {
    name,
    builtIn: isBuiltInLevel(name),
    rank,
    color,
    icon: icon as Level['icon'],
    sound: sound as Level['sound'],
    durationMs: duration_ms,
  };
}
