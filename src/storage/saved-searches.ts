import { type SqlBool, sql } from 'kysely';
import type { SavedSearch } from '#contract/search.ts';
import type { SavedSearches } from '#core/directory.ts';
import { AppError } from '#core/errors.ts';
import { difference } from './audit.ts';
import { change, compareAndSet, insertWhen, precondition } from './change.ts';
import type { Builder, SavedSearchRow } from './schema.ts';
import type { SqlExecutor } from './sql.ts';

const savedSearchesPerTenant = 200;

export function createSavedSearches(db: Builder, executor: SqlExecutor): SavedSearches {
  const select = (tenant: number) => db.selectFrom('saved_searches').selectAll().where('tenant', '=', tenant);
  const taken = (name: string) =>
    new AppError(
      'conflict',
      `there is a saved search "${name}" already: choose another name, or delete that one`,
    );

  return {
    async list(tenant) {
      return (await executor.read(select(tenant).orderBy('name').compile(), tenant)).map(toSearch);
    },

    async add(tenant, search, by, at) {
      const { id, name, q } = search;
      const row: SavedSearchRow = {
        tenant,
        id,
        name,
        q,
        created_at: Date.parse(search.createdAt),
        created_by: search.createdBy,
      };
      const { done, row: named } = await change(db, executor, {
        entry: { tenant, by, at, action: 'search.create', subject: id, detail: { name, q } },
        when: sql<SqlBool>`not exists (select 1 from saved_searches where tenant = ${tenant} and name = ${name})
          and (select count(*) from saved_searches where tenant = ${tenant}) < ${savedSearchesPerTenant}`,
        effects: (guard) => [insertWhen(db, 'saved_searches', row, guard)],
        after: select(tenant).where('name', '=', name).compile(),
      });
      if (done) return;
      if (named) throw taken(name);
      throw new AppError(
        'conflict',
        `there are ${savedSearchesPerTenant} saved searches already: delete one first`,
      );
    },

    async update(tenant, id, { name, q }, by, at) {
      const one = select(tenant).where('id', '=', id).compile();
      const other = sql`select 1 from saved_searches where tenant = ${tenant} and name = ${name} and id <> ${id}`;
      const updated = await compareAndSet(db, executor, one, (row) => {
        const detail = difference({ name: row.name, q: row.q }, { name, q });
        return (
          detail && {
            entry: { tenant, by, at, action: 'search.update', subject: id, detail },
            when: sql<SqlBool>`${precondition('saved_searches', row)} and not exists (${other})`,
            effects: (guard) => [
              db
                .updateTable('saved_searches')
                .set({ name, q })
                .where('tenant', '=', tenant)
                .where('id', '=', id)
                .where(guard)
                .compile(),
            ],
            after: one,
          }
        );
      });
      if (updated?.row && !updated.done && updated.row.name !== name) throw taken(name);
      return updated && toSearch(updated.row ?? updated.before);
    },

    async remove(tenant, id, by, at) {
      const [known] = await executor.read(select(tenant).where('id', '=', id).compile(), tenant);
      if (!known) return false;
      const { done } = await change(db, executor, {
        entry: {
          tenant,
          by,
          at,
          action: 'search.delete',
          subject: id,
          detail: { name: known.name, q: known.q },
        },
        when: sql<SqlBool>`exists (select 1 from saved_searches where tenant = ${tenant} and id = ${id})`,
        effects: (guard) => [
          db
            .deleteFrom('saved_searches')
            .where('tenant', '=', tenant)
            .where('id', '=', id)
            .where(guard)
            .compile(),
        ],
        after: select(tenant).where('id', '=', id).compile(),
      });
      return done;
    },
  };
}

function toSearch(row: SavedSearchRow): SavedSearch {
  return {
    id: row.id,
    name: row.name,
    q: row.q,
    createdAt: new Date(row.created_at).toISOString(),
    createdBy: row.created_by,
  };
}
