import { badRequest } from '#core/errors.ts';

/** How many a page is asked to hold; 50 when it is not said. @throws AppError `bad-request` beyond `most`. */
export function readLimit(text: string | undefined, most: number): number {
  if (text === undefined) return 50;
  const limit = /^[0-9]{1,4}$/.test(text) ? Number(text) : 0;
  if (limit < 1 || limit > most) throw badRequest(`limit must be a whole number from 1 to ${most}`);
  return limit;
}
