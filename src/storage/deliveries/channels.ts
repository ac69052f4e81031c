import { type Expression, type SqlBool, sql } from 'kysely';
import type { ChannelKind } from '#contract/channels/channel-fields.ts';
import { limits } from '#contract/limits.ts';
import type {
  ChannelChange,
  ChannelRecord,
  Channels,
  PushDeviceRecord,
  PushDeviceRef,
  PushDevices,
} from '#core/channels/channels.ts';
import { conflict } from '#core/errors.ts';
import type { TenantId } from '#core/log/route.ts';
import type { ChannelRow, Database, PushDeviceRow, Statement } from '../database/sql.ts';
import { difference } from '../directory/audit.ts';
import {
  always,
  change,
  compareAndSet,
  deleteWhen,
  insertWhen,
  pick,
  precondition,
  updateWhen,
} from '../directory/change.ts';
import { isActive } from '../people/tenants.ts';

export function createChannels(db: Database): Channels {
  const select = (tenant: TenantId) => db.selectFrom('channels').selectAll().where('tenant', '=', tenant);
  const taken = (name: string) => conflict(`there is a channel "${name}" already: choose another name`);

  return {
    async list(tenant) {
      return (await db.read(select(tenant).orderBy('name'))).map(toChannel);
    },

    async find(tenant, id) {
      const [row] = await db.read(select(tenant).where('id', '=', id));
      return row && toChannel(row);
    },

    async listEnabled(kind) {
      const enabled = db.selectFrom('channels').selectAll().where('kind', '=', kind).where('enabled', '=', 1);
      return (await db.read(enabled.where(isActive('tenant')))).map(toChannel);
    },

    async create(record, by) {
      const { tenant, id, name, kind, enabled, settings, secrets } = record;
      const { done, row: named } = await change(db, {
        entry: {
          ...{ tenant, by, at: record.createdAt, action: 'channel.create', subject: id },
          detail: { name, kind, enabled, settings, secrets },
        },
        when: sql<SqlBool>`not ${precondition('channels', { tenant, name })}
          and (select count(*) from channels where tenant = ${tenant}) < ${limits.channelsPerTenant}`,
        effects: (guard) => [insertWhen('channels', toRow(record), guard)],
        after: select(tenant).where('name', '=', name),
      });
      if (done) return;
      if (named) throw taken(name);
      throw conflict(`there are ${limits.channelsPerTenant} channels already: delete one first`);
    },

    async update(tenant, id, plan, by, at) {
      const read = select(tenant).where('id', '=', id);
      let name: string | undefined;
      // Only the columns to write are compared, because the health of the channel may change meanwhile.
      const updated = await compareAndSet(db, read, (row) => {
        const known = toChannel(row);
        const patch = plan(known);
        name = patch.name;
        const columns = toColumns(patch);
        const detail = detailOf(known, patch);
        const other = sql`select 1 from channels where tenant = ${tenant} and name = ${name ?? null} and id <> ${id}`;
        if (!detail) return undefined;
        return {
          entry: {
            tenant,
            by,
            at,
            action: 'channel.update',
            subject: id,
            detail: { name: row.name, ...detail },
          },
          when: sql<SqlBool>`${precondition('channels', { tenant, id, ...pick(row, columns) })} and not exists (${other})`,
          effects: (guard) => restart(db, { tenant, id, at }, guard, columns),
          after: read,
        };
      });
      if (updated?.row && !updated.done && name !== undefined && updated.row.name !== name) throw taken(name);
      return updated && toChannel(updated.row ?? updated.before);
    },

    async remove(tenant, id, by, at) {
      const [known] = await db.read(select(tenant).where('id', '=', id));
      if (!known) return false;
      const { name, kind, settings } = toChannel(known);
      const { done } = await change(db, {
        entry: { tenant, by, at, action: 'channel.delete', subject: id, detail: { name, kind, settings } },
        when: precondition('channels', { tenant, id }),
        effects: (guard) => [
          deleteWhen('channels', { tenant, id }, guard),
          // Deleted after the channel: an append that had locked the channel has committed by now, and later ones do not find it.
          deleteWhen('deliveries', { tenant, channel: id }, guard),
          deleteWhen('push_devices', { tenant, channel: id }, guard),
        ],
      });
      return done;
    },
  };
}

/**
 * Writes `columns`, and begins the channel's next attempt at once; the failure of a current attempt no longer pauses the channel.
 * Deliveries that failed while the channel was failing are queued again, because the change may have removed the cause.
 */
function restart(
  db: Database,
  { tenant, id, at }: { readonly tenant: TenantId; readonly id: string; readonly at: number },
  when: Expression<SqlBool>,
  columns: Partial<ChannelRow> = {},
): readonly Statement[] {
  const tryAgain = db
    .updateTable('deliveries')
    .set({ state: 'pending', attempts: 0, finished_at: null })
    .where('tenant', '=', tenant)
    .where('channel', '=', id)
    .where('state', '=', 'failed')
    .where('queued_at', '>', at - limits.deliveryMs)
    .where(
      sql<SqlBool>`finished_at >= (select failing_since from channels where tenant = ${tenant} and id = ${id})`,
    )
    .where(when);
  const set = { ...columns, updated_at: at, retry_at: 0, failures: 0, failing_since: null };
  return [tryAgain, updateWhen('channels', { set, where: { tenant, id } }, when)];
}

/** The audit log has the names of secrets, never their values. A new value of the same name counts as a change too. */
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

