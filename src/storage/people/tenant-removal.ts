/** Removes the data of deleted tenants, in short transactions. Their logs are removed as retention does it. */
import { sql } from 'kysely';
import type { TenantId } from '#core/ports.ts';
import type { DeletedTenant, Tenants } from '#core/tenants/tenants.ts';
import type { Schema } from '../schema.ts';
import type { Database } from '../sql.ts';

const rowsAStep = 500;

type TableOfTenants = {
  [Table in keyof Schema]: 'tenant' extends keyof Schema[Table] ? Table : never;
}[keyof Schema];

/** The rest of the key of each table that begins with the tenant. Pairings end by themselves within minutes. */
const keys: Readonly<Record<Exclude<TableOfTenants, 'pairings'>, readonly string[]>> = {
  credentials: ['id'],
  members: ['person'],
  invitations: ['id'],
  due_times: ['kind', 'subject'],
  deliveries: ['channel', 'position'],
  push_devices: ['channel', 'id'],
  channels: ['id'],
  panels: ['id'],
  rule_hits: ['id'],
  rules: ['id', 'since'],
  saved_searches: ['id'],
  mappings: ['name'],
  levels: ['name'],
  audit: ['id'],
};

/** No tenant can have such a name, so the former one is free. */
export const nameOfDeleted = (name: string, id: TenantId): string => `${name}~${id}`;
const formerName = (name: string): string => name.replace(/~\d+$/, '');

type Removal = Pick<Tenants, 'listDeleting' | 'listDeleted' | 'removeSome' | 'endDeletion'>;

export function createTenantRemoval(db: Database): Removal {
  return {
    async listDeleting() {
      const rows = await db.read(
        db.selectFrom('tenants').select(['id', 'name']).where('state', '=', 'deleting').orderBy('id'),
      );
      return rows.map(({ id, name }) => ({ id, name: formerName(name) }));
    },

    async listDeleted() {
      const rows = await db.read(
        db
          .selectFrom('tenants')
          .innerJoin('audit', 'audit.tenant', 'tenants.id')
          .select(['tenants.title', 'tenants.state', 'audit.subject', 'audit.at', 'audit.by'])
          .where('tenants.state', 'in', ['deleting', 'deleted'])
          .where('audit.action', '=', 'tenant.delete')
          .orderBy('audit.at', 'desc')
          .orderBy('tenants.id', 'desc'),
      );
      return rows.map(({ title, state, subject, at, by }) => ({
        name: subject,
        title,
        state: state as DeletedTenant['state'],
        deletedAt: at,
        deletedBy: by,
      }));
    },

    async removeSome(id) {
      for (const [table, columns] of Object.entries(keys)) {
        const key = sql.join(columns.map((column) => sql.ref(column)));
        // The entry that says who deleted the tenant stays.
        const others = table === 'audit' ? sql`and action <> 'tenant.delete'` : sql``;
        const [result] = await db.write(
          [
            sql`delete from ${sql.table(table)} where tenant = ${id} and (${key}) in (
              select ${key} from ${sql.table(table)} where tenant = ${id} ${others} limit ${rowsAStep})`,
          ],
          id,
        );
        if (result && result.changes > 0) return result.changes;
      }
      return 0;
    },

    async endDeletion(id) {
      await db.write([
        db
          .updateTable('tenants')
          .set({ state: 'deleted' })
          .where('id', '=', id)
          .where('state', '=', 'deleting'),
      ]);
    },
  };
}
