import { type Expression, type SqlBool, sql } from 'kysely';
import { limits } from '#contract/limits.ts';
import type { Level, LevelPut } from '#contract/routing/level.ts';
import { builtInLevels, compareLevels, isBuiltInLevel } from '#contract/routing/level-styles.ts';
import type { TenantId } from '#core/log/route.ts';
import type { Levels } from '#core/tenants/directory.ts';
import type { Database, LevelRow, Statement } from '../database/sql.ts';
import { deletions, difference } from './audit.ts';
import { always, change, compareAndSet, deleteWhen, precondition, updateWhen } from './change.ts';
import { currentRevision } from './rule-order.ts';

export function createLevels(db: Database): Levels {
  const select = (tenant: TenantId) => db.selectFrom('levels').selectAll().where('tenant', '=', tenant);

  return {
    async list(tenant) {
      const rows = await db.read(select(tenant), tenant);
      return rows.map(toLevel).sort(compareLevels);
    },

    async deleted(tenant) {
      const rows = await db.read(deletions(db, tenant, 'level.delete'), tenant);
      const ranks = new Map<string, number>();
      for (const { subject, detail } of rows)
        if (!ranks.has(subject)) ranks.set(subject, (JSON.parse(detail) as Pick<Level, 'rank'>).rank);
      return [...ranks].map(([name, rank]) => ({ name, rank }));
    },

    async register(tenant, name, by, at) {
      const { row } = await change(db, {
        entry: { tenant, by, at, action: 'level.register', subject: name, detail: {} },
        when: sql<SqlBool>`not ${precondition('levels', { tenant, name })} and ${hasRoom(tenant)}`,
        effects: (guard) => [likeInfo(tenant, name, guard)],
        after: select(tenant).where('name', '=', name),
      });
      return row !== undefined;
    },

    async put(tenant, name, style, by, at) {
      const entry = { tenant, by, at, action: 'level.put', subject: name } as const;
      const one = select(tenant).where('name', '=', name);
      for (;;) {
        const restyled = await compareAndSet(db, one, (row) => {
          const detail = difference({ ...toLevel(row) }, style);
          if (!detail) return undefined;
          return {
            entry: { ...entry, detail },
            when: precondition('levels', row),
            effects: (guard) => [restyle(row, style, guard)],
            after: one,
          };
        });
        if (restyled) return toLevel(restyled.row ?? restyled.before);
        const { done, row } = await change(db, {
          entry: { ...entry, detail: { before: null, after: style } },
          when: sql<SqlBool>`not ${precondition('levels', { tenant, name })} and ${hasRoom(tenant)}`,
          effects: (guard) => [
            likeInfo(tenant, name, guard),
            ...(Object.keys(style).length === 0 ? [] : [restyle({ tenant, name }, style, guard)]),
          ],
          after: one,
        });
        // Otherwise another caller created the level at the same time, so this tries again.
        if (done || !row) return row && toLevel(row);
      }
    },

    async remove(tenant, name, by, at, revision) {
      if (isBuiltInLevel(name)) return false;
      const one = select(tenant).where('name', '=', name);
      const removed = await compareAndSet(db, one, (row) => {
        const { name: _, builtIn: __, ...detail } = toLevel(row);
        return {
          entry: {
            tenant,
            by,
            at,
            action: 'level.delete',
            subject: name,
            detail,
          },
          when: sql<SqlBool>`${precondition('levels', row)} and not ${shownFrom(tenant, name)}
            and ${revision === undefined ? always : sql`${currentRevision(tenant)} = ${revision}`}`,
          effects: (guard) => [deleteWhen('levels', { tenant, name }, guard)],
        };
      });
      if (!removed) return false;
      return removed.done || undefined;
    },
  };
}

function restyle(
  { tenant, name }: Pick<LevelRow, 'tenant' | 'name'>,
  style: LevelPut,
  when: Expression<SqlBool>,
): Statement {
  return updateWhen('levels', { set: toColumns(style), where: { tenant, name } }, when);
}

/** Whether a panel's `minLevel` names the level. Quotes inside a JSON text are escaped, so nothing else in it can match. */
function shownFrom(tenant: TenantId, name: string): Expression<SqlBool> {
  const part = `%"minLevel":"${name.replaceAll('_', '\\_')}"%`;
  return sql<SqlBool>`exists (select 1 from panels where tenant = ${tenant} and display like ${part} escape '\\')`;
}

function hasRoom(tenant: TenantId): Expression<SqlBool> {
  return sql<SqlBool>`(select count(*) from levels where tenant = ${tenant} and name not in (${sql.join(builtInLevels)}))
    < ${limits.customLevelsPerTenant}`;
}

/** A level with the rank and look that info has in this tenant. */
function likeInfo(tenant: TenantId, name: string, when: Expression<SqlBool>) {
  return sql`insert into levels (tenant, name, rank, color, icon, sound, duration_ms)
    select tenant, ${name}, rank, color, icon, sound, duration_ms
    from levels where tenant = ${tenant} and name = 'info' and ${when}`;
}

function toColumns(style: LevelPut): Partial<LevelRow> {
  const { durationMs, repeatMs, acknowledgeForMs, ...same } = style;
  return {
    ...same,
    ...(durationMs !== undefined && { duration_ms: durationMs }),
    ...(repeatMs !== undefined && { repeat_ms: repeatMs === 0 ? null : repeatMs }),
    ...(acknowledgeForMs !== undefined && { acknowledge_for_ms: acknowledgeForMs || null }),
  };
}

function toLevel(row: LevelRow): Level {
  const { name, rank, color, icon, sound, duration_ms, repeat_ms, acknowledge_for_ms } = row;
  return {
    name,
    builtIn: isBuiltInLevel(name),
    rank,
    color,
    icon: icon as Level['icon'],
    sound: sound as Level['sound'],
    durationMs: duration_ms,
    ...(repeat_ms !== null && { repeatMs: repeat_ms }),
    ...(acknowledge_for_ms !== null && { acknowledgeForMs: acknowledge_for_ms }),
  };
}
