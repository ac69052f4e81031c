/** How people sign in and manage their account: the port that `accounts/` implements for `http/`. */
import type { NewPerson, NewSession, SessionRecord, SignedInPerson } from './accounts.ts';

/** The parts of a request that signing in uses. */
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
  /** The person whose password it was. */
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

/** Options and responses of a WebAuthn ceremony, as JSON. */
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

/** Each method @throws AppError with a message for the person; `unavailable` when too many passwords are being hashed. */
export interface SignIn {
  /** Identity providers that one can sign in with. */
  readonly providers: readonly Provider[];
  /** The person whose session the cookies name. Without a session cookie it reads nothing. */
  identify(visit: Pick<Visit, 'origin' | 'cookie'>): Promise<SignedInPerson | undefined>;
  /** Whether a session is still valid. */
  isSignedIn(sessionId: string): Promise<boolean>;
  /** An unknown person and a wrong password give the same error `unauthorized` after the same work. */
  withPassword(visit: Visit, credentials: Credentials): Promise<SignInResult>;
  /** The second step after {@link SignIn.withPassword}. A code works for one sign-in. */
  withSecondFactor(visit: Visit, factor: SecondFactor): Promise<SignInResult>;
  passkeyOptions(visit: Visit): Promise<WithCookies & { readonly options: PasskeyJson }>;
  withPasskey(visit: Visit, response: PasskeyJson): Promise<SignInResult>;
  /** The URL at which the browser signs in at the provider. After that it returns to `returnTo`, a path of this server. */
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
  /** A session that is not remembered, and its cookies. The caller must store it. */
  newSession(visit: Visit): WithCookies & { readonly record: NewSession };
}

/** The methods by which a person can reauthenticate, besides signing in again. */
export interface ReauthenticationMethods {
  readonly password: boolean;
  readonly passkey: boolean;
  /** By signing in again at the provider. */
  readonly provider: boolean;
}

export type Proof = { readonly password: string } | { readonly passkey: PasskeyJson };

/** What signed-in people do with their own account; `visit` contains their session. */
export interface OwnAccount {
  /** Whether the sign-in, or a reauthentication in the session, was at most ten minutes ago. */
  isReauthenticated(session: SessionRecord): boolean;
  reauthenticationMethods(personId: string): Promise<ReauthenticationMethods>;
  /** @throws AppError `forbidden` when the proof is wrong, `bad-request` when a passkey response is malformed. */
  reauthenticate(visit: Visit, person: SignedInPerson, proof: Proof): Promise<void>;
  /** Ends every session, and creates a new one for this browser. */
  changePassword(
    visit: Visit,
    change: {
      readonly person: SignedInPerson;
      readonly currentPassword: string;
      readonly newPassword: string;
    },
  ): Promise<WithCookies>;
  /** A secret that becomes active when {@link OwnAccount.proveTwoFactor} gets a code of it. */
  beginTwoFactor(
    visit: Visit,
    password: string,
  ): Promise<{ readonly totpUri: string; readonly backupCodes: readonly string[] }>;
  proveTwoFactor(visit: Visit, code: string): Promise<WithCookies>;
  removeTwoFactor(visit: Visit, password: string): Promise<WithCookies>;
  /** Creates new codes; the old ones no longer work. */
  backupCodes(visit: Visit, password: string): Promise<readonly string[]>;
  passkeys(personId: string): Promise<readonly PasskeyRecord[]>;
  newPasskeyOptions(visit: Visit): Promise<WithCookies & { readonly options: PasskeyJson }>;
  addPasskey(visit: Visit, name: string, response: PasskeyJson): Promise<PasskeyRecord>;
  /** False when the person has no such passkey. */
  removePasskey(personId: string, id: string): Promise<boolean>;
}
