import { type Expression, type SqlBool, sql } from 'kysely';
import type { Role } from '#contract/people/token.ts';
import { AppError, conflict, forbidden, notFound } from '#core/errors.ts';
import type { TenantId } from '#core/log/route.ts';
import type { InvitationRecord, Invitations, MembershipRecord } from '#core/people/members.ts';
import { iso } from '#core/time/time.ts';
import type { Database, InvitationRow } from '../database/sql.ts';
import { type Change, change, insertWhen, precondition, updateWhen } from '../directory/change.ts';
import { isCreatorAuthorized } from './credentials.ts';
import { newMember } from './members.ts';
import { toTenant } from './tenants.ts';

const waitingPerTenant = 200;

const over = () =>
  new AppError('gone', 'this invitation is over: it was used, withdrawn or has expired; ask for a new one');

/** The invitations that can be accepted. */
export const waitingInvitations = (db: Database, at: number) =>
  db
    .selectFrom('invitations')
    .selectAll()
    .where('accepted_at', 'is', null)
    .where('withdrawn_at', 'is', null)
    .where('expires_at', '>', at);

export function createInvitations(db: Database): Invitations {
  const waiting = (at: number) => waitingInvitations(db, at);
  const one = (tenant: TenantId, id: string, at: number) =>
    waiting(at).where('tenant', '=', tenant).where('id', '=', id);
  const bySecret = (hash: string, at: number) => waiting(at).where('secret_hash', '=', hash);

  return {
    async create({ tenant, id, role, email, createdAt, createdBy, expiresAt }, secretHash, creator) {
      const ofMember = sql<SqlBool>`exists (select 1 from members join people on people.id = members.person
        where members.tenant = ${tenant} and lower(people.email) = lower(${email}))`;
      const { done, row: count } = await change(db, {
        entry: {
          tenant,
          by: createdBy,
          at: createdAt,
          action: 'invitation.create',
          subject: id,
          detail: { role, email, expiresAt: iso(expiresAt) },
        },
        when: sql<SqlBool>`${isCreatorAuthorized(creator, createdAt)} and not ${ofMember} and (${countWaiting(tenant, createdAt)}) < ${waitingPerTenant}`,
        effects: (guard) => [
          insertWhen(
            'invitations',
            {
              tenant,
              id,
              secret_hash: secretHash,
              role,
              email,
              created_at: createdAt,
              created_by: createdBy,
              expires_at: expiresAt,
              accepted_at: null,
              withdrawn_at: null,
            },
            guard,
          ),
        ],
        after: sql<{ waiting: number; may: number }>`select (${countWaiting(tenant, createdAt)}) as waiting,
          (case when ${isCreatorAuthorized(creator, createdAt)} then 1 else 0 end) as may`,
      });
      if (done) return;
      if (count?.may !== 1) throw forbidden();
      if ((count?.waiting ?? 0) >= waitingPerTenant)
        throw conflict(`${waitingPerTenant} invitations are waiting already: withdraw some`);
      throw email === null ? notFound('tenant') : conflict(`${email} is a member of this tenant already`);
    },

    async list(tenant, at) {
      const rows = await db.read(
        waiting(at).where('tenant', '=', tenant).orderBy('created_at', 'desc').orderBy('id', 'desc'),
      );
      return rows.map(toInvitation);
    },

    async find(tenant, id, at) {
      const [row] = await db.read(one(tenant, id, at), tenant);
      return row && toInvitation(row);
    },

    async findBySecret(secretHash, at) {
      const [row] = await db.read(bySecret(secretHash, at));
      return row && toInvitation(row);
    },

    async accept(secretHash, person, at) {
      const [row] = await db.read(bySecret(secretHash, at));
      if (!row) throw over();
      return accept(db, { invitation: toInvitation(row), person, at });
    },

    async withdraw(tenant, id, by, at) {
      const [known] = await db.read(one(tenant, id, at), tenant);
      if (!known) return false;
      const { role, email } = known;
      const { done } = await change(db, {
        entry: { tenant, by, at, action: 'invitation.withdraw', subject: id, detail: { role, email } },
        when: isWaiting({ tenant, id }),
        effects: (guard) => [
          updateWhen('invitations', { set: { withdrawn_at: at }, where: { tenant, id } }, guard),
        ],
      });
      return done;
    },

    async sweep(at) {
      await db.write([
        db
          .deleteFrom('invitations')
          .where((eb) =>
            eb.or([
              eb('expires_at', '<=', at),
              eb('accepted_at', 'is not', null),
              eb('withdrawn_at', 'is not', null),
            ]),
          ),
      ]);
    },
  };
}

interface Acceptance {
  readonly invitation: InvitationRecord;
  readonly person: string;
  readonly at: number;
}

async function accept(db: Database, { invitation, person, at }: Acceptance): Promise<MembershipRecord> {
  const { tenant, role, email } = invitation;
  const [known] = await db.read(db.selectFrom('people').select('email').where('id', '=', person));
  if (!known) throw new Error('an invitation is accepted by a person who does not exist');
  if (email !== null && email.toLowerCase() !== known.email.toLowerCase())
    throw forbidden('this invitation is for another email address: sign in with that one');
  const { done, row } = await change(db, {
    ...acceptance({ id: person, email: known.email }, invitation, at),
    when: sql<SqlBool>`${isWaiting(invitation)} and not ${precondition('members', { tenant, person })}`,
    after: db
      .selectFrom('tenants')
      .selectAll()
      .select(sql<number>`(case when ${isWaiting(invitation)} then 1 else 0 end)`.as('waiting'))
      .where('id', '=', tenant),
  });
  if (done && row) return { tenant: toTenant(row), role, joinedAt: at };
  if (row?.waiting !== 1) throw over();
  throw conflict('you are a member of this tenant already');
}

/** The audit entry and the statements of accepting an invitation, for new and existing persons. The caller adds `when`. */
export function acceptance(
  { id: person, email }: { readonly id: string; readonly email: string },
  { tenant, id, role, createdBy }: InvitationRecord,
  at: number,
): Pick<Change<unknown>, 'entry' | 'effects'> {
  return {
    entry: {
      tenant,
      by: email,
      at,
      action: 'member.add',
      subject: person,
      detail: { email, role, invitation: id, invitedBy: createdBy },
    },
    effects: (guard) => [
      newMember({ tenant, person, role, at }, guard),
      updateWhen('invitations', { set: { accepted_at: at }, where: { tenant, id } }, guard),
    ],
  };
}

/** SQL: the invitation was neither accepted nor withdrawn. */
export function isWaiting({ tenant, id }: Pick<InvitationRecord, 'tenant' | 'id'>): Expression<SqlBool> {
  return precondition('invitations', { tenant, id, accepted_at: null, withdrawn_at: null });
}

function countWaiting(tenant: TenantId, at: number) {
  return sql`select count(*) as waiting from invitations where tenant = ${tenant}
    and accepted_at is null and withdrawn_at is null and expires_at > ${at}`;
}

export function toInvitation(row: InvitationRow): InvitationRecord {
  return {
    tenant: row.tenant,
    id: row.id,
    role: row.role as Role,
    email: row.email,
    createdAt: row.created_at,
    createdBy: row.created_by,
    expiresAt: row.expires_at,
  };
}
