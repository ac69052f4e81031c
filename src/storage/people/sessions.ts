import { type Expression, type SqlBool, sql } from 'kysely';
import type { AccountStore, NewSession, Renewal, SessionRecord } from '#core/people/accounts.ts';
import type { Database, SessionRow, Statement } from '../database/sql.ts';
import { always, insertWhen, updateWhen } from '../directory/change.ts';

type Sessions = Pick<
  AccountStore,
  | 'addSession'
  | 'findSession'
  | 'findSessionById'
  | 'sessionsOf'
  | 'touchSession'
  | 'endSession'
  | 'endSessions'
  | 'trimSessions'
  | 'sweep'
>;

export function createSessions(db: Database): Sessions {
  const inForce = (at: number) => db.selectFrom('sessions').selectAll().where('expires_at', '>', at);

  return {
    async addSession(person, session, at) {
      await db.write([newSession({ ...session, person, at }, always)]);
    },

    async findSession(tokenHash, at) {
      const [row] = await db.read(
        db
          .selectFrom('sessions')
          .innerJoin('people', 'people.id', 'sessions.person')
          .selectAll('sessions')
          .select(['people.email', 'people.name', 'people.two_factor_enabled'])
          .where('sessions.token_hash', '=', tokenHash)
          .where('sessions.expires_at', '>', at),
      );
      if (!row) return undefined;
      const { person: id, email, name, two_factor_enabled } = row;
      return { person: { id, email, name, twoFactor: two_factor_enabled !== 0 }, session: toSession(row) };
    },

    async findSessionById(id, at) {
      const [row] = await db.read(inForce(at).where('id', '=', id));
      return row && toSession(row);
    },

    async sessionsOf(person, at) {
      const rows = await db.read(
        inForce(at).where('person', '=', person).orderBy('last_seen_at', 'desc').orderBy('id'),
      );
      return rows.map(toSession);
    },

    async touchSession(id, at, expiresAt) {
      await db.write([
        db
          .updateTable('sessions')
          .set({ last_seen_at: at, expires_at: expiresAt })
          .where('id', '=', id)
          .where('expires_at', '>', at),
      ]);
    },

    async endSession(person, id) {
      const [result] = await db.write([
        db.deleteFrom('sessions').where('person', '=', person).where('id', '=', id),
      ]);
      return (result?.changes ?? 0) > 0;
    },

    async endSessions(person, kept) {
      const ended = db.deleteFrom('sessions').where('person', '=', person);
      const [result] = await db.write([kept === undefined ? ended : ended.where('id', '<>', kept)]);
      return result?.changes ?? 0;
    },

    async trimSessions(person, { most, newest }) {
      await db.write([
        sql`delete from sessions where person = ${person} and id <> ${newest} and id not in (
          select id from sessions where person = ${person} and id <> ${newest}
          order by last_seen_at desc, id desc limit ${most - 1})`,
      ]);
    },

    async sweep(at) {
      const [over] = await db.read(
        sql<{ n: number }>`select 1 as n where exists (select 1 from sessions where expires_at <= ${at})
          or exists (select 1 from verifications where expires_at <= ${at})`,
      );
      if (!over) return;
      await db.write([
        db.deleteFrom('sessions').where('expires_at', '<=', at),
        db.deleteFrom('verifications').where('expires_at', '<=', at),
      ]);
    },
  };
}

function toSession(row: SessionRow): SessionRecord {
  return {
    id: row.id,
    person: row.person,
    remembered: row.remembered !== 0,
    createdAt: row.created_at,
    lastSeenAt: row.last_seen_at,
    expiresAt: row.expires_at,
    address: row.address,
    userAgent: row.user_agent,
    reauthenticatedAt: row.reauthenticated_at,
  };
}

export function newSession(
  session: NewSession & { readonly person: string; readonly at: number },
  when: Expression<SqlBool>,
): Statement {
  return insertWhen('sessions', { ...columnsOf(session, session.at), person: session.person }, when);
}

/** The row of the earlier session becomes that of the new one, if `when` holds. */
export function renewSession(
  person: string,
  { former, session, at }: Renewal,
  when: Expression<SqlBool>,
): Statement {
  return updateWhen('sessions', { set: columnsOf(session, at), where: { id: former, person } }, when);
}

function columnsOf(session: NewSession, at: number) {
  const { id, tokenHash, remembered, expiresAt, address, userAgent } = session;
  return {
    id,
    token_hash: tokenHash,
    remembered: remembered ? 1 : 0,
    created_at: at,
    last_seen_at: at,
    expires_at: expiresAt,
    address,
    user_agent: userAgent,
    reauthenticated_at: null,
  };
}
