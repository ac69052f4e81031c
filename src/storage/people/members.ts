import { type Expression, type SqlBool, sql } from 'kysely';
import type { Role } from '#contract/people/token.ts';
import type { TenantId } from '#core/log/route.ts';
import { grantableRoles } from '#core/people/access.ts';
import type { MemberChange, MemberOutcome, MemberRecord, Members } from '#core/people/members.ts';
import { signedInStart } from '#core/tenants/topics.ts';
import type { Database, MemberRow, PersonRow, Statement } from '../database/sql.ts';
import {
  type Changed,
  change,
  compareAndSet,
  deleteWhen,
  insertWhen,
  precondition,
  updateWhen,
} from '../directory/change.ts';
import { endGrants, isCreatorAuthorized, keysToRevoke } from './credentials.ts';
import { toTenant } from './tenants.ts';

type KnownMember = MemberRow & Pick<PersonRow, 'email' | 'name' | 'two_factor_enabled'>;

export function createMembers(db: Database): Members {
  const select = (tenant: TenantId) =>
    db
      .selectFrom('members')
      .innerJoin('people', 'people.id', 'members.person')
      .selectAll('members')
      .select(['people.email', 'people.name', 'people.two_factor_enabled'])
      .where('members.tenant', '=', tenant);
  const one = (tenant: TenantId, person: string) => select(tenant).where('members.person', '=', person);

  return {
    async list(tenant) {
      const rows = await db.read(select(tenant).orderBy('people.name').orderBy('people.email'), tenant);
      return rows.map(toMember);
    },

    async roles(tenant) {
      const rows = await db.read(
        db.selectFrom('members').select(['person', 'role']).where('tenant', '=', tenant),
      );
      return new Map(rows.map(({ person, role }) => [person, role as Role]));
    },

    async find(tenant, person) {
      const [row] = await db.read(one(tenant, person), tenant);
      return row && toMember(row);
    },

    async ofPerson(person) {
      const rows = await db.read(
        db
          .selectFrom('members')
          .innerJoin('tenants', 'tenants.id', 'members.tenant')
          .selectAll('tenants')
          .select(['members.role', 'members.joined_at'])
          .where('members.person', '=', person)
          .where('tenants.state', 'in', ['active', 'suspended'])
          .orderBy('tenants.title')
          .orderBy('tenants.name'),
      );
      return rows.map((row) => ({ tenant: toTenant(row), role: row.role as Role, joinedAt: row.joined_at }));
    },

    async add(tenant, person, role, by, at) {
      const [known] = await db.read(db.selectFrom('people').select(['email']).where('id', '=', person));
      if (!known) return false;
      const { done } = await change(db, {
        entry: {
          tenant,
          by,
          at,
          action: 'member.add',
          subject: person,
          detail: { email: known.email, role },
        },
        when: sql<SqlBool>`${precondition('people', { id: person })} and not ${precondition('members', { tenant, person })}`,
        effects: (guard) => [newMember({ tenant, person, role, at }, guard)],
      });
      return done;
    },

    setRole: (wanted) => setRole(db, wanted, one(wanted.tenant, wanted.person)),
    remove: (wanted) => remove(db, wanted, one(wanted.tenant, wanted.person)),

    async touch(seen) {
      if (seen.length === 0) return;
      await db.write(
        seen.map(({ tenant, person, at }) =>
          updateWhen(
            'members',
            { set: { last_seen_at: at }, where: { tenant, person } },
            sql<SqlBool>`(last_seen_at is null or last_seen_at <= ${at})`,
          ),
        ),
      );
    },
  };
}

export function newMember(
  { tenant, person, role, at }: Pick<MemberChange, 'tenant' | 'person' | 'at'> & { readonly role: Role },
  when: Expression<SqlBool>,
): Statement {
  return insertWhen('members', { tenant, person, role, joined_at: at, last_seen_at: null }, when);
}

