/** People's accounts: the port that storage implements. Memberships are in `members.ts`. */
import type { AuditAction, AuditDetail } from '#contract/people/audit.ts';
import type { Role } from '#contract/people/token.ts';
import type { TenantId } from '../log/route.ts';
import type { InvitationRecord } from './members.ts';

/** A person, independent of their memberships. */
export interface PersonRecord {
  readonly id: string;
  readonly email: string;
  readonly name: string;
  readonly twoFactor: boolean;
}

export interface SessionRecord {
  readonly id: string;
  readonly person: string;
  /** Ends a fixed time after the sign-in; otherwise it ends when it is not used for a while. */
  readonly remembered: boolean;
  readonly createdAt: number;
  readonly lastSeenAt: number;
  readonly expiresAt: number;
  readonly address: string | null;
  readonly userAgent: string | null;
  /** When the person last confirmed their identity in it, after the sign-in. */
  readonly reauthenticatedAt: number | null;
}

export interface SignedInPerson {
  readonly person: PersonRecord;
  readonly session: SessionRecord;
}

export interface NewPerson {
  readonly id: string;
  readonly email: string;
  readonly name: string;
  /** A password as `accounts/passwords.ts` hashes it, or an identity at a provider. */
  readonly signInWith:
    | { readonly passwordHash: string }
    | { readonly provider: string; readonly subject: string };
  /** Whether the address is verified: by an invitation to this address, an identity provider, or the set-up. */
  readonly emailVerified: boolean;
}

/** A session that is not stored yet. */
export interface NewSession {
  readonly id: string;
  readonly tokenHash: string;
  readonly remembered: boolean;
  readonly expiresAt: number;
  readonly address: string;
  readonly userAgent: string | null;
}

/** A session that takes the place of an earlier one of the same person. */
export interface Renewal {
  /** The id of the earlier one. */
  readonly former: string;
  readonly session: NewSession;
  readonly at: number;
}

export interface FirstAccount {
  readonly person: NewPerson;
  /** The tenant that they become an owner of, with a new title and time zone if given. */
  readonly tenant: { readonly id: TenantId; readonly title?: string; readonly timeZone?: string };
  /** The session that signs them in at once. */
  readonly session?: NewSession;
  readonly by: string;
  readonly at: number;
}

export type Cell = string | number | null;
export type Row = Readonly<Record<string, Cell>>;

export interface Condition {
  readonly column: string;
  readonly operator: '=' | '<=' | '>';
  /** null, with `=`: the column holds nothing. */
  readonly value: Cell;
}

export const where = (column: string, value: Cell, operator: Condition['operator'] = '='): Condition => ({
  column,
  operator,
  value,
});

/** Rows of the tables for signing in, read and written by simple conditions. */
export interface AccountRows {
  insert(table: string, row: Row): Promise<Row>;
  /** `orderBy`: a column, the lowest value first. */
  select(table: string, where: readonly Condition[], orderBy?: string): Promise<readonly Row[]>;
  count(table: string, where: readonly Condition[]): Promise<number>;
  /** Returns the changed rows. `add` adds to the stored numbers; null counts as 0. */
  update(
    table: string,
    where: readonly Condition[],
    set: Row,
    add?: Readonly<Record<string, number>>,
  ): Promise<readonly Row[]>;
  /** Returns the removed rows; with `one` at most one, and for one of several concurrent callers. */
  remove(table: string, where: readonly Condition[], one?: boolean): Promise<readonly Row[]>;
}

