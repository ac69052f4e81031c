import { sql } from 'kysely';
import type { AnswerProblem, AnswerProblems } from '#core/channels/channels.ts';
import { writeMeta } from '../database/meta.ts';
import type { Database } from '../database/sql.ts';

const prefix = 'answers ';

/** Rows of `meta`, as leases are: nobody configures them, and the next node or start writes them again. */
export function createAnswerProblems(db: Database): AnswerProblems {
  /** `!` comes after the space in the order of names. */
  const named = (beginning: string) =>
    db.selectFrom('meta').selectAll().where('name', '>', `${beginning} `).where('name', '<', `${beginning}!`);

  return {
    async list(tenant) {
      const beginning = `${prefix}${tenant}`;
      const rows = await db.read(named(beginning));
      return new Map(
        rows.map(({ name, value }) => [name.slice(beginning.length + 1), JSON.parse(value) as AnswerProblem]),
      );
    },

    async put({ tenant, id }, problem) {
      const name = `${prefix}${tenant} ${id}`;
      if (problem) await writeMeta(db, name, JSON.stringify(problem));
      else await db.write([sql`delete from meta where name = ${name}`]);
    },

    async clear() {
      const beginning = prefix.trimEnd();
      // Without a write where there is nothing to remove.
      if ((await db.read(named(beginning).limit(1))).length === 0) return;
      await db.write([sql`delete from meta where name > ${`${beginning} `} and name < ${`${beginning}!`}`]);
    },
  };
}