async function setRole(
  db: Database,
  { role, ...wanted }: MemberChange & { readonly role: Role },
  read: Statement<KnownMember>,
): Promise<MemberOutcome> {
  const { tenant, person, as, by, at } = wanted;
  const grants = { tenant, creator: person, at, keeps: grantableRoles(role) };
  const revokedKeys = await namesOf(db, keysToRevoke(grants));
  const result = await compareAndSet(db, read, ({ role: from, email }) => {
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
      when: mayEnd(wanted, from),
      effects: (guard) => [
        updateWhen('members', { set: { role }, where: { tenant, person } }, guard),
        ...endGrants({ ...grants, actor: email }, guard),
      ],
      after: mayStill(wanted),
    };
  });
  if (!result) return 'not-found';
  const { role: from } = result.before;
  if (isReserved(from, as) || isReserved(role, as)) return 'forbidden';
  return from === role ? 'done' : outcomeOf(result);
}

async function remove(
  db: Database,
  wanted: MemberChange,
  read: Statement<KnownMember>,
): Promise<MemberOutcome> {
  const { tenant, person, as, by, at } = wanted;
  const grants = { tenant, creator: person, at, keeps: [] };
  const revokedKeys = await namesOf(db, keysToRevoke(grants));
  const ofPhones = ofSignedInPhones(tenant, person);
  const revokedTokens = await namesOf(
    db,
    sql`select id, name from credentials where ${ofPhones} order by created_at, id`,
  );
  const result = await compareAndSet(db, read, ({ role, email }) => {
    if (isReserved(role, as)) return undefined;
    return {
      entry: {
        tenant,
        by,
        at,
        action: 'member.remove',
        subject: person,
        detail: {
          email,
          role,
          ...(revokedKeys.length > 0 && { revokedKeys }),
          ...(revokedTokens.length > 0 && { revokedTokens }),
        },
      },
      when: mayEnd(wanted, role),
      effects: (guard) => [
        deleteWhen('members', { tenant, person }, guard),
        deleteWhen('push_devices', { tenant, person }, guard),
        sql`update credentials set revoked_at = ${at} where ${ofPhones} and ${guard}`,
        ...endGrants({ ...grants, actor: email }, guard),
      ],
      after: mayStill(wanted),
    };
  });
  if (!result) return 'not-found';
  if (isReserved(result.before.role, as)) return 'forbidden';
  return outcomeOf(result);
}

/** SQL: the tokens in force that a person made for the panels of phones that they signed in with their account. */
function ofSignedInPhones(tenant: TenantId, person: string): Expression<SqlBool> {
  return sql<SqlBool>`tenant = ${tenant} and kind = 'token' and maker = ${person} and revoked_at is null
    and panel_id in (select id from panels where tenant = ${tenant} and topic like ${`${signedInStart(person)}%`})`;
}

/** Of credentials, as in "deploy (0123456789)". */
async function namesOf(
  db: Database,
  query: Statement<{ readonly id: string; readonly name: string }>,
): Promise<string[]> {
  return (await db.read(query)).map(({ id, name }) => `${name} (${id})`);
}

/** Whether the change needs an owner: only owners make, demote and remove owners. */
function isReserved(role: string, as: MemberChange['as']): boolean {
  return role === 'owner' && as !== 'owner' && as !== 'self';
}

/** SQL: the member still has this role, the tenant has another owner if the role is owner, and the principal its own. */
function mayEnd({ tenant, person, principal, at }: MemberChange, role: string): Expression<SqlBool> {
  const unchanged = sql<SqlBool>`${precondition('members', { tenant, person, role })}
    and ${isCreatorAuthorized(principal, at)}`;
  if (role !== 'owner') return unchanged;
  return sql<SqlBool>`${unchanged} and exists (select 1 from members
    where members.tenant = ${tenant} and members.role = 'owner' and members.person <> ${person})`;
}

/** Whether the principal has its role, read in the transaction of the change. */
function mayStill({ principal, at }: MemberChange): Statement<{ readonly may: number }> {
  return sql<{
    may: number;
  }>`select (case when ${isCreatorAuthorized(principal, at)} then 1 else 0 end) as may`;
}

function outcomeOf({ done, row }: Changed<{ readonly may: number }>): MemberOutcome {
  if (done) return 'done';
  return row?.may === 0 ? 'forbidden' : 'last-owner';
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
