import { type SqlBool, sql } from 'kysely';
import type { ChannelKind } from '#contract/channel-fields.ts';
import { limits } from '#contract/limits.ts';
import type { ChannelChange, ChannelRecord, Channels } from '#core/channels.ts';
import { AppError } from '#core/errors.ts';
import type { TenantId } from '#core/ports.ts';
import { difference } from './audit.ts';
import { change, compareAndSet, insertWhen, pick, precondition } from './change.ts';
import { restarted, tryFailedAgain } from './channel-restart.ts';
import type { Builder, ChannelRow } from './schema.ts';
import type { SqlExecutor } from './sql.ts';

export function createChannels(db: Builder, executor: SqlExecutor): Channels {
  const select = (tenant: TenantId) => db.selectFrom('channels').selectAll().where('tenant', '=', tenant);
  const taken = (name: string) =>
    new AppError('conflict', `there is a channel "${name}" already: choose another name`);

  return {
    async list(tenant) {
      return (await executor.read(select(tenant).orderBy('name').compile())).map(toChannel);
    },

    async find(tenant, id) {
      const [row] = await executor.read(select(tenant).where('id', '=', id).compile());
      return row && toChannel(row);
    },

    async create(record, by) {
      const { tenant, id, name, kind, enabled, settings, secrets } = record;
      const { done, row: named } = await change(db, executor, {
        entry: {
          ...{ tenant, by, at: record.createdAt, action: 'channel.create', subject: id },
          detail: { name, kind, enabled, settings, secrets },
        },
        when: sql<SqlBool>`not exists (select 1 from channels where tenant = ${tenant} and name = ${name})
          and (select count(*) from channels where tenant = ${tenant}) < ${limits.channelsPerTenant}`,
        effects: (guard) => [insertWhen(db, 'channels', toRow(record), guard)],
        after: select(tenant).where('name', '=', name).compile(),
      });
      if (done) return;
      if (named) throw taken(name);
      throw new AppError(
        'conflict',
        `there are ${limits.channelsPerTenant} channels already: delete one first`,
      );
    },

    async update(tenant, id, plan, by, at) {
      const read = select(tenant).where('id', '=', id).compile();
      let name: string | undefined;
      // Of the row, its health changes meanwhile: only what is written is compared.
      const updated = await compareAndSet(db, executor, read, (row) => {
        const known = toChannel(row);
        const patch = plan(known);
        name = patch.name;
        const columns = toColumns(patch);
        const detail = detailOf(known, patch);
        const other = sql`select 1 from channels where tenant = ${tenant} and name = ${name ?? null} and id <> ${id}`;
        return (
          detail && {
            entry: { tenant, by, at, action: 'channel.update', subject: id, detail },
            when: sql<SqlBool>`${precondition('channels', { tenant, id, ...pick(row, columns) })} and not exists (${other})`,
            effects: (guard) => [
              tryFailedAgain(db, { tenant, id, at }, guard),
              db
                .updateTable('channels')
                .set({ ...columns, ...restarted(at) })
                .where('tenant', '=', tenant)
                .where('id', '=', id)
                .where(guard)
                .compile(),
            ],
            after: read,
          }
        );
      });
      if (updated?.row && !updated.done && name !== undefined && updated.row.name !== name) throw taken(name);
      return updated && toChannel(updated.row ?? updated.before);
    },

    async remove(tenant, id, by, at) {
      const [known] = await executor.read(select(tenant).where('id', '=', id).compile());
      if (!known) return false;
      const { name, kind, settings } = toChannel(known);
      const { done } = await change(db, executor, {
        entry: { tenant, by, at, action: 'channel.delete', subject: id, detail: { name, kind, settings } },
        when: precondition('channels', { tenant, id }),
        effects: (guard) => [
          db.deleteFrom('channels').where('tenant', '=', tenant).where('id', '=', id).where(guard).compile(),
          // After the channel: an append that had locked it has committed by now, and no other finds it.
          db
            .deleteFrom('deliveries')
            .where('tenant', '=', tenant)
            .where('channel', '=', id)
            .where(guard)
            .compile(),
          db
            .deleteFrom('push_devices')
            .where('tenant', '=', tenant)
            .where('channel', '=', id)
            .where(guard)
            .compile(),
        ],
        after: select(tenant).where('id', '=', id).compile(),
      });
      return done;
    },
  };
}

/** The audit log holds the names of secrets, never their values; new values of the same names are a change, too. */
function detailOf(known: ChannelRecord, { sealed, ...patch }: ChannelChange) {
  const { name, enabled, settings, secrets } = known;
  const detail = difference({ name, enabled, settings, secrets }, patch);
  if (sealed === undefined || sealed === known.sealed) return detail;
  return {
    before: { ...detail?.before, secrets },
    after: { ...detail?.after, secrets: patch.secrets ?? secrets, secretsChanged: true },
  };
}

function toRow(record: Omit<ChannelRecord, 'health'>): ChannelRow {
  return {
    tenant: record.tenant,
    id: record.id,
    name: record.name,
    kind: record.kind,
    enabled: record.enabled ? 1 : 0,
    settings: JSON.stringify(record.settings),
    secrets: JSON.stringify(record.secrets),
    sealed: record.sealed,
    created_at: record.createdAt,
    updated_at: record.updatedAt,
    failures: 0,
    failing_since: null,
    retry_at: 0,
    last_delivered_at: null,
    last_error: null,
    lease_holder: null,
    lease_until: 0,
  };
}

function toColumns(patch: ChannelChange): Partial<ChannelRow> {
  const columns: Partial<ChannelRow> = {};
  if (patch.name !== undefined) columns.name = patch.name;
  if (patch.enabled !== undefined) columns.enabled = patch.enabled ? 1 : 0;
  if (patch.settings !== undefined) columns.settings = JSON.stringify(patch.settings);
  if (patch.secrets !== undefined) columns.secrets = JSON.stringify(patch.secrets);
  if (patch.sealed !== undefined) columns.sealed = patch.sealed;
  return columns;
}

function toChannel(row: ChannelRow): ChannelRecord {
  return {
    tenant: row.tenant,
    id: row.id,
    name: row.name,
    kind: row.kind as ChannelKind,
    enabled: row.enabled === 1,
    settings: JSON.parse(row.settings) as Record<string, string>,
    secrets: JSON.parse(row.secrets) as string[],
    sealed: row.sealed,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
    health: {
      failures: row.failures,
      failingSince: row.failing_since,
      retryAt: row.retry_at,
      lastDeliveredAt: row.last_delivered_at,
      lastError: row.last_error,
    },
  };
}
