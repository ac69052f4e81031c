import { type Expression, type SqlBool, sql } from 'kysely';
import { limits } from '#contract/limits.ts';
import { type Role, roles, type Scope } from '#contract/people/token.ts';
import { conflict, forbidden, notFound } from '#core/errors.ts';
import type { TenantId } from '#core/log/route.ts';
import { credentialActor, type Principal } from '#core/people/access.ts';
import { assertMayAllowInUrl, assertMayBeForPanel } from '#core/people/credentials.ts';
import type { CredentialRecord, Credentials } from '#core/tenants/directory.ts';
import type { RateSetting } from '#core/tenants/tenants.ts';
import { iso } from '#core/time/time.ts';
import type { CredentialRow, Database, Statement } from '../database/sql.ts';
import { difference } from '../directory/audit.ts';
import {
  always,
  change,
  compareAndSet,
  insertWhen,
  lockTenant,
  pick,
  precondition,
  updateWhen,
} from '../directory/change.ts';

type Kind = CredentialRecord['kind'];
type Patch = Parameters<Credentials['update']>[3];

export function createCredentials(db: Database): Credentials {
  const one = (tenant: TenantId, kind: Kind, id: string) =>
    db
      .selectFrom('credentials')
      .selectAll()
      .where('tenant', '=', tenant)
      .where('kind', '=', kind)
      .where('id', '=', id);

  return {
    async add(record, creator) {
      const { tenant, kind, id, createdBy, createdAt } = record;
      const inForce = countInForce(tenant, kind, createdAt);
      const isAuthorized = isCreatorAuthorized(creator, createdAt);
      const { done, row } = await change(db, {
        entry: {
          tenant,
          by: createdBy,
          at: createdAt,
          action: `${kind}.create`,
          subject: id,
          detail: describe(record),
        },
        when: sql<SqlBool>`${isAuthorized} and ${inForce} < ${mostOf(kind)}`,
        effects: (guard) => [
          insertWhen('credentials', { ...toRow(record), maker: creator?.id ?? null }, guard),
        ],
        after: sql<{
          may: number;
          count: number;
        }>`select (case when ${isAuthorized} then 1 else 0 end) as may,
          ${inForce} as count`,
      });
      if (done) return;
      if (row?.may !== 1) throw forbidden();
      if (row.count < mostOf(kind)) throw notFound('tenant');
      throw full(kind);
    },

    async find(id) {
      const [row] = await db.read(
        db
          .selectFrom('credentials')
          .innerJoin('tenants', 'tenants.id', 'credentials.tenant')
          .selectAll('credentials')
          .select('tenants.state')
          .where('credentials.id', '=', id)
          .where('tenants.state', 'in', ['active', 'suspended']),
      );
      return row && { ...toCredential(row), tenantState: row.state };
    },

    async list(tenant, kind) {
      const rows = await db.read(
        db
          .selectFrom('credentials')
          .selectAll()
          .where('tenant', '=', tenant)
          .where('kind', '=', kind)
          .orderBy('created_at')
          .orderBy('id'),
        tenant,
      );
      return rows.map(toCredential);
    },

    async update(tenant, kind, id, patch, by, at) {
      const read = one(tenant, kind, id);
      const updated = await compareAndSet(db, read, (row) => {
        const detail = difference(legible(toCredential(row)), legible(patch));
        const columns = toColumns(patch);
        if (!detail) return undefined;
        const changed = { ...toCredential(row), ...patch };
        assertMayAllowInUrl(changed);
        if (patch.scopes) assertMayBeForPanel(changed);
        // Whether the token may be in a URL depends on its scopes.
        const { scopes, allow_in_url } = row;
        const unchanged = precondition('credentials', {
          ...{ tenant, id, kind, scopes, allow_in_url },
          ...pick(row, columns),
        });
        // An expired credential that gets a new end is in force again.
        const isRenewed = !isInForce(row, at) && isInForce({ ...row, ...columns }, at);
        const hasRoom = isRenewed
          ? sql<SqlBool>`${countInForce(tenant, kind, at)} < ${mostOf(kind)}`
          : always;
        return {
          entry: {
            tenant,
            by,
            at,
            action: `${kind}.update`,
            subject: id,
            detail: { name: row.name, ...detail },
          },
          when: sql<SqlBool>`${unchanged} and ${hasRoom}`,
          effects: (guard) => [updateWhen('credentials', { set: columns, where: { tenant, id } }, guard)],
          after: read,
        };
      });
      if (updated?.row && !updated.done) throw full(kind);
      return updated && toCredential(updated.row ?? updated.before);
    },

    async revoke(tenant, kind, id, by, at) {
      const read = one(tenant, kind, id);
      const revoked = await compareAndSet(db, read, (row) =>
        row.revoked_at !== null
          ? undefined
          : {
              entry: {
                tenant,
                by,
                at,
                action: `${kind}.revoke`,
                subject: id,
                detail: describe(toCredential(row)),
              },
              when: precondition('credentials', { tenant, id, kind, revoked_at: null }),
              effects: (guard) => [
                updateWhen('credentials', { set: { revoked_at: at }, where: { tenant, id } }, guard),
                // Finds invitations by the name of the key. If another key has the same name, its invitations are withdrawn too:
                // this is better than to keep an invitation of a stolen key.
                ...endGrants({ tenant, creator: id, actor: credentialActor(row), at, keeps: [] }, guard),
              ],
              after: read,
            },
      );
      return revoked && toCredential(revoked.row ?? revoked.before);
    },

    async forgetEnded(tenant, at) {
      const beyond = (kind: Kind) =>
        sql`select id from (select id, row_number() over (order by coalesce(revoked_at, expires_at) desc, id) as place
            from credentials where tenant = ${tenant} and kind = ${kind} and (revoked_at is not null or expires_at <= ${at})
          ) as ended where place > ${mostOf(kind)}`;
      const some = await db.read(sql`${beyond('token')} union all ${beyond('key')} limit 1`, tenant);
      if (some.length === 0) return;
      const forget = (kind: Kind) =>
        sql`delete from credentials where tenant = ${tenant} and kind = ${kind} and id in (${beyond(kind)})`;
      const handOver = handOverCreated(tenant, beyond('key'));
      await db.write([lockTenant(tenant), handOver, forget('token'), forget('key')], tenant);
    },

    async touch(uses) {
      if (uses.length === 0) return;
      await db.write(
        uses.map(({ tenant, id, at, from }) =>
          updateWhen(
            'credentials',
            { set: { last_used_at: at, last_used_from: from }, where: { tenant, id } },
            sql<SqlBool>`(last_used_at is null or last_used_at <= ${at})`,
          ),
        ),
      );
    },
  };
}

