import type { AccountStore, Condition } from '#core/accounts.ts';
import { badRequest } from '#core/errors.ts';
import type { OwnAccount, PasskeyJson, PasskeyRecord, SignIn, Visit } from '#core/sign-in.ts';
import type { Ask } from './ask.ts';
import type { Library } from './library.ts';
import { tableOf } from './tables.ts';
import { without } from './visit-headers.ts';

type Assertion = NonNullable<
  Parameters<Library['api']['verifyPasskeyAuthentication']>[0]
>['body']['response'];

export interface Passkeys
  extends Pick<SignIn, 'passkeyOptions' | 'withPasskey'>,
    Pick<OwnAccount, 'passkeys' | 'newPasskeyOptions' | 'addPasskey' | 'removePasskey'> {
  /** Whose passkey answered, signing in nobody. */
  ownerOf(visit: Visit, response: PasskeyJson): Promise<string>;
}

export function createPasskeys(ask: Ask, { rows, endSession }: AccountStore): Passkeys {
  const table = tableOf.passkey;
  const verify = (visit: Visit, assertion: PasskeyJson) => {
    if (typeof assertion.id !== 'string') throw badRequest('body.response.id must be string');
    return ask(without(visit, 'session_token', 'dont_remember'), (api, own) =>
      api.verifyPasskeyAuthentication({
        // Whatever it is: the library checks it.
        body: { response: assertion as unknown as Assertion },
        headers: own,
        returnHeaders: true,
      }),
    );
  };
  return {
    async passkeyOptions(visit) {
      const { headers, response } = await ask(without(visit, 'session_token'), (api, own) =>
        api.generatePasskeyAuthenticationOptions({ headers: own, returnHeaders: true }),
      );
      // The library only prefers it; without it a passkey is one factor, and stands for two here.
      const options = { ...response, userVerification: 'required' };
      return { cookies: headers.getSetCookie(), options: options as PasskeyJson };
    },

    async withPasskey(visit, assertion) {
      const { headers, response } = await verify(visit, assertion);
      return { cookies: headers.getSetCookie(), personId: response.user.id, twoFactor: false };
    },

    async ownerOf(visit, assertion) {
      const { session, user } = (await verify(visit, assertion)).response;
      await endSession(user.id, session.id);
      return user.id;
    },

    async passkeys(personId) {
      const found = await rows.select(table, [is('person', personId)], {
        order: { column: 'created_at', descending: false },
      });
      return found.map(({ id, name, created_at }) => ({
        id: String(id),
        name: String(name ?? ''),
        createdAt: Number(created_at),
      }));
    },

    async newPasskeyOptions(visit) {
      const { headers, response } = await ask(visit, (api, own) =>
        api.generatePasskeyRegistrationOptions({ query: {}, headers: own, returnHeaders: true }),
      );
      return { cookies: headers.getSetCookie(), options: response as unknown as PasskeyJson };
    },

    async addPasskey(visit, name, response) {
      const made = await ask(visit, (api, headers) =>
        api.verifyPasskeyRegistration({ body: { name: name.trim(), response }, headers }),
      );
      const { id, createdAt } = made as { id: string; createdAt: Date };
      return { id, name: name.trim(), createdAt: createdAt.getTime() } satisfies PasskeyRecord;
    },

    async removePasskey(personId, id) {
      return (await rows.remove(table, [is('person', personId), is('id', id)])).length > 0;
    },
  };
}

function is(column: string, value: string): Condition {
  return { column, operator: '=', value, or: false };
}
