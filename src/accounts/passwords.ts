/** Passwords as they are stored: argon2id in its PHC string form, computed beside the main thread. */
import { argon2, randomBytes, timingSafeEqual } from 'node:crypto';
import { promisify } from 'node:util';
import { uuidv7 } from 'uuidv7';
import { AppError, badRequest } from '#core/errors.ts';
import type { NewPerson } from '#core/people/accounts.ts';
import { passwordProblem, readEmail } from '#core/people/sign-in-fields.ts';

/**
 * OWASP's first recommendation: 46 MiB, one pass, one lane. Of the settings that it calls equally strong, this one gives its
 * memory back at once: glibc keeps blocks of up to 32 MiB for each of its threads, once one was freed.
 * Tests lower it: their hashes took more processor time than all else that they do.
 * https://cheatsheetseries.owasp.org/cheatsheets/Password_Storage_Cheat_Sheet.html
 */
export const passwordCost = { memory: 47_104, passes: 1, parallelism: 1 };
const saltBytes = 16;
const hashBytes = 32;
/** Half of Node's thread pool, so that file access and DNS do not wait. */
const atOnce = 2;
/** People would not wait longer than this queue takes. */
const longestQueue = 50;

const derive = promisify(argon2);
const form =
  /^\$argon2id\$v=19\$m=(\d{1,7}),t=(\d{1,2}),p=(\d{1,2})\$([A-Za-z0-9+/]{11,86})\$([A-Za-z0-9+/]{22,86})$/;

let running = 0;
const waiting: (() => void)[] = [];

/** @throws AppError `unavailable` when too many wait. */
export async function hashPassword(password: string): Promise<string> {
  const salt = randomBytes(saltBytes);
  const hash = await inTurn(() =>
    derive('argon2id', { ...passwordCost, message: bytesOf(password), nonce: salt, tagLength: hashBytes }),
  );
  const { memory, passes, parallelism } = passwordCost;
  return `$argon2id$v=19$m=${memory},t=${passes},p=${parallelism}$${text(salt)}$${text(hash)}`;
}

/** Whether the password matches the stored hash; false for a malformed hash. @throws AppError as {@link hashPassword}. */
export async function passwordMatches(stored: string, password: string): Promise<boolean> {
  const [, memory, passes, parallelism, salt, hash] = form.exec(stored) ?? [];
  if (salt === undefined || hash === undefined) return false;
  const expected = Buffer.from(hash, 'base64');
  const actual = await inTurn(() =>
    derive('argon2id', {
      message: bytesOf(password),
      nonce: Buffer.from(salt, 'base64'),
      memory: Number(memory),
      passes: Number(passes),
      parallelism: Number(parallelism),
      tagLength: expected.length,
    }),
  );
  return timingSafeEqual(actual, expected);
}

/** Some keyboards write ü as u and two dots: both are the same password. */
function bytesOf(password: string): Buffer {
  return Buffer.from(password.normalize('NFC'));
}

function text(bytes: Buffer): string {
  return bytes.toString('base64').replaceAll('=', '');
}

async function inTurn<T>(work: () => Promise<T>): Promise<T> {
  if (running >= atOnce) {
    if (waiting.length >= longestQueue)
      throw new AppError('unavailable', 'too many people sign in at once; try again', {
        retryAfterSeconds: 2,
      });
    await new Promise<void>((resolve) => waiting.push(resolve));
  } else {
    running += 1;
  }
  try {
    return await work();
  } finally {
    const next = waiting.shift();
    // The next one takes over the slot, which is never free in between.
    if (next) next();
    else running -= 1;
  }
}

/** @throws AppError `bad-request` for an address or a password that is not taken. */
export async function newPerson({
  email,
  name,
  password,
  emailVerified,
}: {
  readonly email: string;
  readonly name: string;
  readonly password: string;
  readonly emailVerified: boolean;
}): Promise<NewPerson> {
  const address = readEmail(email);
  const passwordHash = await hashNewPassword(password, [name, address]);
  return { id: uuidv7(), email: address, name: name.trim(), signInWith: { passwordHash }, emailVerified };
}

/** @throws AppError `bad-request` saying why a password is not accepted. */
export async function hashNewPassword(password: string, personal: readonly string[]): Promise<string> {
  const problem = passwordProblem(password, personal);
  if (problem !== undefined) throw badRequest(`password ${problem}`);
  return hashPassword(password);
}