const mostOf = (kind: Kind) => (kind === 'key' ? limits.keysPerTenant : limits.tokensPerTenant);
const full = (kind: Kind) =>
  conflict(`there are ${mostOf(kind)} ${kind}s in force already: revoke some first`);

const isInForce = ({ revoked_at, expires_at }: CredentialRow, at: number) =>
  revoked_at === null && (expires_at === null || expires_at > at);

/** SQL: how many credentials of the kind are in force. Evaluated inside the transaction, so that parallel changes cannot exceed the limit. */
function countInForce(tenant: TenantId, kind: Kind, at: number): Expression<number> {
  return sql<number>`(select count(*) from credentials where tenant = ${tenant} and kind = ${kind}
    and revoked_at is null and (expires_at is null or expires_at > ${at}))`;
}

/** The fields for the audit log, without secrets and hashes. */
function describe(record: CredentialRecord): Record<string, unknown> {
  const { kind, name, scopes, role, rate, panelId, allowFrom, allowInUrl } = record;
  const { expiresAt } = legible(record);
  return kind === 'key'
    ? { name, role, allowFrom, expiresAt }
    : { name, scopes, rate, panelId, allowFrom, allowInUrl, expiresAt };
}

/** The fields of a credential that can change, with the time as ISO text. */
function legible({ name, scopes, rate, allowFrom, allowInUrl, expiresAt }: Patch): Record<string, unknown> {
  const expiry = expiresAt == null ? expiresAt : iso(expiresAt);
  return { name, scopes, rate, allowFrom, allowInUrl, expiresAt: expiry };
}

function toColumns(patch: Patch): Partial<CredentialRow> {
  const columns: Partial<CredentialRow> = {};
  if (patch.name !== undefined) columns.name = patch.name;
  if (patch.scopes !== undefined) columns.scopes = JSON.stringify(patch.scopes);
  if (patch.rate !== undefined) columns.rate = patch.rate === null ? null : JSON.stringify(patch.rate);
  if (patch.expiresAt !== undefined) columns.expires_at = patch.expiresAt;
  if (patch.allowFrom !== undefined) columns.allow_from = JSON.stringify(patch.allowFrom);
  if (patch.allowInUrl !== undefined) columns.allow_in_url = Number(patch.allowInUrl);
  return columns;
}

function toRow(record: CredentialRecord): Omit<CredentialRow, 'maker'> {
  return {
    tenant: record.tenant,
    id: record.id,
    kind: record.kind,
    name: record.name,
    hash: record.hash,
    scopes: JSON.stringify(record.scopes),
    role: record.role,
    rate: record.rate === null ? null : JSON.stringify(record.rate),
    panel_id: record.panelId,
    allow_from: JSON.stringify(record.allowFrom),
    allow_in_url: Number(record.allowInUrl),
    created_at: record.createdAt,
    created_by: record.createdBy,
    last_used_at: record.lastUsedAt,
    last_used_from: record.lastUsedFrom,
    expires_at: record.expiresAt,
    revoked_at: record.revokedAt,
  };
}

function toCredential(row: CredentialRow): CredentialRecord {
  return {
    tenant: row.tenant,
    id: row.id,
    kind: row.kind,
    name: row.name,
    hash: row.hash,
    scopes: JSON.parse(row.scopes) as Scope[],
    rate: row.rate === null ? null : (JSON.parse(row.rate) as RateSetting),
    panelId: row.panel_id,
    role: row.role as Role | null,
    allowFrom: JSON.parse(row.allow_from) as string[],
    allowInUrl: row.allow_in_url === 1,
    createdAt: row.created_at,
    createdBy: row.created_by,
    lastUsedAt: row.last_used_at,
    lastUsedFrom: row.last_used_from,
    expiresAt: row.expires_at,
    revokedAt: row.revoked_at,
  };
}

