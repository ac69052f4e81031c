import { type SqlBool, sql } from 'kysely';
import type { SavedSearch } from '#contract/history/search.ts';
import { conflict } from '#core/errors.ts';
import type { SavedSearches } from '#core/tenants/directory.ts';
import { iso } from '#core/time/time.ts';
import type { Database, SavedSearchRow } from '../database/sql.ts';
import { difference } from './audit.ts';
import { change, compareAndSet, deleteWhen, insertWhen, precondition, updateWhen } from './change.ts';

const savedSearchesPerTenant = 200;

export function createSavedSearches(db: Database): SavedSearches {
  const select = (tenant: number) => db.selectFrom('saved_searches').selectAll().where('tenant', '=', tenant);
  const taken = (name: string) =>
    conflict(`there is a saved search "${name}" already: choose another name, or delete that one`);

  return {
    async list(tenant) {
      return (await db.read(select(tenant).orderBy('name'), tenant)).map(toSearch);
    },

    async add(tenant, search, by, at) {
      const { id, name, q } = search;
      const alarms = viewText(search);
      const row: SavedSearchRow = {
        tenant,
        id,
        name,
        q,
        alarms,
        created_at: Date.parse(search.createdAt),
        created_by: search.createdBy,
      };
      const { done, row: named } = await change(db, {
        entry: {
          tenant,
          by,
          at,
          action: 'search.create',
          subject: id,
          detail: { name, q, ...(alarms !== null && { alarms: search.alarms }) },
        },
        when: sql<SqlBool>`not ${precondition('saved_searches', { tenant, name })}
          and (select count(*) from saved_searches where tenant = ${tenant}) < ${savedSearchesPerTenant}`,
        effects: (guard) => [insertWhen('saved_searches', row, guard)],
        after: select(tenant).where('name', '=', name),
      });
      if (done) return;
      if (named) throw taken(name);
      throw conflict(`there are ${savedSearchesPerTenant} saved searches already: delete one first`);
    },

    async update(tenant, id, wanted, by, at) {
      const { name, q } = wanted;
      const alarms = viewText(wanted);
      const one = select(tenant).where('id', '=', id);
      const other = sql`select 1 from saved_searches where tenant = ${tenant} and name = ${name} and id <> ${id}`;
      const updated = await compareAndSet(db, one, (row) => {
        const detail = difference(
          { name: row.name, q: row.q, alarms: viewOf(row.alarms) },
          { name, q, alarms: viewOf(alarms) },
        );
        if (!detail) return undefined;
        return {
          entry: {
            tenant,
            by,
            at,
            action: 'search.update',
            subject: id,
            detail: { name: row.name, ...detail },
          },
          when: sql<SqlBool>`${precondition('saved_searches', row)} and not exists (${other})`,
          effects: (guard) => [
            updateWhen('saved_searches', { set: { name, q, alarms }, where: { tenant, id } }, guard),
          ],
          after: one,
        };
      });
      if (updated?.row && !updated.done && updated.row.name !== name) throw taken(name);
      return updated && toSearch(updated.row ?? updated.before);
    },

    async remove(tenant, id, by, at) {
      const [known] = await db.read(select(tenant).where('id', '=', id), tenant);
      if (!known) return false;
      const { done } = await change(db, {
        entry: {
          tenant,
          by,
          at,
          action: 'search.delete',
          subject: id,
          detail: { name: known.name, q: known.q },
        },
        when: precondition('saved_searches', { tenant, id }),
        effects: (guard) => [deleteWhen('saved_searches', { tenant, id }, guard)],
      });
      return done;
    },
  };
}

type View = NonNullable<SavedSearch['alarms']>;
const viewOf = (text: string | null): View | null => (text === null ? null : (JSON.parse(text) as View));
const viewText = ({ alarms }: Pick<SavedSearch, 'alarms'>): string | null =>
  alarms === undefined ? null : JSON.stringify({ tab: alarms.tab, group: alarms.group });

function toSearch(row: SavedSearchRow): SavedSearch {
  const alarms = viewOf(row.alarms);
  return {
    id: row.id,
    name: row.name,
    q: row.q,
    ...(alarms && { alarms }),
    createdAt: iso(row.created_at),
    createdBy: row.created_by,
  };
}
