import { type Expression, type RawBuilder, type SqlBool, sql } from 'kysely';
import { uuidv7 } from 'uuidv7';
import type { Role } from '#contract/people/token.ts';
import type { TenantId } from '#core/log/route.ts';
import type {
  AccountRows,
  AccountStore,
  Condition,
  NewPerson,
  PersonRecord,
  Row,
} from '#core/people/accounts.ts';
import { hashSecret } from '#core/people/secrets.ts';
import type { Database, PersonRow, Statement } from '../database/sql.ts';
import { auditMark } from '../directory/audit.ts';
import { always, change, deleteWhen, insertWhen, precondition, updateWhen } from '../directory/change.ts';
import { acceptance, isWaiting, toInvitation, waitingInvitations } from './invitations.ts';
import { newMember } from './members.ts';
import { createSessions, newSession, renewSession } from './sessions.ts';
import { isKept } from './tenants.ts';

export function createAccountStore(db: Database): AccountStore {
  const people = db.selectFrom('people').selectAll();
  const nobody = sql<SqlBool>`not exists (select 1 from people)`;
  const isFree = (email: string) => sql<SqlBool>`not ${precondition('people', { email })}`;
  const person = (id: string) => people.where('id', '=', id);

  return {
    ...createSessions(db),
    rows: createAccountRows(db),

    async isEmpty() {
      return (await db.read(db.selectFrom('people').select('id').limit(1))).length === 0;
    },

    async find(id) {
      const [row] = await db.read(person(id));
      return row && toPerson(row);
    },

    async findByEmail(email) {
      const [row] = await db.read(people.where('email', '=', email));
      return row && toPerson(row);
    },

    async list() {
      const rows = await db.read(people.orderBy('email'));
      return rows.map((row) => ({ ...toPerson(row), createdAt: row.created_at }));
    },

    async createFirst({ person: founder, tenant: { id: tenant, title, timeZone }, session, by, at }) {
      const settings = {
        ...(title !== undefined && { title }),
        ...(timeZone !== undefined && { time_zone: timeZone }),
      };
      const entry = joining(founder, tenant, 'owner', by, at);
      const { done } = await change(db, {
        entry: { ...entry, detail: { ...entry.detail, title, timeZone } },
        when: nobody,
        effects: (guard) => [
          ...newPerson(founder, at, guard),
          newMember({ tenant, person: founder.id, role: 'owner', at }, guard),
          ...(Object.keys(settings).length === 0
            ? []
            : [updateWhen('tenants', { set: settings, where: { id: tenant } }, guard)]),
          ...(session ? [newSession({ ...session, person: founder.id, at }, guard)] : []),
        ],
      });
      return done;
    },

    async addMember(added, member, by, at) {
      const { done } = await change(db, {
        entry: joining(added, member.tenant, member.role, by, at),
        when: isFree(added.email),
        effects: (guard) => [
          ...newPerson(added, at, guard),
          newMember({ ...member, person: added.id, at }, guard),
        ],
      });
      return done;
    },

    async join(joined, invitation, at) {
      const { done, row } = await change(db, {
        ...acceptance(joined, invitation, at),
        when: sql<SqlBool>`${isWaiting(invitation)} and ${isFree(joined.email)}`,
        effects: (guard) => [
          ...newPerson(joined, at, guard, byInvitation),
          ...acceptance(joined, invitation, at).effects(guard),
        ],
        after: people.where('email', '=', joined.email),
      });
      if (done) return 'done';
      return row ? 'email-taken' : 'no-invitation';
    },

    async acceptInvitation(id, invitation, at) {
      const [row] = await db.read(person(id));
      if (!row) return;
      const isMember = precondition('members', { tenant: invitation.tenant, person: id });
      await change(db, {
        ...acceptance(row, invitation, at),
        when: sql<SqlBool>`${isWaiting(invitation)} and not ${isMember}`,
      });
    },

    async invitationFor(email, at) {
      const [row] = await db.read(
        waitingInvitations(db, at).where('email', '=', email).orderBy('created_at').limit(1),
      );
      return row && toInvitation(row);
    },

    async takeOnce(what, { at, until }) {
      const id = idOfTaken(what);
      const results = await db.write([
        db.deleteFrom('verifications').where('id', '=', id).where('expires_at', '<=', at),
        sql`insert into verifications (id, identifier, value, expires_at, created_at, updated_at)
          values (${id}, ${id}, '', ${until}, ${at}, ${at}) on conflict (id) do nothing`,
      ]);
      return results.at(-1)?.changes === 1;
    },

    async wasTaken(what, at) {
      const taken = db.selectFrom('verifications').select('id').where('id', '=', idOfTaken(what));
      return (await db.read(taken.where('expires_at', '>', at))).length > 0;
    },

    async changePassword(id, { from, to }, session, at) {
      const method = { person: id, provider: 'credential' };
      // A hash is salted: nothing else stores this one.
      const changed = precondition('sign_in_methods', { ...method, password_hash: to });
      const [result] = await db.write([
        updateWhen(
          'sign_in_methods',
          { set: { password_hash: to, updated_at: at }, where: { ...method, password_hash: from } },
          always,
        ),
        deleteWhen('sessions', { person: id }, changed),
        deleteWhen('verifications', { value: id }, changed),
        newSession({ ...session, person: id, at }, changed),
      ]);
      return result?.changes === 1;
    },

    async activateTwoFactor(id, secret, renewal) {
      const isRenewed = precondition('sessions', { token_hash: renewal.session.tokenHash });
      const [, result] = await db.write([
        // Locks the factor, so that only one of two activations at once finds it unverified.
        sql`update two_factors set id = id where person = ${id}`,
        renewSession(id, renewal, precondition('two_factors', { person: id, secret, verified: 0 })),
        updateWhen('two_factors', { set: { verified: 1 }, where: { person: id, secret } }, isRenewed),
        updateWhen(
          'people',
          { set: { two_factor_enabled: 1, updated_at: renewal.at }, where: { id } },
          isRenewed,
        ),
      ]);
      return result?.changes === 1;
    },

    async removeTwoFactor(id, renewal) {
      const isRenewed = precondition('sessions', { token_hash: renewal.session.tokenHash });
      const [result] = await db.write([
        renewSession(id, renewal, always),
        deleteWhen('two_factors', { person: id }, isRenewed),
        updateWhen(
          'people',
          { set: { two_factor_enabled: 0, updated_at: renewal.at }, where: { id } },
          isRenewed,
        ),
        // Trusted devices, and sign-ins that wait for a second factor.
        deleteWhen('verifications', { value: id }, isRenewed),
      ]);
      return result?.changes === 1;
    },

    async resetPassword(id, passwordHash, { keepTwoFactor, keepPasskeys, at }) {
      const results = await db.write([
        sql`insert into sign_in_methods (id, person, provider, subject, password_hash, created_at, updated_at)
          values (${uuidv7()}, ${id}, 'credential', ${id}, ${passwordHash}, ${at}, ${at})
          on conflict (provider, subject) do update
          set password_hash = excluded.password_hash, updated_at = excluded.updated_at`,
        db.deleteFrom('sessions').where('person', '=', id),
        // Trusted devices, and sign-ins that wait for a second factor, must end with the old password too.
        db.deleteFrom('verifications').where('value', '=', id),
        ...(keepTwoFactor
          ? []
          : [
              db.deleteFrom('two_factors').where('person', '=', id),
              db.updateTable('people').set({ two_factor_enabled: 0 }).where('id', '=', id),
            ]),
        sql`delete from passkeys where person = ${id} and ${keepPasskeys ? 1 : 0} = 0`,
        sql`select count(*) as n from sign_in_methods where person = ${id} and provider <> 'credential'`,
      ]);
      const [passkeys, identities] = results.slice(-2);
      return { passkeysRemoved: passkeys?.changes ?? 0, identities: Number(identities?.rows[0]?.n ?? 0) };
    },

    async forgetUnproven(id) {
      const unproven = db
        .selectFrom('sign_in_methods')
        .select('person')
        .where('person', '=', id)
        .where('scope', '=', byInvitation);
      const results = await db.write([
        db.deleteFrom('sessions').where('person', 'in', unproven),
        db.deleteFrom('verifications').where('value', 'in', unproven),
        sql`delete from passkeys where person in ${unproven}`,
        db.deleteFrom('two_factors').where('person', 'in', unproven),
        db.updateTable('people').set({ two_factor_enabled: 0 }).where('id', 'in', unproven),
        db.deleteFrom('sign_in_methods').where('person', '=', id).where('scope', '=', byInvitation),
      ]);
      return (results.at(-1)?.changes ?? 0) > 0;
    },

    async rename(id, name, at) {
      await db.write([db.updateTable('people').set({ name, updated_at: at }).where('id', '=', id)]);
    },

    async remove(id) {
      const isMember = sql<SqlBool>`exists (select 1 from members where person = ${id} and ${isKept('members.tenant')})`;
      const results = await db.write([
        ...['sessions', 'passkeys', 'two_factors', 'sign_in_methods'].map(
          (table) => sql`delete from ${sql.table(table)} where person = ${id} and not ${isMember}`,
        ),
        sql`delete from verifications where value = ${id} and not ${isMember}`,
        sql`delete from people where id = ${id} and not ${isMember}`,
      ]);
      return results.at(-1)?.changes === 1;
    },

    async note(id, event) {
      const tenants = await db.read(db.selectFrom('members').select('tenant').where('person', '=', id));
      const notes = tenants.map(
        ({ tenant }) =>
          auditMark({ ...event, tenant }, precondition('members', { tenant, person: id })).insert,
      );
      if (notes.length > 0) await db.write(notes);
    },
  };
}

