import { type SqlBool, sql } from 'kysely';
import { limits } from '#contract/limits.ts';
import type { DisplaySettings, PanelKind } from '#contract/panels/panel.ts';
import { conflict } from '#core/errors.ts';
import type { TenantId } from '#core/log/route.ts';
import type { Actor } from '#core/tenants/audit.ts';
import type { Pairing, Pairings, PanelRecord, Panels } from '#core/tenants/directory.ts';
import { freeTopic, topicOf } from '#core/tenants/topics.ts';
import type { Database, PairingRow, PanelRow } from '../database/sql.ts';
import { isCreatorAuthorized } from '../people/credentials.ts';
import { auditMark, deletions, difference } from './audit.ts';
import {
  always,
  change,
  compareAndSet,
  deleteWhen,
  insertWhen,
  lockTenant,
  pick,
  precondition,
  updateWhen,
} from './change.ts';

type Patch = Parameters<Panels['update']>[2];

export function createPanels(db: Database): Panels {
  const select = (tenant: TenantId) => db.selectFrom('panels').selectAll().where('tenant', '=', tenant);

  return {
    async list(tenant) {
      return (await db.read(select(tenant).orderBy('name'), tenant)).map(toPanel);
    },

    async deleted(tenant) {
      const rows = await db.read(deletions(db, tenant, 'panel.delete'), tenant);
      return rows.map(({ subject, detail, at }) => {
        const { name, tags } = JSON.parse(detail) as Pick<PanelRecord, 'name' | 'tags'>;
        return { id: subject, name, tags, deletedAt: at };
      });
    },

    async find(tenant, id) {
      const [row] = await db.read(select(tenant).where('id', '=', id), tenant);
      return row && toPanel(row);
    },

    register: (tenant, panel, by, at) => registerPanel(db, { ...panel, tenant, by, at }),

    nameTopics: () => nameTopics(db),

    async update(tenant, id, patch, by, at) {
      const read = select(tenant).where('id', '=', id);
      const taken = sql`select 1 from panels where tenant = ${tenant} and name = ${patch.name ?? null} and id <> ${id}`;
      const minLevel = patch.display?.minLevel;
      const hasLevel = minLevel === undefined ? always : precondition('levels', { tenant, name: minLevel });
      const updated = await compareAndSet(db, read, (row) => {
        const detail = difference({ ...toPanel(row) }, patch);
        const columns = toColumns(patch);
        if (!detail) return undefined;
        return {
          entry: {
            tenant,
            by,
            at,
            action: 'panel.update',
            subject: id,
            detail: { name: row.name, ...detail },
          },
          when: sql<SqlBool>`${precondition('panels', { tenant, id, ...pick(row, columns) })} and not exists (${taken}) and ${hasLevel}`,
          effects: (guard) => [updateWhen('panels', { set: columns, where: { tenant, id } }, guard)],
          after: read,
        };
      });
      // The change was not made, so its precondition failed.
      if (updated?.row && !updated.done) {
        const others = select(tenant)
          .where('name', '=', patch.name ?? '')
          .where('id', '<>', id);
        const [other] = await db.read(others);
        if (other || minLevel === undefined)
          throw conflict(`another panel is named "${patch.name}": choose another name`);
        throw conflict(`the level "${minLevel}" is not there any more: choose another minLevel`);
      }
      return updated && toPanel(updated.row ?? updated.before);
    },

    remove: (tenant, id, by, at) => removePanel(db, { tenant, id, by, at }),

    async noteCommand(tenant, id, command, by, at) {
      const [known] = await db.read(select(tenant).where('id', '=', id));
      if (!known) return false;
      const detail = { name: known.name };
      const entry = { tenant, by, at, action: `panel.${command}`, subject: id, detail } as const;
      const mark = auditMark(entry, precondition('panels', { tenant, id }));
      const [written] = await db.write([mark.insert], tenant);
      return written?.changes === 1;
    },

    async touch(seen) {
      if (seen.length === 0) return;
      await db.write(
        seen.map(({ tenant, id, at, cursor, client, address }) =>
          updateWhen(
            'panels',
            { set: { last_seen_at: at, cursor, client, address }, where: { tenant, id } },
            // The previous node of a panel may write later than its new node.
            sql<SqlBool>`(last_seen_at is null or last_seen_at <= ${at})`,
          ),
        ),
      );
    },
  };
}

type Registration = Parameters<Panels['register']>[1] & { tenant: TenantId; by: Actor; at: number };

