import { AppError, conflict, forbidden, unauthorized } from '#core/errors.ts';
import { type AccountStore, where } from '#core/people/accounts.ts';
import type { OwnAccount, SignIn, Visit } from '#core/people/sign-in.ts';
import { findEmail } from '#core/people/sign-in-fields.ts';
import { createTrustedOutbound } from '#outbound/outbound.ts';
import { createOidc, type OidcSettings, providerId } from './oidc.ts';
import { createPasskeys } from './passkeys.ts';
import { hashNewPassword, newPerson, passwordMatches } from './passwords.ts';
import { createPending, createSessions, expiredCookie } from './sessions.ts';
import { createTwoFactor } from './two-factor.ts';

interface AccountsOptions {
  readonly store: AccountStore;
  /** Signs cookies and encrypts the secrets of authenticator apps. */
  readonly key: string;
  /** An identity provider, if people may sign in with one. */
  readonly oidc: OidcSettings | undefined;
  readonly now: () => number;
  readonly onProblem: (message: string, error: unknown) => void;
}

/** How long a sign-in or a reauthentication permits sensitive changes. */
const reauthenticationMs = 10 * 60_000;
/** The hash of no password. It is compared when there is no account, so that the response time does not reveal it. */
const noPassword = `$argon2id$v=19$m=47104,t=1,p=1$${'A'.repeat(22)}$${'A'.repeat(43)}`;

const methods = 'sign_in_methods';
const wrongSignIn = () => unauthorized('email or password is wrong');
const wrongPassword = (field = 'password') =>
  new AppError('forbidden', 'the password is wrong', { place: { pointer: `/${field}` } });

/** People's accounts: how they sign in, and what they change about it. */
export function createAccounts(options: AccountsOptions): SignIn & OwnAccount {
  const { store, key, now, onProblem } = options;
  const { rows } = store;
  const sessions = createSessions({ store, key, now, onProblem });
  const pending = createPending(rows, now);
  // `abs`, because a time may be in the future after the clock was set back.
  const isRecent = (at: number | null) => at !== null && Math.abs(now() - at) < reauthenticationMs;

  const methodOf = (person: string, provider: string) => [
    where('person', person),
    where('provider', provider),
  ];
  const passwordOf = async (person: string): Promise<string | undefined> => {
    const [row] = await rows.select(methods, methodOf(person, 'credential'));
    return row?.password_hash ? String(row.password_hash) : undefined;
  };
  /** The stored hash if it matches the password. */
  const matchPassword = async (person: string | undefined, password: string): Promise<string | undefined> => {
    const stored = person === undefined ? undefined : await passwordOf(person);
    return (await passwordMatches(stored ?? noPassword, password)) ? stored : undefined;
  };
  /** @throws AppError `forbidden` for a wrong password. */
  const confirm = async (visit: Visit, password: string) => {
    const signedIn = await sessions.requirePerson(visit);
    if ((await matchPassword(signedIn.person.id, password)) === undefined) throw wrongPassword();
    return signedIn;
  };

  const endSession = async (visit: Pick<Visit, 'origin' | 'cookie'>) => {
    const signedIn = await sessions.identify(visit);
    if (signedIn) await store.endSession(signedIn.person.id, signedIn.session.id);
  };

  const parts = { store, sessions, pending, now };
  const twoFactor = createTwoFactor(parts, { key, confirm });
  const passkeys = createPasskeys(parts);

  return {
    ...createOidc(parts, { settings: options.oidc, outbound: createTrustedOutbound(), onProblem }),
    ...passkeys,
    ...twoFactor,
    withSecondFactor: twoFactor.signIn,
    identify: sessions.identify,
    newPerson,
    newSession: (visit) => sessions.prepare(visit, false),

    async isSignedIn(sessionId) {
      return (await store.findSessionById(sessionId, now())) !== undefined;
    },

    async withPassword(visit, { email, password, remember }) {
      const address = findEmail(email);
      const person = address === undefined ? undefined : await store.findByEmail(address);
      const matched = await matchPassword(person?.id, password);
      if (matched === undefined || !person) throw wrongSignIn();
      const challenge = await twoFactor.challenge(visit, person.id, remember);
      const cookie = challenge ?? (await sessions.begin(visit, person.id, remember));
      // A password change ends existing sessions. If it happened during this sign-in, it missed the new session.
      if ((await passwordOf(person.id)) !== matched) {
        await endSession({ origin: visit.origin, cookie });
        throw wrongSignIn();
      }
      return { cookies: [cookie], personId: person.id, twoFactor: challenge !== undefined };
    },

    async signOut(visit) {
      await endSession(visit);
      return { cookies: [expiredCookie(visit.origin, 'session_token')] };
    },

    async changePassword(visit, { person: { person, session }, currentPassword, newPassword }) {
      const stored = await passwordOf(person.id);
      if (stored === undefined) throw conflict('this account has no password: an administrator can set one');
      if (!(await passwordMatches(stored, currentPassword))) throw wrongPassword('currentPassword');
      const hash = await hashNewPassword(newPassword, [person.name, person.email]);
      const { record, cookies } = sessions.prepare(visit, session.remembered);
      // False when another request changed the password in the meantime.
      if (!(await store.changePassword(person.id, { from: stored, to: hash }, record, now())))
        throw wrongPassword('currentPassword');
      return { cookies };
    },

    isReauthenticated: ({ createdAt, reauthenticatedAt }) =>
      isRecent(createdAt) || isRecent(reauthenticatedAt),

    async reauthenticationMethods(personId) {
      const has = async (method: string) => (await rows.count(methods, methodOf(personId, method))) > 0;
      const [password, passkey, provider] = await Promise.all([
        has('credential'),
        rows.count('passkeys', [where('person', personId)]),
        options.oidc !== undefined && has(providerId),
      ]);
      return { password, passkey: passkey > 0, provider };
    },

    async reauthenticate(visit, { person, session }, proof) {
      if ('password' in proof) await confirm(visit, proof.password);
      else if ((await passkeys.ownerOf(visit, proof.passkey)) !== person.id)
        throw forbidden('this passkey is somebody else’s');
      await rows.update('sessions', [where('id', session.id)], { reauthenticated_at: now() });
    },
  };
}