/** The `scope` of a password that was chosen on the page of an invitation, perhaps by another person. */
const byInvitation = 'invitation';

/** The primary key of a used mark: only the first of several inserts succeeds. It is a hash, because a valid code is a secret. */
const idOfTaken = (what: string) => `used ${hashSecret(what)}`;

function toPerson({ id, email, name, two_factor_enabled }: PersonRow): PersonRecord {
  return { id, email, name, twoFactor: two_factor_enabled !== 0 };
}

function joining({ id, email }: NewPerson, tenant: TenantId, role: Role, by: string, at: number) {
  return { tenant, by, at, action: 'member.add', subject: id, detail: { email, role } } as const;
}

function newPerson(
  added: NewPerson,
  at: number,
  when: Expression<SqlBool>,
  scope: string | null = null,
): Statement[] {
  const { id, email, name, signInWith, emailVerified } = added;
  const method =
    'passwordHash' in signInWith
      ? { provider: 'credential', subject: id, password_hash: signInWith.passwordHash, scope }
      : { ...signInWith, password_hash: null, scope: null };
  return [
    insertWhen(
      'people',
      {
        id,
        email,
        name,
        email_verified: emailVerified ? 1 : 0,
        image: null,
        two_factor_enabled: 0,
        created_at: at,
        updated_at: at,
      },
      when,
    ),
    insertWhen(
      'sign_in_methods',
      {
        id: uuidv7(),
        person: id,
        ...method,
        created_at: at,
        updated_at: at,
      },
      when,
    ),
  ];
}