async function registerPanel(
  db: Database,
  { tenant, id, name, tags, location, kind = 'screen', topic: wanted, by, at }: Registration,
): ReturnType<Panels['register']> {
  const named = db.selectFrom('panels').selectAll().where('tenant', '=', tenant).where('name', '=', name);
  for (;;) {
    // A screen registers at every start, so a known panel must not cost a write.
    const [known] = await db.read(named);
    if (known) return { panel: toPanel(known), created: false };
    const topic = wanted ?? (await findFreeTopic(db, tenant, topicOf(name)));
    const row = {
      ...{ tenant, id, name, tags: JSON.stringify(tags), location, display: '{}', kind, topic },
      ...{ created_at: at, last_seen_at: null, cursor: null, client: null, address: null },
    };
    const taken = precondition('panels', { tenant, topic });
    const { done, row: kept } = await change(db, {
      entry: { tenant, by, at, action: 'panel.create', subject: id, detail: { name, tags, location } },
      when: sql<SqlBool>`not ${precondition('panels', { tenant, name })} and not ${taken}
        and (select count(*) from panels where tenant = ${tenant}) < ${limits.panelsPerTenant}`,
      effects: (guard) => [insertWhen('panels', row, guard)],
      after: named,
    });
    if (kept) return { panel: toPanel(kept), created: done };
    const others = db.selectFrom('panels').select('id').where('tenant', '=', tenant);
    // Another panel got the topic since it was looked for.
    const isTaken = (await db.read(others.where('topic', '=', topic))).length > 0;
    if (!isTaken || wanted !== undefined) return undefined;
  }
}

/** The first free one of a topic and those with a number after it. */
async function findFreeTopic(db: Database, tenant: TenantId, topic: string): Promise<string> {
  // As much of it as stays in front of a number.
  const start = topic.slice(0, 58);
  const numbered = db
    .selectFrom('panels')
    .select('topic')
    .where('tenant', '=', tenant)
    // No character of a topic is after "~".
    .where('topic', '>=', start)
    .where('topic', '<', `${start}~`);
  return freeTopic(topic, new Set((await db.read(numbered)).map((each) => each.topic ?? '')));
}

/** Panels that get their topics in one transaction. */
const namedAtOnce = 500;

async function nameTopics(db: Database): Promise<void> {
  const panels = db.selectFrom('panels');
  const unnamed = await db.read(
    panels.select(['tenant', 'id', 'name']).where('topic', 'is', null).orderBy('created_at').orderBy('id'),
  );
  for (const [tenant, ofTenant] of Map.groupBy(unnamed, (panel) => panel.tenant)) {
    const named = await db.read(
      panels.select('topic').where('tenant', '=', tenant).where('topic', 'is not', null),
    );
    const taken = new Set(named.map(({ topic }) => topic ?? ''));
    const updates = ofTenant.map(({ id, name }) => {
      const topic = freeTopic(topicOf(name), taken);
      taken.add(topic);
      return updateWhen(
        'panels',
        { set: { topic }, where: { tenant, id, topic: null } },
        // Another node may have given it to a panel meanwhile.
        sql<SqlBool>`not ${precondition('panels', { tenant, topic })}`,
      );
    });
    for (let start = 0; start < updates.length; start += namedAtOnce)
      await db.write([lockTenant(tenant), ...updates.slice(start, start + namedAtOnce)]);
  }
}

/** Also revokes the tokens that are bound to the panel, because they are valid for nothing else. Each gets an audit entry. */
async function removePanel(
  db: Database,
  { tenant, id, by, at }: { tenant: TenantId; id: string; by: Actor; at: number },
): Promise<boolean> {
  const bound = db
    .selectFrom('credentials')
    .select(['id', 'name'])
    .where('tenant', '=', tenant)
    .where('panel_id', '=', id)
    .where('revoked_at', 'is', null);
  for (;;) {
    const [known] = await db.read(
      db.selectFrom('panels').selectAll().where('tenant', '=', tenant).where('id', '=', id),
    );
    if (!known) return false;
    const { name, tags, location } = toPanel(known);
    const tokens = await db.read(bound);
    const { done } = await change(db, {
      entry: { tenant, by, at, action: 'panel.delete', subject: id, detail: { name, tags, location } },
      when: sql<SqlBool>`${precondition('panels', { tenant, id, name, tags: known.tags, location })}
        and (select count(*) from (${bound}) as bound) = ${tokens.length}`,
      effects: (guard) => [
        deleteWhen('panels', { tenant, id }, guard),
        ...tokens.map(({ id: subject, name: tokenName }) => {
          const detail = { name: tokenName, panelId: id };
          return auditMark({ tenant, by, at, action: 'token.revoke', subject, detail }, guard).insert;
        }),
        updateWhen(
          'credentials',
          { set: { revoked_at: at }, where: { tenant, panel_id: id, revoked_at: null } },
          guard,
        ),
      ],
    });
    // Otherwise the panel or its tokens have changed since they were read, so this tries again.
    if (done) return true;
  }
}