export interface AccountStore {
  readonly rows: AccountRows;
  /** Whether there is no account yet. */
  isEmpty(): Promise<boolean>;
  find(personId: string): Promise<PersonRecord | undefined>;
  findByEmail(email: string): Promise<PersonRecord | undefined>;
  list(): Promise<readonly (PersonRecord & { readonly createdAt: number })[]>;
  /** Creates everything in one transaction. Only one caller succeeds: false when there is an account already. */
  createFirst(account: FirstAccount): Promise<boolean>;
  /** Adds a person as a member; false when the email address is taken. */
  addMember(
    person: NewPerson,
    member: { readonly tenant: TenantId; readonly role: Role },
    by: string,
    at: number,
  ): Promise<boolean>;
  /** Adds a person by an invitation that waits at `at`, in one transaction with accepting it. */
  join(
    person: NewPerson,
    invitation: InvitationRecord,
    at: number,
  ): Promise<'done' | 'email-taken' | 'no-invitation'>;
  /** Makes a person a member; does nothing when the invitation is no longer pending. */
  acceptInvitation(personId: string, invitation: InvitationRecord, at: number): Promise<void>;
  /** A pending invitation for this address. */
  invitationFor(email: string, at: number): Promise<InvitationRecord | undefined>;
  /**
   * Replaces the password `from` by `to` (both hashes), ends every session, removes trusted devices and unfinished sign-ins, and
   * stores the session: all of it in one transaction. False, and nothing happens, when the password is no longer `from`.
   */
  changePassword(
    personId: string,
    hashes: { readonly from: string; readonly to: string },
    session: NewSession,
    at: number,
  ): Promise<boolean>;
  /**
   * Activates the second factor with this sealed secret and renews the session, in one transaction. False, and nothing happens,
   * when the secret is another one by now, is active already, or the session has ended.
   */
  activateTwoFactor(personId: string, secret: string, renewal: Renewal): Promise<boolean>;
  /**
   * Removes the second factor, trusted devices and unfinished sign-ins, and renews the session, in one transaction. False, and
   * nothing happens, when the session has ended.
   */
  removeTwoFactor(personId: string, renewal: Renewal): Promise<boolean>;
  /**
   * Sets the password and ends every session. Also removes the second factor and the passkeys, unless they should be kept.
   * Returns what was removed, and how many provider identities can still sign in.
   */
  resetPassword(
    personId: string,
    passwordHash: string,
    options: { keepTwoFactor: boolean; keepPasskeys: boolean; at: number },
  ): Promise<{ readonly passkeysRemoved: number; readonly identities: number }>;
  /**
   * Call it when a person has confirmed their email address. If the account began with an invitation, it removes all sign-in
   * methods so far, because somebody else may have opened the invitation. Returns whether it did.
   */
  forgetUnproven(personId: string): Promise<boolean>;
  rename(personId: string, name: string, at: number): Promise<void>;
  /** Deletes the account with its sessions and all that it signs in with; false when there is none, or it is a member of a tenant. */
  remove(personId: string): Promise<boolean>;

  addSession(person: string, session: NewSession, at: number): Promise<void>;
  /** Finds a session by the hash of the cookie's token; undefined when it has expired. */
  findSession(tokenHash: string, at: number): Promise<SignedInPerson | undefined>;
  findSessionById(id: string, at: number): Promise<SessionRecord | undefined>;
  sessionsOf(person: string, at: number): Promise<readonly SessionRecord[]>;
  touchSession(id: string, at: number, expiresAt: number): Promise<void>;
  /** False when the person has no such session. */
  endSession(person: string, id: string): Promise<boolean>;
  /** Ends all sessions except `kept`; returns how many. */
  endSessions(person: string, kept: string | undefined): Promise<number>;
  /** Keeps the newest session and those that were used last, at most `most` together, and ends the others. */
  trimSessions(person: string, kept: { readonly most: number; readonly newest: string }): Promise<void>;
  /** Marks `what` as used until `until`. True for the first caller only, also across restarts. */
  takeOnce(what: string, time: { readonly at: number; readonly until: number }): Promise<boolean>;
  /** Whether `what` is marked as used at `at`. */
  wasTaken(what: string, at: number): Promise<boolean>;
  /** Deletes expired sessions, unfinished sign-ins and used marks. */
  sweep(at: number): Promise<void>;
  /** Adds an entry to the audit log of every tenant the person is a member of. */
  note(person: string, entry: AccountEvent): Promise<void>;
}

export interface AccountEvent {
  readonly by: string;
  readonly at: number;
  /** As in "account.password". */
  readonly action: AuditAction;
  readonly subject: string;
  readonly detail: AuditDetail;
}
