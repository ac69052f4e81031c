import { type CompiledQuery, type Expression, type SqlBool, sql } from 'kysely';
import type { Role } from '#contract/token.ts';
import { grantableRoles } from '#core/access.ts';
import type { MemberChange, MemberOutcome, MemberRecord, Members } from '#core/members.ts';
import type { TenantId } from '#core/ports.ts';
import { change, compareAndSet, insertWhen, precondition } from './change.ts';
import { keysToRevoke, revokeCreatedKeys } from './creator-rights.ts';
import { withdrawnOf } from './invitations-withdrawn.ts';
import type { Builder, MemberRow, PersonRow } from './schema.ts';
import type { SqlExecutor } from './sql.ts';
import { toTenant } from './tenants.ts';

type KnownMember = MemberRow & Pick<PersonRow, 'email' | 'name' | 'two_factor_enabled'>;

export function createMembers(db: Builder, executor: SqlExecutor): Members {
  const select = (tenant: TenantId) =>
    db
      .selectFrom('members')
      .innerJoin('people', 'people.id', 'members.person')
      .selectAll('members')
      .select(['people.email', 'people.name', 'people.two_factor_enabled'])
      .where('members.tenant', '=', tenant);
  const one = (tenant: TenantId, person: string) =>
    select(tenant).where('members.person', '=', person).compile();

  return {
    async list(tenant) {
      const rows = await executor.read(
        select(tenant).orderBy('people.name').orderBy('people.email').compile(),
        tenant,
      );
      return rows.map(toMember);
    },

    async roles(tenant) {
      const rows = await executor.read(
        db.selectFrom('members').select(['person', 'role']).where('tenant', '=', tenant).compile(),
      );
      return new Map(rows.map(({ person, role }) => [person, role as Role]));
    },

    async find(tenant, person) {
      const [row] = await executor.read(one(tenant, person), tenant);
      return row && toMember(row);
    },

    async ofPerson(person) {
      const rows = await executor.read(
        db
          .selectFrom('members')
          .innerJoin('tenants', 'tenants.id', 'members.tenant')
          .selectAll('tenants')
          .select(['members.role', 'members.joined_at'])
          .where('members.person', '=', person)
          .orderBy('tenants.title')
          .orderBy('tenants.name')
          .compile(),
      );
      return rows.map((row) => ({ tenant: toTenant(row), role: row.role as Role, joinedAt: row.joined_at }));
    },

    async add(tenant, person, role, by, at) {
      const [known] = await executor.read(
        db.selectFrom('people').select(['email']).where('id', '=', person).compile(),
      );
      if (!known) return false;
      const { done } = await change(db, executor, {
        entry: {
          tenant,
          by,
          at,
          action: 'member.add',
          subject: person,
          detail: { email: known.email, role },
        },
        when: sql<SqlBool>`${precondition('people', { id: person })} and not ${precondition('members', { tenant, person })}`,
        effects: (guard) => [newMember(db, { tenant, person, role, at }, guard)],
        after: one(tenant, person),
      });
      return done;
    },

    setRole: (wanted) => setRole(db, executor, wanted, one(wanted.tenant, wanted.person)),
    remove: (wanted) => remove(db, executor, wanted, one(wanted.tenant, wanted.person)),

    async touch(seen) {
      if (seen.length === 0) return;
      await executor.write(
        seen.map(({ tenant, person, at }) =>
          db
            .updateTable('members')
            .set({ last_seen_at: at })
            .where('tenant', '=', tenant)
            .where('person', '=', person)
            .where((eb) => eb.or([eb('last_seen_at', 'is', null), eb('last_seen_at', '<=', at)]))
            .compile(),
        ),
      );
    },
  };
}

export function newMember(
  db: Builder,
  { tenant, person, role, at }: Pick<MemberChange, 'tenant' | 'person' | 'at'> & { readonly role: Role },
  when: Expression<SqlBool>,
): CompiledQuery {
  return insertWhen(db, 'members', { tenant, person, role, joined_at: at, last_seen_at: null }, when);
}