function toColumns(patch: Patch): Partial<PanelRow> {
  const columns: Partial<PanelRow> = {};
  if (patch.name !== undefined) columns.name = patch.name;
  if (patch.kind !== undefined) columns.kind = patch.kind;
  if (patch.tags !== undefined) columns.tags = JSON.stringify(patch.tags);
  if (patch.location !== undefined) columns.location = patch.location;
  if (patch.display !== undefined) columns.display = JSON.stringify(patch.display);
  return columns;
}

function toPanel(row: PanelRow): PanelRecord {
  return {
    id: row.id,
    name: row.name,
    tags: JSON.parse(row.tags) as string[],
    location: row.location,
    display: JSON.parse(row.display) as DisplaySettings,
    createdAt: row.created_at,
    lastSeenAt: row.last_seen_at,
    cursor: row.cursor,
    client: row.client,
    address: row.address,
    kind: row.kind as PanelKind,
    // Older nodes of a cluster register panels without one.
    topic: row.topic ?? row.id,
  };
}

/** Screens that wait for approval. They belong to no tenant until a person approves them. */
export function createPairings(db: Database): Pairings {
  return {
    async open({ code, secretHash, createdAt, expiresAt }) {
      const row: PairingRow = {
        secret_hash: secretHash,
        code,
        created_at: createdAt,
        expires_at: expiresAt,
        tenant: null,
        panel_id: null,
        approved_by: null,
        collected_at: null,
      };
      const results = await db.write([
        // An expired or collected code may be used again, even before the sweep deletes it.
        db
          .deleteFrom('pairings')
          .where('code', '=', code)
          .where((eb) => eb.or([eb('expires_at', '<=', createdAt), eb('collected_at', 'is not', null)])),
        db
          .insertInto('pairings')
          .values(row)
          .onConflict((conflict) => conflict.column('code').doNothing()),
      ]);
      return results[1]?.changes === 1;
    },

    async findBySecret(secretHash) {
      const [row] = await db.read(
        db.selectFrom('pairings').selectAll().where('secret_hash', '=', secretHash),
      );
      return row && toPairing(row);
    },

    async isWaiting(code, at) {
      const waiting = db
        .selectFrom('pairings')
        .select('code')
        .where('code', '=', code)
        .where('tenant', 'is', null)
        .where('expires_at', '>', at);
      return (await db.read(waiting)).length > 0;
    },

    async approve(code, tenant, panelId, by, at, approver) {
      const [panel] = await db.read(
        db.selectFrom('panels').select('name').where('tenant', '=', tenant).where('id', '=', panelId),
      );
      if (!panel) return false;
      const { name } = panel;
      const { done } = await change(db, {
        entry: { tenant, by, at, action: 'pairing.approve', subject: panelId, detail: { panel: name } },
        locks: [sql`update pairings set code = code where code = ${code}`],
        when: sql<SqlBool>`exists (select 1 from pairings where code = ${code} and pairings.tenant is null and expires_at > ${at})
          and ${precondition('panels', { tenant, id: panelId })} and ${isCreatorAuthorized(approver, at)}`,
        effects: (guard) => [
          updateWhen(
            'pairings',
            { set: { tenant, panel_id: panelId, approved_by: by }, where: { code } },
            guard,
          ),
        ],
      });
      return done;
    },

    async collect(secretHash, at) {
      const [result] = await db.write([
        db
          .updateTable('pairings')
          .set({ collected_at: at })
          .where('secret_hash', '=', secretHash)
          .where('tenant', 'is not', null)
          .where('collected_at', 'is', null)
          .where('expires_at', '>', at),
      ]);
      return result?.changes === 1;
    },

    async sweep(expiredBefore) {
      await db.write([db.deleteFrom('pairings').where('expires_at', '<', expiredBefore)]);
    },
  };
}

function toPairing(row: PairingRow): Pairing {
  return {
    code: row.code,
    secretHash: row.secret_hash,
    createdAt: row.created_at,
    expiresAt: row.expires_at,
    tenant: row.tenant,
    panelId: row.panel_id,
    approvedBy: row.approved_by,
    collectedAt: row.collected_at,
  };
}
