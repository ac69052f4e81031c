/** Passkeys (WebAuthn). The library is loaded at first use, which saves memory on an idle server. */
import type { AuthenticationResponseJSON, RegistrationResponseJSON } from '@simplewebauthn/server';
import { uuidv7 } from 'uuidv7';
import { limits } from '#contract/limits.ts';
import { AppError, badRequest, conflict, unauthorized } from '#core/errors.ts';
import { where } from '#core/people/accounts.ts';
import type { OwnAccount, PasskeyJson, SignIn, Visit } from '#core/people/sign-in.ts';
import { expiredCookie, type SignInParts } from './sessions.ts';

const table = 'passkeys';
const challengeMs = 5 * 60_000;

const tookTooLong = () => badRequest('this took too long: try again');
const failed = (cause?: unknown) =>
  new AppError('bad-request', 'the passkey could not be checked: try again', { cause });

export interface Passkeys
  extends Pick<SignIn, 'passkeyOptions' | 'withPasskey'>,
    Pick<OwnAccount, 'passkeys' | 'newPasskeyOptions' | 'addPasskey' | 'removePasskey'> {
  /** Verifies a passkey response and returns the id of the passkey's owner; does not sign in. */
  ownerOf(visit: Visit, response: PasskeyJson): Promise<string>;
}

const library = () => import('@simplewebauthn/server');

