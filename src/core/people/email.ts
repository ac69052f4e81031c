import { badRequest } from '../errors.ts';

/** The form that every mail server accepts. Non-ASCII letters are excluded, because similar ones could be two people. */
const form = /^(?!\.)(?!.*\.\.)[a-z0-9_'+.-]*[a-z0-9_+-]@(?:[a-z0-9][a-z0-9-]*\.)+[a-z]{2,}$/;

/** The canonical form of an address, in which it is stored and compared; undefined when it is invalid. */
export function findEmail(text: string): string | undefined {
  const email = text.trim().replace(/[A-Z]/g, (letter) => letter.toLowerCase());
  return email.length <= 254 && form.test(email) ? email : undefined;
}

/** @throws AppError `bad-request` for an invalid address. */
export function readEmail(text: string): string {
  const email = findEmail(text);
  if (email === undefined)
    throw badRequest(
      "email must be an email address in plain letters, digits and . _ - + ', as in anna@example.org",
    );
  return email;
}
