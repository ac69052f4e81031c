import { uuidv7 } from 'uuidv7';
import type { NewPerson } from '#core/accounts.ts';
import { readEmail } from '#core/email.ts';
import { badRequest } from '#core/errors.ts';
import { passwordProblem } from '#core/passwords.ts';
import { hashPassword } from './passwords.ts';

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
  return { id: uuidv7(), email: address, name: name.trim(), passwordHash, emailVerified };
}

/** @throws AppError `bad-request` saying why a password is not taken. */
export async function hashNewPassword(password: string, personal: readonly string[]): Promise<string> {
  refuseWeak(password, personal);
  return hashPassword(password);
}

/** @throws AppError `bad-request` saying why a password is not taken. */
export function refuseWeak(password: string, personal: readonly string[]): void {
  const problem = passwordProblem(password, personal);
  if (problem !== undefined) throw badRequest(`password ${problem}`);
}
