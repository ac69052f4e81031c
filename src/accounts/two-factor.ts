/** One-time codes of an authenticator app (RFC 6238), and backup codes. */

import { createHmac, randomBytes } from 'node:crypto';
import { uuidv7 } from 'uuidv7';
import type { AuditDetail } from '#contract/people/audit.ts';
import { AppError, conflict, unauthorized } from '#core/errors.ts';
import { type Row, type SignedInPerson, where } from '#core/people/accounts.ts';
import { createSealer, derivedKey, randomText } from '#core/people/secrets.ts';
import type { OwnAccount, SecondFactor, SignInResult, Visit } from '#core/people/sign-in.ts';
import { expiredCookie, type SignInParts } from './sessions.ts';

const table = 'two_factors';
const stepMs = 30_000;
/** A code is accepted in its own half minute, and in the ones before and after. A used code is remembered for that time. */
const usedMs = 120_000;
const challengeMs = 10 * 60_000;
const deviceMs = 30 * 24 * 3_600_000;
/** The most wrong codes in one sign-in, and in a row over several sign-ins, before the person must wait. */
const maxFailuresInSignIn = 5;
const maxFailures = 10;
const lockMs = 15 * 60_000;
const backupCodeCount = 10;
const codeAlphabet = '23456789ABCDEFGHJKMNPQRSTUVWXYZabcdefghjkmnpqrstuvwxyz';
const base32 = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567';

const signInIsOver = () => unauthorized('this sign-in is over: begin again with your password');
const noTwoFactor = () => conflict('there is no second factor: set one up first');
/** Has a place, unlike the error of a sign-in that is over, so that a page can show it at the field. */
const badCode = (message: string) => new AppError('unauthorized', message, { place: { pointer: '/code' } });
const wrongCode = () => badCode('the code is wrong');
const locked = () =>
  new AppError('rate-limited', 'too many wrong codes: try again in a quarter of an hour', {
    retryAfterSeconds: lockMs / 1000,
  });

interface TwoFactorOptions {
  /** Secrets are encrypted with it. */
  readonly key: string;
  /** The person of a visit, once they gave their password. @throws AppError `forbidden` for a wrong one. */
  readonly confirm: (visit: Visit, password: string) => Promise<SignedInPerson>;
}

