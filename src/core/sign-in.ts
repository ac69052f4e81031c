/** How people sign in and look after their account: what HTTP asks of the outside. */
import type { NewPerson, NewSession, SessionRecord, SignedInPerson } from './accounts.ts';

/** Where a request comes from, as far as a sign-in has to know. */
export interface Visit {
  /** Scheme and host under which the browser sees this server. */
  readonly origin: string;
  /** The request's cookies, as it sent them. */
  readonly cookie: string | undefined;
  /** The address it comes from. */
  readonly source: string;
  readonly userAgent: string | undefined;
}

/** Cookies for the browser, as whole `Set-Cookie` values. */
export interface WithCookies {
  readonly cookies: readonly string[];
}

export interface SignInResult extends WithCookies {
  /** Whose password it was. */
  readonly personId: string;
  /** The password was right, and a second factor must follow. */
  readonly twoFactor: boolean;
}

export interface Credentials {
  readonly email: string;
  readonly password: string;
  readonly remember: boolean;
}

export interface SecondFactor {
  readonly code: string;
  readonly kind: 'totp' | 'backup';
  /** This browser needs no second factor for 30 days. */
  readonly trustDevice: boolean;
}

/** Options and answers of a passkey's ceremony, in WebAuthn's JSON forms. */
export type PasskeyJson = Readonly<Record<string, unknown>>;

export interface PasskeyRecord {
  readonly id: string;
  readonly name: string;
  readonly createdAt: number;
}

export interface Provider {
  readonly id: string;
  readonly name: string;
}

/** Each @throws AppError in words for the person, and of it `unavailable` when too many passwords are worked out at once. */
export interface SignIn {
  /** Identity providers that one can sign in with. */
  readonly providers: readonly Provider[];
  /** The person whose session the cookies name. Without a session cookie it reads nothing. */
  identify(visit: Pick<Visit, 'origin' | 'cookie'>): Promise<SignedInPerson | undefined>;
  /** Whether a session is still valid. */
  isSignedIn(sessionId: string): Promise<boolean>;
  /** The same answer after the same work, whether there is no such person or the password is wrong: `unauthorized`. */
  withPassword(visit: Visit, credentials: Credentials): Promise<SignInResult>;
  /** The second step after {@link SignIn.withPassword}. A code works for one sign-in. */
  withSecondFactor(visit: Visit, factor: SecondFactor): Promise<SignInResult>;
  passkeyOptions(visit: Visit): Promise<WithCookies & { readonly options: PasskeyJson }>;
  withPasskey(visit: Visit, response: PasskeyJson): Promise<SignInResult>;
  /** Where the browser goes to sign in at the provider; back at `returnTo`, a path of ours. */
  providerUrl(
    visit: Visit,
    provider: string,
    returnTo: string,
  ): Promise<WithCookies & { readonly url: string }>;
  /** Handles the provider's redirect. Returns the path to continue at; its `error` parameter names what went wrong. */
  fromProvider(
    visit: Visit,
    provider: string,
    query: Readonly<Record<string, string | undefined>>,
  ): Promise<WithCookies & { readonly path: string; readonly personId: string | undefined }>;
  /** Ends the session that the cookies name, if there is one, and deletes the cookies. */
  signOut(visit: Visit): Promise<WithCookies>;
  /** @throws AppError `bad-request` for an address or a password that is not taken. */
  newPerson(wanted: {
    readonly email: string;
    readonly name: string;
    readonly password: string;
    readonly emailVerified: boolean;
  }): Promise<NewPerson>;
  /** A session that is not remembered, and what its browser gets; it is in force once it is stored. */
  newSession(visit: Visit): WithCookies & { readonly record: NewSession };
}

/** The methods by which a person can reauthenticate, besides signing in again. */
export interface ReauthenticationMethods {
  readonly password: boolean;
  readonly passkey: boolean;
  /** Signing in again there. */
  readonly provider: boolean;
}

export type Proof = { readonly password: string } | { readonly passkey: PasskeyJson };

/** What a person who is signed in does with their own account; `visit` carries their session. */
export interface OwnAccount {
  /** Whether the sign-in, or a reauthentication in the session, was at most ten minutes ago. */
  isReauthenticated(session: SessionRecord): boolean;
  reauthenticationMethods(personId: string): Promise<ReauthenticationMethods>;
  /** @throws AppError `forbidden` when the proof is wrong, `bad-request` when a passkey response is malformed. */
  reauthenticate(visit: Visit, person: SignedInPerson, proof: Proof): Promise<void>;
  /** Ends every other session, and makes a new one for this browser. */
  changePassword(
    visit: Visit,
    change: {
      readonly person: SignedInPerson;
      readonly currentPassword: string;
      readonly newPassword: string;
    },
  ): Promise<WithCookies>;
  /** A secret that is in force once {@link OwnAccount.proveTwoFactor} has seen a code of it. */
  beginTwoFactor(
    visit: Visit,
    password: string,
  ): Promise<{ readonly totpUri: string; readonly backupCodes: readonly string[] }>;
  proveTwoFactor(visit: Visit, code: string): Promise<WithCookies>;
  removeTwoFactor(visit: Visit, password: string): Promise<WithCookies>;
  /** New ones; the old are void. */
  backupCodes(visit: Visit, password: string): Promise<readonly string[]>;
  passkeys(personId: string): Promise<readonly PasskeyRecord[]>;
  newPasskeyOptions(visit: Visit): Promise<WithCookies & { readonly options: PasskeyJson }>;
  addPasskey(visit: Visit, name: string, response: PasskeyJson): Promise<PasskeyRecord>;
  /** False when the person has no such passkey. */
  removePasskey(personId: string, id: string): Promise<boolean>;
}
