import { type SqlBool, sql } from 'kysely';
import { limits } from '#contract/limits.ts';
import type { OnCallFields } from '#contract/routing/on-call.ts';
import { conflict } from '#core/errors.ts';
import type { TenantId } from '#core/log/route.ts';
import type { CalendarCopy, OnCallRecord, OnCallSchedules, ReadResult } from '#core/on-call/on-call.ts';
import type { Database, OnCallRow } from '../database/sql.ts';
import { isActive } from '../people/tenants.ts';
import { difference } from './audit.ts';
import {
  always,
  change,
  compareAndSet,
  countChange,
  deleteWhen,
  insertWhen,
  lockTenant,
  precondition,
  updateWhen,
} from './change.ts';
import { currentRevision } from './rule-order.ts';

export function createOnCall(db: Database): OnCallSchedules {
  const select = (tenant: TenantId) => db.selectFrom('on_call').selectAll().where('tenant', '=', tenant);
  const taken = (name: string) =>
    conflict(`there is an on-call schedule "${name}" already: choose another name`);

  return {
    async list(tenant) {
      return (await db.read(select(tenant).orderBy('name'), tenant)).map(toRecord);
    },

    async find(tenant, id) {
      const [row] = await db.read(select(tenant).where('id', '=', id), tenant);
      return row && toRecord(row);
    },

    async create({ tenant, id, createdAt, updatedAt, ...given }, by) {
      const fields = fieldsOf(given);
      const { name } = fields;
      const { done, row: named } = await change(db, {
        entry: { tenant, by, at: createdAt, action: 'on-call.create', subject: id, detail: { ...fields } },
        when: sql<SqlBool>`not ${precondition('on_call', { tenant, name })}
          and (select count(*) from on_call where tenant = ${tenant}) < ${limits.onCallPerTenant}`,
        effects: (guard) => [
          insertWhen(
            'on_call',
            {
              ...{ tenant, id, name, spec: specOf(fields), created_at: createdAt, updated_at: updatedAt },
              ...unread,
              read_due_at: fields.calendar && createdAt,
            },
            guard,
          ),
        ],
        after: select(tenant).where('name', '=', name),
      });
      if (done) return;
      if (named) throw taken(name);
      throw conflict(`there are ${limits.onCallPerTenant} on-call schedules already: delete one first`);
    },

    async update(tenant, id, plan, by, at) {
      const one = select(tenant).where('id', '=', id);
      let name = '';
      const updated = await compareAndSet(db, one, (row) => {
        const known = toRecord(row);
        const fields = fieldsOf(plan(known));
        name = fields.name;
        const detail = difference(fieldsOf(known), fields);
        if (!detail) return undefined;
        const isOther = known.calendar?.url !== fields.calendar?.url;
        const other = sql`select 1 from on_call where tenant = ${tenant} and name = ${name} and id <> ${id}`;
        const set = {
          ...{ name, spec: specOf(fields), updated_at: at },
          // What times without a zone mean depends on the schedule's, so the calendar is read again.
          ...(isOther ? unread : { etag: null }),
          read_due_at: fields.calendar && at,
        };
        return {
          entry: {
            tenant,
            by,
            at,
            action: 'on-call.update',
            subject: id,
            detail: { name: row.name, ...detail },
          },
          when: sql<SqlBool>`${precondition('on_call', { tenant, id, name: row.name, spec: row.spec })}
            and not exists (${other})`,
          effects: (guard) => [updateWhen('on_call', { set, where: { tenant, id } }, guard)],
          after: one,
        };
      });
      if (updated?.row && !updated.done && updated.row.name !== name) throw taken(name);
      return updated && toRecord(updated.row ?? updated.before);
    },

    async remove(tenant, id, by, at, revision) {
      const [known] = await db.read(select(tenant).where('id', '=', id), tenant);
      if (!known) return false;
      const { done } = await change(db, {
        entry: {
          ...{ tenant, by, at, action: 'on-call.delete', subject: id },
          detail: { ...fieldsOf(toRecord(known)) },
        },
        when: sql<SqlBool>`${precondition('on_call', { tenant, id })}
          and ${revision === undefined ? always : sql`${currentRevision(tenant)} = ${revision}`}`,
        effects: (guard) => [deleteWhen('on_call', { tenant, id }, guard)],
      });
      return done || undefined;
    },

    async claimCalendars(now, until, limit) {
      const due = db
        .selectFrom('on_call')
        .select('id')
        .where('read_due_at', '<=', now)
        .where(isActive('tenant'))
        .limit(1);
      if ((await db.read(due)).length === 0) return [];
      // PostgreSQL tests the outer condition again if another node has claimed the same row meanwhile.
      const [result] = await db.write([
        sql`update on_call set read_due_at = ${until} where read_due_at <= ${now} and (tenant, id) in (
          select tenant, id from on_call where read_due_at <= ${now} and ${isActive('tenant')} order by read_due_at limit ${limit}
        ) returning *`,
      ]);
      return ((result?.rows ?? []) as unknown as OnCallRow[]).map(toRecord);
    },

    async recordRead(record, result, at) {
      const { tenant, id } = record;
      const where = { tenant, id, spec: specOf(record) };
      const set = columnsOf(record, result, at);
      const isThere = precondition('on_call', where);
      const hasCopy = set.copy === undefined || set.copy === copyText(record.reading.copy);
      // As the row is now: another reading may have ended since `record`.
      const worked = precondition('on_call', { ...where, failing_since: null });
      const isOther = !hasCopy
        ? isThere
        : set.failing_since === null
          ? sql<SqlBool>`${isThere} and not ${worked}`
          : worked;
      const statements = [
        lockTenant(tenant),
        ...countChange(tenant, isOther),
        updateWhen('on_call', { set, where }, always),
      ];
      const [, counted] = await db.write(statements, tenant);
      return counted?.changes === 1;
    },
  };
}

const unread = { copy: null, etag: null, read_at: null, failing_since: null, error: null } as const;

function columnsOf({ reading }: OnCallRecord, result: ReadResult, at: number): Partial<OnCallRow> {
  if (result.kind === 'failed') return { failing_since: reading.failingSince ?? at, error: result.error };
  const read = { read_at: at, failing_since: null, error: null };
  if (result.kind === 'unchanged') return read;
  return { ...read, copy: copyText(result.copy), etag: result.etag };
}

const copyText = (copy: CalendarCopy | null): string | null => (copy ? JSON.stringify(copy) : null);

/** In one order, so that equal ones are the same text. */
const fieldsOf = ({ name, timeZone, people, rota, calendar, alertBeforeMs }: OnCallFields): OnCallFields => ({
  ...{ name, timeZone, people, rota, calendar, alertBeforeMs },
});

function specOf(fields: OnCallFields): string {
  const { name: _, ...spec } = fieldsOf(fields);
  return JSON.stringify(spec);
}

function toRecord(row: OnCallRow): OnCallRecord {
  const { tenant, id, name, spec, copy, etag, error } = row;
  return {
    ...{ tenant, id, name },
    ...(JSON.parse(spec) as Omit<OnCallFields, 'name'>),
    createdAt: row.created_at,
    updatedAt: row.updated_at,
    reading: {
      copy: copy === null ? null : (JSON.parse(copy) as CalendarCopy),
      ...{ etag, error, readAt: row.read_at, failingSince: row.failing_since },
    },
  };
}