export function createTwoFactor(
  { store, sessions, pending, now }: SignInParts,
  { key, confirm }: TwoFactorOptions,
) {
  const { rows } = store;
  const secrets = createSecrets(key);
  const find = async (person: string) => (await rows.select(table, [where('person', person)]))[0];
  const usedName = (person: string, code: string) => `code ${person} ${code}`;
  /** False when the code was used before. */
  const takeCode = (person: string, code: string) =>
    store.takeOnce(usedName(person, code), { at: now(), until: now() + usedMs });

  const lock = (person: string) =>
    rows.update(table, [where('person', person)], { locked_until: now() + lockMs });

  /** Counts an attempt before the code is checked, so that parallel attempts all count. */
  const countTry = async (person: string): Promise<number> => {
    await rows.update(table, [where('person', person), where('locked_until', now(), '<=')], {
      failures: 0,
      locked_until: null,
    });
    const [row] = await rows.update(
      table,
      [where('person', person), where('locked_until', null)],
      {},
      { failures: 1 },
    );
    if (!row) throw locked();
    if (Number(row.failures) > maxFailures) {
      await lock(person);
      throw locked();
    }
    return Number(row.failures);
  };

  /** Uses up a backup code; false when the person has no such code. */
  const takeBackupCode = async (row: Row, code: string): Promise<boolean> => {
    const hashes = String(row.backup_codes);
    const codes = hashes.split(' ');
    const hash = secrets.hash(code);
    if (!codes.includes(hash)) return false;
    const left = codes.filter((each) => each !== hash).join(' ');
    const same = [where('person', row.person as string), where('backup_codes', hashes)];
    return (await rows.update(table, same, { backup_codes: left })).length > 0;
  };

  const newBackupCodes = () => {
    const codes = Array.from(
      { length: backupCodeCount },
      () => `${randomText(codeAlphabet, 5)}-${randomText(codeAlphabet, 5)}`,
    );
    return { codes, hashes: codes.map(secrets.hash).join(' ') };
  };

  const isTrusted = async (visit: Visit, person: string) => {
    const token = sessions.readCookie(visit, 'trusted_device');
    return token !== undefined && (await pending.find('device', token)) === person;
  };

  /** After a correct password: the cookie of the sign-in that waits for a code; undefined if no code is needed. */
  const challenge = async (visit: Visit, person: string, remember: boolean): Promise<string | undefined> => {
    const row = await find(person);
    if (!row?.verified || (await isTrusted(visit, person))) return undefined;
    const wasLocked = row.locked_until !== null && Number(row.locked_until) <= now();
    const failures = wasLocked ? 0 : Number(row.failures);
    const token = await pending.create('two-factor', person, challengeMs);
    const value = `${token} ${failures} ${remember ? 'remember' : 'forget'}`;
    return sessions.cookie(visit.origin, 'two_factor', value, challengeMs);
  };

  /** @throws AppError unless it is right; a code that was used before is not counted as wrong. */
  const check = async (
    row: Row,
    { code, kind }: SecondFactor,
    failuresBefore: number,
    end: () => unknown,
  ) => {
    const person = String(row.person);
    const secret = secrets.open(String(row.secret));
    if (kind === 'totp' && (await store.wasTaken(usedName(person, code), now())))
      throw badCode('this code was used already: wait for the next one');
    const failures = await countTry(person);
    if (failures - failuresBefore > maxFailuresInSignIn) {
      await end();
      throw signInIsOver();
    }
    if (kind === 'totp' ? isCode(secret, code, now()) : await takeBackupCode(row, code)) return;
    if (failures >= maxFailures) await lock(person);
    throw kind === 'totp' ? wrongCode() : badCode('the code is wrong, or was used before');
  };

  /** Shows the account's owner that somebody with the right password tried a code. */
  const noteFailure = async (id: string, detail: AuditDetail) => {
    const person = await store.find(id);
    if (!person) return;
    await store.note(id, { by: person.email, at: now(), action: 'session.refuse', subject: id, detail });
  };

  const own: Pick<OwnAccount, 'beginTwoFactor' | 'proveTwoFactor' | 'removeTwoFactor' | 'backupCodes'> = {
    async beginTwoFactor(visit, password) {
      const { person } = await confirm(visit, password);
      if ((await find(person.id))?.verified)
        throw conflict('there is a second factor already: remove it first');
      const secret = randomBytes(20);
      const { codes, hashes } = newBackupCodes();
      const fresh = { secret: secrets.seal(secret), backup_codes: hashes };
      const unproven = [where('person', person.id), where('verified', 0)];
      if ((await rows.update(table, unproven, fresh)).length === 0)
        await rows
          .insert(table, { id: uuidv7(), person: person.id, verified: 0, failures: 0, ...fresh })
          .catch(async (error: unknown) => {
            if (!(await find(person.id))) throw error;
            throw conflict('a second factor is being set up already: wait for its answer');
          });
      const label = `Belfry:${encodeURIComponent(person.email)}`;
      const totpUri = `otpauth://totp/${label}?secret=${base32Of(secret)}&issuer=Belfry&digits=6&period=30`;
      return { totpUri, backupCodes: codes };
    },

    async proveTwoFactor(visit, code) {
      const signedIn = await sessions.requirePerson(visit);
      const { person } = signedIn;
      const row = await find(person.id);
      if (!row) throw noTwoFactor();
      if (!isCode(secrets.open(String(row.secret)), code, now())) throw wrongCode();
      // Marks the code as used. A code that was used before is accepted here, because the person is already signed in.
      await takeCode(person.id, code);
      if (row.verified) return { cookies: [] };
      const { renewal, cookies } = sessions.renewal(visit, signedIn);
      if (!(await store.activateTwoFactor(person.id, String(row.secret), renewal))) throw wrongCode();
      return { cookies };
    },

    async removeTwoFactor(visit, password) {
      const signedIn = await confirm(visit, password);
      const { renewal, cookies } = sessions.renewal(visit, signedIn);
      if (!(await store.removeTwoFactor(signedIn.person.id, renewal))) throw unauthorized();
      return { cookies };
    },

    async backupCodes(visit, password) {
      const signedIn = await sessions.identify(visit);
      if (!signedIn || !(await find(signedIn.person.id))?.verified) throw noTwoFactor();
      const { person } = await confirm(visit, password);
      const { codes, hashes } = newBackupCodes();
      const inForce = [where('person', person.id), where('verified', 1)];
      if ((await rows.update(table, inForce, { backup_codes: hashes })).length === 0) throw noTwoFactor();
      return codes;
    },
  };

  return {
    ...own,
    challenge,

    async signIn(visit: Visit, factor: SecondFactor): Promise<SignInResult> {
      const { origin } = visit;
      const [token = '', failures, remember] = sessions.readCookie(visit, 'two_factor')?.split(' ') ?? [];
      const person = await pending.find('two-factor', token);
      const row = person === undefined ? undefined : await find(person);
      if (person === undefined || !row?.verified) throw signInIsOver();
      try {
        await check(row, factor, Number(failures), () => pending.take('two-factor', token));
      } catch (error) {
        await noteFailure(person, { from: visit.source, with: factor.kind });
        throw error;
      }
      const isFirst = (await pending.take('two-factor', token)) !== undefined;
      // A parallel request used the same sign-in or the same code first.
      if (!isFirst || (factor.kind === 'totp' && !(await takeCode(person, factor.code))))
        throw signInIsOver();
      await rows.update(table, [where('person', person)], { failures: 0 });
      const cookies = [
        await sessions.begin(visit, person, remember === 'remember'),
        expiredCookie(origin, 'two_factor'),
      ];
      if (factor.trustDevice)
        cookies.push(
          sessions.cookie(
            origin,
            'trusted_device',
            await pending.create('device', person, deviceMs),
            deviceMs,
          ),
        );
      return { cookies, personId: person, twoFactor: false };
    },
  };
}

