import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import type { DueKind, DueSubject, DueTime, DueTimes } from '#core/alarms/schedule.ts';
import type { Database, DueTimeRow } from '../database/sql.ts';
import { isActive } from '../people/tenants.ts';

export function createDueTimes(db: Database): DueTimes {
  const select = ({ tenant, kind, subject }: DueSubject) =>
    db
      .selectFrom('due_times')
      .selectAll()
      .where('tenant', '=', tenant)
      .where('kind', '=', kind)
      .where('subject', '=', subject);
  const without = ({ tenant, kind, subject }: DueSubject) =>
    db
      .deleteFrom('due_times')
      .where('tenant', '=', tenant)
      .where('kind', '=', kind)
      .where('subject', '=', subject);

  return {
    async put({ tenant, kind, subject, dueAt, data }) {
      const changed = { due_at: dueAt, version: randomUUID(), data: JSON.stringify(data) };
      await db.write(
        [
          db
            .insertInto('due_times')
            .values({ tenant, kind, subject, ...changed })
            .onConflict((conflict) => conflict.columns(['tenant', 'kind', 'subject']).doUpdateSet(changed)),
        ],
        tenant,
      );
    },

    async settle(due, next) {
      const query = next
        ? db
            .updateTable('due_times')
            .set({ due_at: next.dueAt, version: randomUUID(), data: JSON.stringify(next.data) })
            .where('tenant', '=', due.tenant)
            .where('kind', '=', due.kind)
            .where('subject', '=', due.subject)
            .where('version', '=', due.version)
        : without(due).where('version', '=', due.version);
      const [result] = await db.write([query], due.tenant);
      return result?.changes === 1;
    },

    async find(subject) {
      const [row] = await db.read(select(subject), subject.tenant);
      return row && toDueTime(row);
    },

    async list(tenant, kind, limit) {
      const rows = await db.read(
        db
          .selectFrom('due_times')
          .selectAll()
          .where('tenant', '=', tenant)
          .where('kind', '=', kind)
          .orderBy('subject')
          .limit(limit),
        tenant,
      );
      return rows.map(toDueTime);
    },

    async remove(subject) {
      const [result] = await db.write([without(subject).returningAll()], subject.tenant);
      const row = result?.rows[0] as DueTimeRow | undefined;
      return row && toDueTime(row);
    },

    async count(tenant, kind) {
      const [row] = await db.read(
        db
          .selectFrom('due_times')
          .select(({ fn }) => fn.countAll<number>().as('count'))
          .where('tenant', '=', tenant)
          .where('kind', '=', kind),
        tenant,
      );
      return row?.count ?? 0;
    },

    async next() {
      const [row] = await db.read(
        db
          .selectFrom('due_times')
          .select('due_at')
          .where('due_at', 'is not', null)
          .where(isActive('tenant'))
          .orderBy('due_at')
          .limit(1),
      );
      return row?.due_at ?? undefined;
    },

    async claim(now, until, limit) {
      // PostgreSQL tests the outer condition again if another node has claimed the same row meanwhile.
      const [result] = await db.write([
        sql`update due_times set due_at = ${until} where due_at <= ${now} and (tenant, kind, subject) in (
          select tenant, kind, subject from due_times where due_at <= ${now} and ${isActive('tenant')} order by due_at limit ${limit}
        ) returning *`,
      ]);
      return ((result?.rows ?? []) as unknown as DueTimeRow[]).map(toDueTime);
    },

    async shift(ms) {
      await db.write([
        sql`update due_times set due_at = due_at + ${ms} where due_at is not null`,
        sql`update live set step_at = step_at + ${ms}, next_step_at = next_step_at + ${ms} where step_at is not null`,
      ]);
    },
  };
}

function toDueTime({ tenant, kind, subject, due_at, version, data }: DueTimeRow): DueTime {
  return { tenant, kind: kind as DueKind, subject, dueAt: due_at, version, data: JSON.parse(data) };
}
