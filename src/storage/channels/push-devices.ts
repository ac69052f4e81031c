import { type SqlBool, sql } from 'kysely';
import { limits } from '#contract/limits.ts';
import type { PushDeviceRecord, PushDeviceRef, PushDevices } from '#core/channels/push-devices.ts';
import { AppError } from '#core/errors.ts';
import { change, insertWhen, precondition } from '../change.ts';
import type { PushDeviceRow } from '../schema.ts';
import type { Database } from '../sql.ts';
import { restart } from './channels.ts';

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

    async createLink({ tenant, channel, id }, expiresAt, by, at) {
      // Expired links do not count towards the limit, and are deleted.
      const isOver = sql<SqlBool>`sealed is null and link_expires_at <= ${at}`;
      const exists = precondition('channels', { tenant, id: channel, kind: 'push' });
      const { done, row } = await change(db, {
        entry: { tenant, by, at, action: 'push-device.link', subject: channel, detail: { device: id } },
        when: sql<SqlBool>`${exists} and (select count(*) from push_devices where tenant = ${tenant} and channel = ${channel}
          and not (${isOver})) < ${limits.devicesPerChannel}`,
        effects: (guard) => [
          deleteOf({ tenant, channel }).where(isOver).where(guard),
          insertWhen(
            'push_devices',
            {
              ...{ tenant, channel, id, name: '', sealed: null, created_at: at, created_by: by },
              ...{ link_expires_at: expiresAt, added_at: null },
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
          .where('kind', '=', 'push'),
      });
      if (!done && row)
        throw new AppError(
          'conflict',
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
        after: one(ref),
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
        after: one(ref),
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
    sealed: row.sealed ?? '',
    addedAt: row.added_at ?? row.created_at,
    lastDeliveredAt: row.last_delivered_at,
    lastNotification: row.last_notification,
    lastError: row.last_error,
  };
}