export function createPasskeys({ store, sessions, pending, now }: SignInParts): Passkeys {
  const { rows } = store;
  const challengeCookie = async (visit: Visit, kind: 'passkey' | 'new passkey', challenge: string) => {
    const token = await pending.create(kind, challenge, challengeMs);
    return [sessions.cookie(visit.origin, 'passkey', token, challengeMs)];
  };
  const takeChallenge = async (visit: Visit, kind: 'passkey' | 'new passkey') => {
    const token = sessions.readCookie(visit, 'passkey');
    const challenge = token === undefined ? undefined : await pending.take(kind, token);
    if (challenge === undefined) throw tookTooLong();
    return challenge;
  };
  /** Checked first, so that the device creates none that is then refused. */
  const requireRoom = async (personId: string) => {
    if ((await rows.count(table, [where('person', personId)])) >= limits.passkeysPerPerson)
      throw conflict(`you have ${limits.passkeysPerPerson} passkeys already: remove one first`);
  };
  const bound = ({ origin }: Visit) => ({
    expectedOrigin: origin,
    expectedRPID: hostOf(origin),
    // A passkey replaces both factors, so the device must verify the person by biometrics or a PIN.
    requireUserVerification: true,
  });

  const ownerOf: Passkeys['ownerOf'] = async (visit, response) => {
    const { id } = response;
    if (typeof id !== 'string') throw badRequest('response.id must be a string');
    const expectedChallenge = await takeChallenge(visit, 'passkey');
    const [row] = await rows.select(table, [where('credential_id', id)]);
    if (!row) throw unauthorized('this passkey is not known here');
    const { verifyAuthenticationResponse } = await library();
    const { verified, authenticationInfo } = await verifyAuthenticationResponse({
      // The library validates it.
      response: response as unknown as AuthenticationResponseJSON,
      expectedChallenge,
      ...bound(visit),
      credential: {
        id,
        publicKey: Buffer.from(String(row.public_key), 'base64url'),
        counter: Number(row.counter),
      },
    }).catch((error: unknown) => {
      throw failed(error);
    });
    const person = String(row.person);
    if (!verified || !isOwnPage(response) || userOf(response) !== person) throw failed();
    // Only from the counter that was checked, so that of two uses at the same time with a copied key one fails.
    const same = [where('id', row.id as string), where('counter', row.counter as number)];
    const counted = await rows.update(table, same, { counter: authenticationInfo.newCounter });
    if (counted.length === 0) throw failed();
    return person;
  };

  return {
    ownerOf,

    async passkeyOptions(visit) {
      const { generateAuthenticationOptions } = await library();
      const options = await generateAuthenticationOptions({
        rpID: hostOf(visit.origin),
        userVerification: 'required',
      });
      const cookies = await challengeCookie(visit, 'passkey', options.challenge);
      return { cookies, options: { ...options } };
    },

    async withPasskey(visit, response) {
      const personId = await ownerOf(visit, response);
      const session = await sessions.begin(visit, personId, true);
      return { cookies: [session, expiredCookie(visit.origin, 'passkey')], personId, twoFactor: false };
    },

    async passkeys(personId) {
      const found = await rows.select(table, [where('person', personId)], 'created_at');
      return found.map(({ id, name, created_at }) => ({
        id: String(id),
        name: String(name ?? ''),
        createdAt: Number(created_at),
      }));
    },

    async newPasskeyOptions(visit) {
      const { generateRegistrationOptions } = await library();
      const { person } = await sessions.requirePerson(visit);
      await requireRoom(person.id);
      const known = await rows.select(table, [where('person', person.id)]);
      const options = await generateRegistrationOptions({
        rpName: 'Belfry',
        rpID: hostOf(visit.origin),
        userID: Buffer.from(person.id),
        userName: person.email,
        userDisplayName: person.name,
        excludeCredentials: known.map(({ credential_id }) => ({ id: String(credential_id) })),
        authenticatorSelection: { residentKey: 'required', userVerification: 'required' },
      });
      const cookies = await challengeCookie(visit, 'new passkey', `${person.id} ${options.challenge}`);
      return { cookies, options: { ...options } };
    },

    async addPasskey(visit, name, response) {
      const { verifyRegistrationResponse } = await library();
      const { person } = await sessions.requirePerson(visit);
      const [owner, expectedChallenge = ''] = (await takeChallenge(visit, 'new passkey')).split(' ');
      if (owner !== person.id) throw tookTooLong();
      const { verified, registrationInfo } = await verifyRegistrationResponse({
        response: response as unknown as RegistrationResponseJSON,
        expectedChallenge,
        ...bound(visit),
      }).catch((error: unknown) => {
        throw failed(error);
      });
      if (!verified || !isOwnPage(response)) throw failed();
      await requireRoom(person.id);
      const { credential, credentialDeviceType, credentialBackedUp, aaguid } = registrationInfo;
      if ((await rows.count(table, [where('credential_id', credential.id)])) > 0)
        throw conflict('this passkey is known already');
      const created = { id: uuidv7(), name: name.trim(), createdAt: now() };
      await rows.insert(table, {
        id: created.id,
        person: person.id,
        name: created.name,
        credential_id: credential.id,
        public_key: Buffer.from(credential.publicKey).toString('base64url'),
        counter: credential.counter,
        device_type: credentialDeviceType,
        backed_up: credentialBackedUp ? 1 : 0,
        transports: credential.transports?.join(',') ?? null,
        aaguid,
        created_at: created.createdAt,
      });
      return created;
    },

    async removePasskey(personId, id) {
      return (await rows.remove(table, [where('person', personId), where('id', id)])).length > 0;
    },
  };
}

const bytesOf = (response: PasskeyJson, name: string): Buffer => {
  const { [name]: text } = (response.response ?? {}) as Record<string, unknown>;
  return Buffer.from(typeof text === 'string' ? text : '', 'base64url');
};

/** The person for whom the device created the passkey, as `newPasskeyOptions` named them. Browsers always send it, because we name no passkeys. */
const userOf = (response: PasskeyJson): string => bytesOf(response, 'userHandle').toString('utf8');

/** Not inside a frame of a page elsewhere. Call it once the library has verified the response. */
function isOwnPage(response: PasskeyJson): boolean {
  const { crossOrigin } = JSON.parse(bytesOf(response, 'clientDataJSON').toString('utf8')) as {
    readonly crossOrigin?: unknown;
  };
  return crossOrigin === undefined || crossOrigin === false;
}

const hostOf = (origin: string) => new URL(origin).hostname;
