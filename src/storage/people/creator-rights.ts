/** Keys and pending invitations end when their creator may no longer grant their role. */
import { type Expression, type SqlBool, sql } from 'kysely';
import { type Role, roles } from '#contract/people/token.ts';
import type { Principal } from '#core/people/access.ts';
import type { TenantId } from '#core/ports.ts';
import { always, precondition } from '../change.ts';
import type { Statement } from '../sql.ts';

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
export function handOverCreated(tenant: TenantId, ids: Expression<unknown>): Statement {
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
