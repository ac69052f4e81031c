import { LRUCache } from 'lru-cache';
import type { AccountStore, Condition } from '#core/accounts.ts';
import { AppError } from '#core/errors.ts';
import type { OwnAccount } from '#core/sign-in.ts';
import type { Ask } from './ask.ts';
import type { Passkeys } from './passkeys.ts';
import { provenMs } from './session-times.ts';
import { tableOf } from './tables.ts';

const maxProofs = 10_000;

/**
 * That it is still the person, and not whoever found the session open or took it away. Proofs are kept in memory: after a
 * restart one is asked for again.
 */
export function createProofs(
  { ask, passkeys, store, now }: { ask: Ask; passkeys: Passkeys; store: AccountStore; now: () => number },
  provider: string | undefined,
): Pick<OwnAccount, 'isProven' | 'waysToProve' | 'prove'> {
  const proofs = new LRUCache<string, number>({ max: maxProofs });
  // A clock that was set back would make a sign-in one of the future.
  const isRecent = (at: number | undefined) => at !== undefined && Math.abs(now() - at) < provenMs;
  const has = async (table: string, where: readonly Condition[]) =>
    (await store.rows.count(table, where)) > 0;

  return {
    isProven: ({ id, createdAt }) => isRecent(createdAt) || isRecent(proofs.get(id)),

    async waysToProve(personId) {
      const own = is('person', personId);
      const byMethod = (method: string) => has(tableOf.account, [own, is('provider', method)]);
      const [password, passkey, ofProvider] = await Promise.all([
        byMethod('credential'),
        has(tableOf.passkey, [own]),
        provider !== undefined && byMethod(provider),
      ]);
      return { password, passkey, provider: ofProvider };
    },

    async prove(visit, { person, session }, proof) {
      if ('password' in proof) {
        const body = { password: proof.password };
        await ask(visit, (api, headers) => api.verifyPassword({ body, headers }));
      } else if ((await passkeys.ownerOf(visit, proof.passkey)) !== person.id)
        throw new AppError('forbidden', 'this passkey is somebody else’s');
      proofs.set(session.id, now());
    },
  };
}

function is(column: string, value: string): Condition {
  return { column, operator: '=', value, or: false };
}