/** Encrypts secrets of authenticator apps, and hashes backup codes. */
function createSecrets(key: string) {
  const sealer = createSealer(key, 'two-factor secrets');
  const hashing = derivedKey(key, 'backup codes');
  return {
    seal: (secret: Buffer): string => sealer.seal(secret),

    /** @throws AppError `conflict` when it was encrypted with another key. */
    open(text: string): Buffer {
      try {
        return sealer.open(text);
      } catch (error) {
        throw new AppError(
          'conflict',
          'this second factor was sealed with another key: put the key file back, or have an administrator remove it',
          { cause: error },
        );
      }
    },

    hash: (code: string): string => createHmac('sha256', hashing).update(code).digest('base64url'),
  };
}

/** Whether the code is that of the current half minute, or of the one before or after. */
function isCode(secret: Buffer, code: string, at: number): boolean {
  const step = Math.floor(at / stepMs);
  return [step, step - 1, step + 1].some((each) => codeOf(secret, each) === code);
}

/** RFC 6238 with SHA-1 and six digits, as every authenticator app computes it. */
function codeOf(secret: Buffer, step: number): string {
  const counter = Buffer.alloc(8);
  counter.writeBigUInt64BE(BigInt(step));
  const mac = createHmac('sha1', secret).update(counter).digest();
  const number = mac.readUInt32BE((mac.at(-1) as number) & 0xf) & 0x7fff_ffff;
  return String(number % 1_000_000).padStart(6, '0');
}

function base32Of(bytes: Buffer): string {
  const bits = Array.from(bytes, (byte) => byte.toString(2).padStart(8, '0')).join('');
  return (bits.match(/.{5}/g) ?? []).map((five) => base32[Number.parseInt(five, 2)]).join('');
}
