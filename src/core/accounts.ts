/** People's accounts, as storage keeps them. Memberships are in `members.ts`. */
import type { Role } from '#contract/token.ts';
import type { InvitationRecord } from './invitations.ts';
import type { TenantId } from './ports.ts';

/** A person, whatever they are a member of. */
export interface PersonRecord {
  readonly id: string;
  readonly email: string;
  readonly name: string;
  readonly twoFactor: boolean;
}

export interface SessionRecord {
  readonly id: string;
  readonly person: string;
  /** Lasts its time from the sign-in; otherwise it ends when it is not used for a while. */
  readonly remembered: boolean;
  readonly createdAt: number;
  readonly lastSeenAt: number;
  readonly expiresAt: number;
  readonly address: string | null;
  readonly userAgent: string | null;
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
  /** Whether someone who may vouches that the address is theirs. */
  readonly emailVerified: boolean;
}

/** Of a person who signs in at the moment when they are made. */
export interface NewSession {
  readonly id: string;
  readonly tokenHash: string;
  readonly expiresAt: number;
  readonly address: string;
  readonly userAgent: string | null;
}

export interface FirstAccount {
  readonly person: NewPerson;
  /** Of which they become an owner; it may get a title and a time zone. */
  readonly tenant: { readonly id: TenantId; readonly title?: string; readonly timeZone?: string };
  /** In which they are signed in at once. */
  readonly session?: NewSession;
  readonly by: string;
  readonly at: number;
}

export type Cell = string | number | null;
export type Row = Readonly<Record<string, Cell>>;

export interface Condition {
  readonly column: string;
  readonly operator: '=' | '<>' | '<' | '<=' | '>' | '>=' | 'in' | 'not in';
  readonly value: Cell | readonly Cell[];
  /** Joined to those before it by OR instead of AND. */
  readonly or: boolean;
}

export interface RowOrder {
  readonly column: string;
  readonly descending: boolean;
}

/** Rows of the tables for signing in, read and written by simple conditions. */
export interface AccountRows {
  insert(table: string, row: Row): Promise<Row>;
  select(
    table: string,
    where: readonly Condition[],
    page?: { readonly limit?: number; readonly offset?: number; readonly order?: RowOrder },
  ): Promise<readonly Row[]>;
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
  /** In one transaction, session included, and for one caller only: false when there is an account already. */
  createFirst(account: FirstAccount): Promise<boolean>;
  /** Adds a person as a member; false when the e-mail address is taken. */
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
  /** Makes a person a member; nothing happens when the invitation waits no more. */
  acceptInvitation(personId: string, invitation: InvitationRecord, at: number): Promise<void>;
  /** A pending invitation for this address. */
  invitationFor(email: string, at: number): Promise<InvitationRecord | undefined>;
  /** Removes trusted devices and unfinished sign-ins. */
  forgetDevices(personId: string): Promise<void>;
  /**
   * Replaces the password, or makes it the first, and ends every session; takes the second factor and the passkeys unless
   * they are to be kept. Answers what went, and how many identities at a provider sign in to the account as before.
   */
  resetPassword(
    personId: string,
    passwordHash: string,
    options: { keepTwoFactor: boolean; keepPasskeys: boolean; at: number },
  ): Promise<{ readonly passkeysRemoved: number; readonly identities: number }>;
  /**
   * To be called when a person has confirmed their e-mail address. If the account began with an invitation, it removes all
   * sign-in methods so far, because somebody else may have opened the invitation. Returns whether it did.
   */
  forgetUnproven(personId: string): Promise<boolean>;
  rename(personId: string, name: string, at: number): Promise<void>;

  /** By the hash of what the cookie holds; expired ones are none. */
  findSession(tokenHash: string, at: number): Promise<SignedInPerson | undefined>;
  findSessionById(id: string, at: number): Promise<SessionRecord | undefined>;
  sessionsOf(person: string, at: number): Promise<readonly SessionRecord[]>;
  touchSession(id: string, at: number, expiresAt: number): Promise<void>;
  /** False when the person has no such session. */
  endSession(person: string, id: string): Promise<boolean>;
  /** All but `kept`; answers how many. */
  endSessions(person: string, kept: string | undefined): Promise<number>;
  /** True for one caller with the same `what` before `until`, also across restarts. */
  takeOnce(what: string, time: { readonly at: number; readonly until: number }): Promise<boolean>;
  /** Whether it was taken and its time is not over. */
  wasTaken(what: string, at: number): Promise<boolean>;
  /** Sessions, half-done sign-ins and what was used once, whose time is over. */
  sweep(at: number): Promise<void>;
  /** A line in the audit log of every tenant the person is a member of. */
  note(person: string, entry: AccountEvent): Promise<void>;
}

export interface AccountEvent {
  readonly by: string;
  readonly at: number;
  /** As in "account.password". */
  readonly action: string;
  readonly subject: string;
  readonly detail: Readonly<Record<string, unknown>>;
}