async function setRole(
  db: Builder,
  executor: SqlExecutor,
  { tenant, person, role, as, by, at }: MemberChange & { readonly role: Role },
  read: CompiledQuery<KnownMember>,
): Promise<MemberOutcome> {
  const keys = { tenant, creator: person, at, keeps: grantableRoles(role) };
  const revokedKeys = (await executor.read(keysToRevoke(db, keys))).map(({ id, name }) => `${name} (${id})`);
  const result = await compareAndSet(db, executor, read, ({ role: from, email }) => {
    if (from === role || isReserved(from, as) || isReserved(role, as)) return undefined;
    return {
      entry: {
        tenant,
        by,
        at,
        action: 'member.update',
        subject: person,
        detail: {
          email,
          before: { role: from },
          after: { role },
          ...(revokedKeys.length > 0 && { revokedKeys }),
        },
      },
      when: mayEnd(tenant, person, from),
      effects: (guard) => [
        db
          .updateTable('members')
          .set({ role })
          .where('tenant', '=', tenant)
          .where('person', '=', person)
          .where(guard)
          .compile(),
        ...withdrawnOf(db, { tenant, by: email, at, keeps: grantableRoles(role) }, guard),
        ...revokeCreatedKeys(db, keys, guard),
      ],
      after: read,
    };
  });
  if (!result) return 'not-found';
  const { role: from } = result.before;
  if (isReserved(from, as) || isReserved(role, as)) return 'forbidden';
  return result.done || from === role ? 'done' : 'last-owner';
}

async function remove(
  db: Builder,
  executor: SqlExecutor,
  { tenant, person, as, by, at }: MemberChange,
  read: CompiledQuery<KnownMember>,
): Promise<MemberOutcome> {
  const keys = { tenant, creator: person, at, keeps: [] };
  const revokedKeys = (await executor.read(keysToRevoke(db, keys))).map(({ id, name }) => `${name} (${id})`);
  const result = await compareAndSet(db, executor, read, ({ role, email }) => {
    if (isReserved(role, as)) return undefined;
    return {
      entry: {
        tenant,
        by,
        at,
        action: 'member.remove',
        subject: person,
        detail: { email, role, ...(revokedKeys.length > 0 && { revokedKeys }) },
      },
      when: mayEnd(tenant, person, role),
      effects: (guard) => [
        db
          .deleteFrom('members')
          .where('tenant', '=', tenant)
          .where('person', '=', person)
          .where(guard)
          .compile(),
        ...withdrawnOf(db, { tenant, by: email, at, keeps: [] }, guard),
        ...revokeCreatedKeys(db, keys, guard),
      ],
      after: read,
    };
  });
  if (!result) return 'not-found';
  if (isReserved(result.before.role, as)) return 'forbidden';
  return result.done ? 'done' : 'last-owner';
}

/** Owners are made, unmade and removed by owners. */
function isReserved(role: string, as: MemberChange['as']): boolean {
  return role === 'owner' && as !== 'owner' && as !== 'self';
}

/** That the member still has this role, and the tenant an owner without them. */
function mayEnd(tenant: TenantId, person: string, role: string): Expression<SqlBool> {
  const unchanged = precondition('members', { tenant, person, role });
  if (role !== 'owner') return unchanged;
  return sql<SqlBool>`${unchanged} and exists (select 1 from members
    where members.tenant = ${tenant} and members.role = 'owner' and members.person <> ${person})`;
}

function toMember(row: KnownMember): MemberRecord {
  return {
    person: row.person,
    email: row.email,
    name: row.name,
    twoFactor: row.two_factor_enabled !== 0,
    role: row.role as Role,
    joinedAt: row.joined_at,
    lastSeenAt: row.last_seen_at,
  };
}
