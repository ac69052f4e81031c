import { badRequest } from './errors.ts';

/** @throws AppError `bad-request` when `timeZone` is no IANA name that this machine knows. */
export function checkTimeZone(timeZone: string, field: string): void {
  try {
    // Intl takes plain offsets too; they know no summer time, and nobody means them.
    if (!/^[A-Za-z]/.test(timeZone)) throw new RangeError();
    new Intl.DateTimeFormat('en', { timeZone });
  } catch {
    throw badRequest(
      `${field}: "${timeZone}" is no time zone; write an IANA name, as in Europe/Berlin or UTC`,
    );
  }
}
