import { badRequest } from './errors.ts';

/** As mail servers take them everywhere. Other letters are not: two that look alike could be two people. */
const form = /^(?!\.)(?!.*\.\.)[a-z0-9_'+.-]*[a-z0-9_+-]@(?:[a-z0-9][a-z0-9-]*\.)+[a-z]{2,}$/;

/** The address in the one form it is kept and compared in; undefined when it is none. */
export function findEmail(text: string): string | undefined {
  const email = text.trim().replace(/[A-Z]/g, (letter) => letter.toLowerCase());
  return email.length <= 254 && form.test(email) ? email : undefined;
}

/** @throws AppError `bad-request` when it is no address that can be kept. */
export function readEmail(text: string): string {
  const email = findEmail(text);
  if (email === undefined)
    throw badRequest(
      "email must be an e-mail address in plain letters, digits and . _ - + ', as in anna@example.org",
    );
  return email;
}