/** Keys and pending invitations end when their creator may no longer grant their role. */

/**
 * SQL: the creator is still a signed-in member with the same role, or a valid credential. The transaction checks it, because
 * the request's body may arrive long after its head was authorized. Without a creator (the server itself) it is always true.
 */
export function isCreatorAuthorized(creator: Principal | undefined, at: number): Expression<SqlBool> {
  if (!creator) return always;
  const { tenant, id } = creator;
  if (creator.kind === 'person')
    return sql<SqlBool>`${precondition('members', { tenant, person: id, role: creator.role })}
      and ${precondition('sessions', { id: creator.sessionId, person: id })}`;
  return sql<SqlBool>`exists (select 1 from credentials where tenant = ${tenant} and id = ${id} and kind = ${creator.kind}
    and revoked_at is null and (expires_at is null or expires_at > ${at}))`;
}

interface CreatorChange {
  readonly tenant: TenantId;
  /** The id of the person or key; the column `maker` holds it. */
  readonly creator: string;
  readonly at: number;
  /** The roles that the creator may still grant. */
  readonly keeps: readonly Role[];
}

/** The valid keys created by the creator or by these keys in turn, whose role the creator may no longer grant. */
export function keysToRevoke(
  change: CreatorChange,
): Statement<{ readonly id: string; readonly name: string }> {
  return sql<{ id: string; name: string }>`${keysCreatedBy(change)}
    select id, name from credentials where ${hasLostRole(change)} order by created_at, id`;
}

/**
 * Withdraws the creator's pending invitations to roles that it may no longer grant, revokes {@link keysToRevoke}, and withdraws all
 * pending invitations that these keys created. A screen that has not collected its token gets none, and a link for a device that was
 * not used adds none, if one of these keys made it, or the creator did and keeps no role. `actor`: the creator as the columns
 * `created_by` and `approved_by` name it.
 */
export function endGrants(
  { actor, ...change }: CreatorChange & { readonly actor: string },
  guard: Expression<SqlBool>,
): Statement[] {
  const { tenant, at } = change;
  const revokedNow = sql`select 'key ' || name from credentials
    where tenant = ${tenant} and kind = 'key' and revoked_at = ${at}`;
  const isTheirs = (column: 'approved_by' | 'created_by') =>
    change.keeps.length === 0
      ? sql`(${sql.ref(column)} = ${actor} or ${sql.ref(column)} in (${revokedNow}))`
      : sql`${sql.ref(column)} in (${revokedNow})`;
  const withdraw = sql`update invitations set withdrawn_at = ${at}
    where tenant = ${tenant} and accepted_at is null and withdrawn_at is null and ${guard}`;
  return [
    sql`${withdraw} and created_by = ${actor} and ${isLost(change)}`,
    sql`${keysCreatedBy(change)} update credentials set revoked_at = ${at} where ${hasLostRole(change)} and ${guard}`,
    sql`${withdraw} and created_by in (${revokedNow})`,
    sql`update pairings set expires_at = created_at where tenant = ${tenant} and collected_at is null and ${guard}
      and ${isTheirs('approved_by')}`,
    sql`delete from push_devices where tenant = ${tenant} and sealed is null and ${guard} and ${isTheirs('created_by')}`,
  ];
}

/** Makes the creators of the keys with `ids` the creators of what these keys created. Run it before these keys are deleted. */
function handOverCreated(tenant: TenantId, ids: Expression<unknown>): Statement {
  return sql`with recursive deleted (id, maker) as (
      select id, maker from credentials where tenant = ${tenant} and id in (${ids})),
    heirs (id, heir) as (
      select id, maker from deleted where maker is null or maker not in (select id from deleted)
      union all select deleted.id, heirs.heir from heirs join deleted on deleted.maker = heirs.id)
    update credentials set maker = (select heir from heirs where heirs.id = credentials.maker)
    where tenant = ${tenant} and maker in (select id from heirs)`;
}

function keysCreatedBy({ tenant, creator }: CreatorChange) {
  return sql`with recursive created (id) as (
    select id from credentials where tenant = ${tenant} and kind = 'key' and maker = ${creator}
    union select credentials.id from credentials join created on credentials.maker = created.id
      where credentials.tenant = ${tenant} and credentials.kind = 'key')`;
}

function hasLostRole(change: CreatorChange) {
  return sql`tenant = ${change.tenant} and id in (select id from created) and revoked_at is null and ${isLost(change)}`;
}

/** SQL: the creator may no longer grant the role of the row. */
function isLost({ keeps }: CreatorChange) {
  const lost = roles.filter((role) => !keeps.includes(role));
  return lost.length === 0 ? sql`1 = 0` : sql`role in (${sql.join(lost)})`;
}