export function createPushDevices(db: Database): PushDevices {
  const select = ({ tenant, channel }: Omit<PushDeviceRef, 'id'>) =>
    db.selectFrom('push_devices').selectAll().where('tenant', '=', tenant).where('channel', '=', channel);
  const one = (ref: PushDeviceRef) => select(ref).where('id', '=', ref.id);
  const updateOf = ({ tenant, channel, id }: PushDeviceRef) =>
    db
      .updateTable('push_devices')
      .where('tenant', '=', tenant)
      .where('channel', '=', channel)
      .where('id', '=', id);
  const deleteOf = ({ tenant, channel }: Omit<PushDeviceRef, 'id'>) =>
    db.deleteFrom('push_devices').where('tenant', '=', tenant).where('channel', '=', channel);

  return {
    async list(tenant, channel) {
      const rows = select({ tenant, channel }).where('sealed', 'is not', null).orderBy('name').orderBy('id');
      return (await db.read(rows, tenant)).map(toDevice);
    },

    async find(ref) {
      const [row] = await db.read(one(ref).where('sealed', 'is not', null), ref.tenant);
      return row && toDevice(row);
    },

    async createLink({ tenant, channel, id }, { expiresAt, person }, by, at) {
      // Expired links do not count towards the limit, and are deleted.
      const isOver = sql<SqlBool>`sealed is null and link_expires_at <= ${at}`;
      const isMember = person === null ? always : precondition('members', { tenant, person });
      const exists = sql<SqlBool>`${precondition('channels', { tenant, id: channel, kind: 'push' })} and ${isMember}`;
      const { done, row } = await change(db, {
        entry: {
          tenant,
          by,
          at,
          action: 'push-device.link',
          subject: channel,
          detail: { device: id, ...(person && { person }) },
        },
        when: sql<SqlBool>`${exists} and (select count(*) from push_devices where tenant = ${tenant} and channel = ${channel}
          and not (${isOver})) < ${limits.devicesPerChannel}`,
        effects: (guard) => [
          deleteOf({ tenant, channel }).where(isOver).where(guard),
          insertWhen(
            'push_devices',
            {
              ...{ tenant, channel, id, name: '', sealed: null, created_at: at, created_by: by },
              ...{ link_expires_at: expiresAt, added_at: null, person },
              ...{ last_delivered_at: null, last_notification: null, last_error: null },
            },
            guard,
          ),
        ],
        after: db
          .selectFrom('channels')
          .select('id')
          .where('tenant', '=', tenant)
          .where('id', '=', channel)
          .where(exists),
      });
      if (!done && row)
        throw conflict(
          `the channel has ${limits.devicesPerChannel} devices and links already: remove one first`,
        );
      return done;
    },

    async linkEnds(ref) {
      const [row] = await db.read(one(ref).where('sealed', 'is', null), ref.tenant);
      return row?.link_expires_at;
    },

    async add(ref, { name, sealed, replaces }, at) {
      const { tenant, channel, id } = ref;
      const [link] = await db.read(one(ref), tenant);
      if (!link) return false;
      const { done } = await change(db, {
        entry: {
          ...{ tenant, by: link.created_by, at, action: 'push-device.add', subject: channel },
          detail: { name, device: id },
        },
        when: sql<SqlBool>`exists (select 1 from push_devices where tenant = ${tenant} and channel = ${channel} and id = ${id}
          and sealed is null and link_expires_at > ${at})`,
        effects: (guard) => [
          updateOf(ref).set({ name, sealed, added_at: at }).where(guard),
          deleteOf(ref)
            .where('id', 'in', ['', ...replaces])
            .where(guard),
          ...restart(db, { tenant, id: channel, at }, guard),
        ],
      });
      return done;
    },

    async renew(ref, sealed, at) {
      const { tenant, channel, id } = ref;
      const renewed = updateOf(ref).set({ sealed, last_error: null }).where('sealed', 'is not', null);
      const isDone = precondition('push_devices', { tenant, channel, id, sealed });
      const changed = { tenant, id: channel, at };
      const [result] = await db.write([renewed, ...restart(db, changed, isDone)], tenant);
      return result?.changes === 1;
    },

    async remove(ref, by, at) {
      const { tenant, channel, id } = ref;
      const [row] = await db.read(one(ref), tenant);
      if (!row) return false;
      const { done } = await change(db, {
        entry: {
          ...{ tenant, by, at, action: 'push-device.remove', subject: channel },
          detail: { name: row.name, device: id },
        },
        when: precondition('push_devices', { tenant, channel, id }),
        effects: (guard) => [deleteOf(ref).where('id', '=', id).where(guard)],
      });
      return done;
    },

    async record(channel, notification, attempts, at) {
      if (attempts.length === 0) return;
      const updates = attempts.map(({ id, error, ended }) => {
        const device = updateOf({ ...channel, id });
        if (error === null)
          return device.set({
            ...{ last_delivered_at: at, last_error: null },
            ...(notification !== undefined && { last_notification: notification }),
          });
        const failed = device.set({ last_error: error.slice(0, errorChars) });
        return ended === undefined ? failed : failed.set({ sealed: '' }).where('sealed', '=', ended);
      });
      await db.write(updates, channel.tenant);
    },
  };
}

const errorChars = 300;

function toDevice(row: PushDeviceRow): PushDeviceRecord {
  return {
    tenant: row.tenant,
    channel: row.channel,
    id: row.id,
    name: row.name,
    person: row.person,
    sealed: row.sealed ?? '',
    addedAt: row.added_at ?? row.created_at,
    lastDeliveredAt: row.last_delivered_at,
    lastNotification: row.last_notification,
    lastError: row.last_error,
  };
}
