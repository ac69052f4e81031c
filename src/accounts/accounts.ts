import { uuidv7 } from 'uuidv7';
import type { AccountStore, SignedInPerson } from '#core/accounts.ts';
import { findEmail } from '#core/email.ts';
import { hashSecret, randomSecret } from '#core/secrets.ts';
import type { OwnAccount, SignIn, Visit } from '#core/sign-in.ts';
import { createAsk } from './ask.ts';
import { wrongPassword } from './library-errors.ts';
import { newPerson, refuseWeak } from './new-person.ts';
import { createOidc } from './oidc.ts';
import { type OidcSettings, providerId } from './oidc-settings.ts';
import { createPasskeys } from './passkeys.ts';
import { createProofs } from './proof.ts';
import { createSecondFactors } from './second-factor.ts';
import { expired, hasSessionCookie, readSigned, signedCookie } from './session-cookie.ts';
import { idleMs, touchMs } from './session-times.ts';
import { without } from './visit-headers.ts';

export interface AccountsOptions {
  readonly store: AccountStore;
  /** What cookies are signed with and second factors are sealed with. */
  readonly key: string;
  /** An identity provider, if people may sign in with one. */
  readonly oidc: OidcSettings | undefined;
  readonly now: () => number;
  readonly onProblem: (message: string, error: unknown) => void;
}

/** People's accounts over the library, which is loaded when somebody first signs in. */
export function createAccounts(options: AccountsOptions): SignIn & OwnAccount {
  const { store, key, now, onProblem } = options;
  const library = () => ({ store, key, now, onProblem });
  const ask = createAsk(library);
  const secondFactors = createSecondFactors({ ask, store, key, now });
  const passkeys = createPasskeys(ask, store);
  const oidc = createOidc(library, options.oidc);
  const proofs = createProofs({ ask, passkeys, store, now }, options.oidc && providerId);

  /** Ends what a browser was signed in with before, whoever put it there. */
  const endFormer = async (visit: Visit) => {
    const former = await identify(visit);
    if (former) await store.endSession(former.person.id, former.session.id);
  };

  const identify: SignIn['identify'] = async ({ origin, cookie }) => {
    if (!hasSessionCookie(cookie)) return undefined;
    const token = readSigned(cookie, { origin, name: 'session_token' }, key);
    if (token === undefined) return undefined;
    const found = await store.findSession(hashSecret(token), now());
    if (found) keepAlive(found);
    return found;
  };

  /** Written down now and then, and nobody waits for it. */
  const keepAlive = ({ session }: SignedInPerson) => {
    const at = now();
    if (at - session.lastSeenAt < touchMs) return;
    const expiresAt = session.remembered ? session.expiresAt : at + idleMs;
    store
      .touchSession(session.id, at, expiresAt)
      .catch((error: unknown) => onProblem('a session could not be kept', error));
  };

  return {
    ...secondFactors,
    ...passkeys,
    ...oidc,
    ...proofs,
    identify,

    async isSignedIn(sessionId) {
      return (await store.findSessionById(sessionId, now())) !== undefined;
    },

    async withPassword(visit, { email, password, remember }) {
      // An address that cannot be anybody's takes as long as one that could.
      const address = findEmail(email) ?? 'nobody@example.invalid';
      const { headers, response } = await ask(without(visit, 'session_token', 'dont_remember'), (api, own) =>
        api.signInEmail({
          body: { email: address, password, rememberMe: remember },
          headers: own,
          returnHeaders: true,
        }),
      );
      const twoFactor = 'twoFactorRedirect' in response;
      const person = await store.findByEmail(address);
      if (!person) throw wrongPassword();
      if (!twoFactor) await endFormer(visit);
      const cookies = headers.getSetCookie();
      return {
        cookies: remember ? [...cookies, expired(visit.origin, 'dont_remember')] : cookies,
        personId: person.id,
        twoFactor,
      };
    },

    async withSecondFactor(visit, factor) {
      const signedIn = await secondFactors.signIn(visit, factor);
      await endFormer(visit);
      return signedIn;
    },

    async withPasskey(visit, response) {
      const signedIn = await passkeys.withPasskey(visit, response);
      await endFormer(visit);
      return signedIn;
    },

    async fromProvider(visit, provider, query) {
      const back = await oidc.fromProvider(visit, provider, query);
      const cookie = back.cookies.map((each) => each.split(';')[0]).join('; ');
      const signedIn = await identify({ origin: visit.origin, cookie });
      if (signedIn) await endFormer(visit);
      return { ...back, personId: signedIn?.person.id };
    },

    async out(visit) {
      const { headers } = await ask(visit, (api, own) => api.signOut({ headers: own, returnHeaders: true }));
      return { cookies: headers.getSetCookie() };
    },

    async changePassword(visit, { person: { person }, currentPassword, newPassword }) {
      refuseWeak(newPassword, [person.name, person.email]);
      const { headers } = await ask(visit, (api, own) =>
        api.changePassword({
          body: { currentPassword, newPassword, revokeOtherSessions: true },
          headers: own,
          returnHeaders: true,
        }),
      );
      await store.forgetDevices(person.id);
      return { cookies: headers.getSetCookie() };
    },

    newPerson,

    newSession({ origin, source, userAgent }) {
      const token = randomSecret();
      return {
        record: {
          id: uuidv7(),
          tokenHash: hashSecret(token),
          expiresAt: now() + idleMs,
          address: source,
          userAgent: userAgent?.slice(0, 300) ?? null,
        },
        cookies: [
          signedCookie(origin, 'session_token', token, key),
          signedCookie(origin, 'dont_remember', 'true', key),
        ],
      };
    },
  };
}
