import type { AccountStore } from '#core/accounts.ts';
import { AppError } from '#core/errors.ts';
import { hashSecret } from '#core/secrets.ts';
import type { OwnAccount, SecondFactor, SignInResult, Visit } from '#core/sign-in.ts';
import type { Ask } from './ask.ts';
import { signInIsOver } from './library-errors.ts';
import { readSigned } from './session-cookie.ts';
import { tableOf } from './tables.ts';
import { without } from './visit-headers.ts';

/** A code is taken for its own half minute and those before and after it: until then it is remembered as used. */
const codeMs = 120_000;

type SecondFactorOfAccount = Pick<
  OwnAccount,
  'beginTwoFactor' | 'proveTwoFactor' | 'removeTwoFactor' | 'backupCodes'
>;

export interface SecondFactors extends SecondFactorOfAccount {
  signIn(visit: Visit, factor: SecondFactor): Promise<SignInResult>;
}

export function createSecondFactors({
  ask,
  store,
  key,
  now,
}: {
  readonly ask: Ask;
  readonly store: AccountStore;
  readonly key: string;
  readonly now: () => number;
}): SecondFactors {
  const nameOf = (personId: string, code: string) => `code ${personId} ${code}`;

  /** Whether this browser's sign-in, which waits for its second factor, is with a code that was taken before. */
  const wasUsed = async ({ origin, cookie = '' }: Visit, code: string) => {
    const challenge = readSigned(cookie, { origin, name: 'two_factor' }, key);
    if (challenge === undefined) return false;
    const waiting = { column: 'identifier', operator: '=', value: hashSecret(challenge), or: false } as const;
    const [found] = await store.rows.select(tableOf.verification, [waiting], { limit: 1 });
    return found !== undefined && (await store.wasTaken(nameOf(String(found.value), code), now()));
  };

  /** False when the code was taken before. */
  const takeCode = (personId: string, code: string) =>
    store.takeOnce(nameOf(personId, code), { at: now(), until: now() + codeMs });

  return {
    async signIn(visit, { code, kind, trustDevice }) {
      // Asked before the library is, which ends this sign-in with a right code: the next code must still be good for it.
      if (kind === 'totp' && (await wasUsed(visit, code)))
        throw new AppError('unauthorized', 'this code was used already: wait for the next one');
      const question = { body: { code, trustDevice }, returnHeaders: true } as const;
      // With a session the library would take the code for a proof of it, and not count how often it was wrong.
      const { headers, response } = await ask(without(visit, 'session_token'), (api, own) =>
        kind === 'totp'
          ? api.verifyTOTP({ ...question, headers: own })
          : api.verifyBackupCode({ ...question, headers: own }),
      );
      const personId = response.user.id;
      if (kind === 'totp' && !(await takeCode(personId, code))) {
        const made = await store.findSession(hashSecret(response.token ?? ''), now());
        if (made) await store.endSession(personId, made.session.id);
        // Somebody came with the same code at the same moment.
        throw signInIsOver();
      }
      return { cookies: headers.getSetCookie(), personId, twoFactor: false };
    },

    async beginTwoFactor(visit, password) {
      const begun = await ask(visit, (api, headers) =>
        api.enableTwoFactor({ body: { password, method: 'totp' }, headers }),
      );
      if (!('totpURI' in begun)) throw new Error('the second factor that was begun has no secret');
      return { totpUri: begun.totpURI, backupCodes: begun.backupCodes };
    },

    async proveTwoFactor(visit, code) {
      const { headers, response } = await ask(visit, (api, own) =>
        api.verifyTOTP({ body: { code }, headers: own, returnHeaders: true }),
      );
      // Seen once, it signs in nobody. Whether it was taken before is no matter: whoever comes with it is signed in.
      await takeCode(response.user.id, code);
      return { cookies: headers.getSetCookie() };
    },

    async removeTwoFactor(visit, password) {
      const { headers } = await ask(visit, (api, own) =>
        api.disableTwoFactor({ body: { password }, headers: own, returnHeaders: true }),
      );
      return { cookies: headers.getSetCookie() };
    },

    async backupCodes(visit, password) {
      const { backupCodes } = await ask(visit, (api, headers) =>
        api.generateBackupCodes({ body: { password }, headers }),
      );
      return backupCodes;
    },
  };
}