/** Rows of the tables for signing in. Names are quoted and values are parameters, so no input becomes SQL. */
function createAccountRows(db: Database): AccountRows {
  const write = async (query: Statement): Promise<readonly Row[]> => {
    const [result] = await db.write([query]);
    return (result?.rows ?? []) as readonly Row[];
  };

  return {
    async insert(table, row) {
      const columns = Object.keys(row).map((column) => sql.ref(column));
      const [made] = await write(
        sql`insert into ${sql.table(table)} (${sql.join(columns)})
          values (${sql.join(Object.values(row))}) returning *`,
      );
      if (!made) throw new Error(`${table} kept no row`);
      return made;
    },

    async select(table, where, orderBy) {
      const order = orderBy === undefined ? sql`` : sql`order by ${sql.ref(orderBy)}`;
      return db.read(sql<Row>`select * from ${sql.table(table)} where ${all(where)} ${order}`);
    },

    async count(table, where) {
      const [row] = await db.read(
        sql<{ n: number }>`select count(*) as n from ${sql.table(table)} where ${all(where)}`,
      );
      return row?.n ?? 0;
    },

    async update(table, where, set, add = {}) {
      const assignments = [
        ...Object.entries(set).map(([column, value]) => sql`${sql.ref(column)} = ${value}`),
        ...Object.entries(add).map(
          ([column, by]) => sql`${sql.ref(column)} = coalesce(${sql.ref(column)}, 0) + ${by}`,
        ),
      ];
      return write(
        sql`update ${sql.table(table)} set ${sql.join(assignments)} where ${all(where)} returning *`,
      );
    },

    async remove(table, where, one = false) {
      const chosen = one
        ? sql<SqlBool>`id = (select id from ${sql.table(table)} where ${all(where)} limit 1)`
        : all(where);
      return write(sql`delete from ${sql.table(table)} where ${chosen} returning *`);
    },
  };
}

/** All conditions hold. */
function all(where: readonly Condition[]): RawBuilder<SqlBool> {
  return where.length === 0 ? sql<SqlBool>`1 = 1` : sql<SqlBool>`${sql.join(where.map(one), sql` and `)}`;
}

function one({ column, operator, value }: Condition): RawBuilder<SqlBool> {
  if (value === null) return sql`${sql.ref(column)} is null`;
  return sql`${sql.ref(column)} ${sql.raw(operator)} ${value}`;
}
