import { type CompiledQuery, type Expression, type SqlBool, sql } from 'kysely';
import { uuidv7 } from 'uuidv7';
import type { Role } from '#contract/token.ts';
import type { AccountStore, NewPerson, PersonRecord } from '#core/accounts.ts';
import type { TenantId } from '#core/ports.ts';
import { hashSecret } from '#core/secrets.ts';
import { createAccountRows } from './account-rows.ts';
import { auditMark } from './audit.ts';
import { change, insertWhen, precondition } from './change.ts';
import { acceptance, isWaiting, toInvitation } from './invitations.ts';
import { newMember } from './members.ts';
import type { Builder, PersonRow } from './schema.ts';
import { createSessions, newSession } from './sessions.ts';
import type { SqlExecutor } from './sql.ts';

export function createAccountStore(db: Builder, executor: SqlExecutor): AccountStore {
  const people = db.selectFrom('people').selectAll();
  const nobody = sql<SqlBool>`not exists (select 1 from people)`;
  const isFree = (email: string) => sql<SqlBool>`not exists (select 1 from people where email = ${email})`;
  const person = (id: string) => people.where('id', '=', id).compile();

  return {
    ...createSessions(db, executor),
    rows: createAccountRows(db, executor),

    async isEmpty() {
      return (await executor.read(db.selectFrom('people').select('id').limit(1).compile())).length === 0;
    },

    async find(id) {
      const [row] = await executor.read(person(id));
      return row && toPerson(row);
    },

    async findByEmail(email) {
      const [row] = await executor.read(people.where('email', '=', email).compile());
      return row && toPerson(row);
    },

    async list() {
      const rows = await executor.read(people.orderBy('email').compile());
      return rows.map((row) => ({ ...toPerson(row), createdAt: row.created_at }));
    },

    async createFirst({ person: founder, tenant: { id: tenant, title, timeZone }, session, by, at }) {
      const settings = {
        ...(title !== undefined && { title }),
        ...(timeZone !== undefined && { time_zone: timeZone }),
      };
      const entry = joining(founder, tenant, 'owner', by, at);
      const { done } = await change(db, executor, {
        entry: { ...entry, detail: { ...entry.detail, title, timeZone } },
        when: nobody,
        effects: (guard) => [
          ...newPerson(db, founder, at, guard),
          newMember(db, { tenant, person: founder.id, role: 'owner', at }, guard),
          ...(Object.keys(settings).length === 0
            ? []
            : [db.updateTable('tenants').set(settings).where('id', '=', tenant).where(guard).compile()]),
          ...(session ? [newSession(db, { ...session, person: founder.id, at }, guard)] : []),
        ],
        after: person(founder.id),
      });
      return done;
    },

    async addMember(added, member, by, at) {
      const { done } = await change(db, executor, {
        entry: joining(added, member.tenant, member.role, by, at),
        when: isFree(added.email),
        effects: (guard) => [
          ...newPerson(db, added, at, guard),
          newMember(db, { ...member, person: added.id, at }, guard),
        ],
        after: person(added.id),
      });
      return done;
    },

    async join(joined, invitation, at) {
      const { done, row } = await change(db, executor, {
        ...acceptance(db, joined, invitation, at),
        when: sql<SqlBool>`${isWaiting(invitation)} and ${isFree(joined.email)}`,
        effects: (guard) => [
          ...newPerson(db, joined, at, guard, byInvitation),
          ...acceptance(db, joined, invitation, at).effects(guard),
        ],
        after: people.where('email', '=', joined.email).compile(),
      });
      if (done) return 'done';
      return row ? 'email-taken' : 'no-invitation';
    },

    async acceptInvitation(id, invitation, at) {
      const [row] = await executor.read(person(id));
      if (!row) return;
      const isMember = precondition('members', { tenant: invitation.tenant, person: id });
      await change(db, executor, {
        ...acceptance(db, row, invitation, at),
        when: sql<SqlBool>`${isWaiting(invitation)} and not ${isMember}`,
        after: person(id),
      });
    },

    async invitationFor(email, at) {
      const [row] = await executor.read(
        db
          .selectFrom('invitations')
          .selectAll()
          .where('email', '=', email)
          .where('accepted_at', 'is', null)
          .where('withdrawn_at', 'is', null)
          .where('expires_at', '>', at)
          .orderBy('created_at')
          .limit(1)
          .compile(),
      );
      return row && toInvitation(row);
    },

    async takeOnce(what, { at, until }) {
      const id = idOfTaken(what);
      const results = await executor.write([
        db.deleteFrom('verifications').where('id', '=', id).where('expires_at', '<=', at).compile(),
        sql`insert into verifications (id, identifier, value, expires_at, created_at, updated_at)
          values (${id}, ${id}, '', ${until}, ${at}, ${at}) on conflict (id) do nothing`.compile(db),
      ]);
      return results.at(-1)?.changes === 1;
    },

    async wasTaken(what, at) {
      const taken = db.selectFrom('verifications').select('id').where('id', '=', idOfTaken(what));
      return (await executor.read(taken.where('expires_at', '>', at).compile())).length > 0;
    },

    async forgetDevices(id) {
      await executor.write([db.deleteFrom('verifications').where('value', '=', id).compile()]);
    },

    async resetPassword(id, passwordHash, { keepTwoFactor, keepPasskeys, at }) {
      const results = await executor.write([
        sql`insert into sign_in_methods (id, person, provider, subject, password_hash, created_at, updated_at)
          values (${uuidv7()}, ${id}, 'credential', ${id}, ${passwordHash}, ${at}, ${at})
          on conflict (provider, subject) do update
          set password_hash = excluded.password_hash, updated_at = excluded.updated_at`.compile(db),
        db.deleteFrom('sessions').where('person', '=', id).compile(),
        // A device that was trusted, or a second factor that is awaited, is not to outlive the password either.
        db.deleteFrom('verifications').where('value', '=', id).compile(),
        ...(keepTwoFactor
          ? []
          : [
              db.deleteFrom('two_factors').where('person', '=', id).compile(),
              db.updateTable('people').set({ two_factor_enabled: 0 }).where('id', '=', id).compile(),
            ]),
        sql`delete from passkeys where person = ${id} and ${keepPasskeys ? 1 : 0} = 0`.compile(db),
        sql`select count(*) as n from sign_in_methods where person = ${id} and provider <> 'credential'`.compile(
          db,
        ),
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
      const results = await executor.write([
        db.deleteFrom('sessions').where('person', 'in', unproven).compile(),
        db.deleteFrom('verifications').where('value', 'in', unproven).compile(),
        sql`delete from passkeys where person in ${unproven}`.compile(db),
        db.deleteFrom('two_factors').where('person', 'in', unproven).compile(),
        db.updateTable('people').set({ two_factor_enabled: 0 }).where('id', 'in', unproven).compile(),
        db.deleteFrom('sign_in_methods').where('person', '=', id).where('scope', '=', byInvitation).compile(),
      ]);
      return (results.at(-1)?.changes ?? 0) > 0;
    },

    async rename(id, name, at) {
      await executor.write([
        db.updateTable('people').set({ name, updated_at: at }).where('id', '=', id).compile(),
      ]);
    },

    async note(id, event) {
      const tenants = await executor.read(
        db.selectFrom('members').select('tenant').where('person', '=', id).compile(),
      );
      const isMember = (tenant: TenantId) =>
        sql<SqlBool>`exists (select 1 from members where tenant = ${tenant} and person = ${id})`;
      const notes = tenants.map(({ tenant }) => auditMark(db, { ...event, tenant }, isMember(tenant)).insert);
      if (notes.length > 0) await executor.write(notes);
    },
  };
}

/** The `scope` of a password that was chosen by whoever opened an invitation. */
const byInvitation = 'invitation';

/** The key makes one of several the first; it is a hash, since codes are secrets while they last. */
const idOfTaken = (what: string) => `used ${hashSecret(what)}`;

function toPerson({ id, email, name, two_factor_enabled }: PersonRow): PersonRecord {
  return { id, email, name, twoFactor: two_factor_enabled !== 0 };
}

function joining({ id, email }: NewPerson, tenant: TenantId, role: Role, by: string, at: number) {
  return { tenant, by, at, action: 'member.add', subject: id, detail: { email, role } };
}

function newPerson(
  db: Builder,
  added: NewPerson,
  at: number,
  when: Expression<SqlBool>,
  scope: string | null = null,
): CompiledQuery[] {
  const { id, email, name, signInWith, emailVerified } = added;
  const method =
    'passwordHash' in signInWith
      ? { provider: 'credential', subject: id, password_hash: signInWith.passwordHash, scope }
      : { ...signInWith, password_hash: null, scope: null };
  return [
    insertWhen(
      db,
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
      db,
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
