/** Times of cron expressions. */
import { Cron } from 'croner';
import { limits } from '#contract/limits.ts';
import { badField } from '../errors.ts';

/**
 * An expression of five fields, with one space between them. As in cron, a day fits if the day of the month or that of the week
 * does, when both are named.
 *
 * @throws AppError `bad-request`, also for an expression with no time, as the 30th of February.
 */
export function checkCron(text: string, field: string): string {
  const cron = text.trim().replace(/\s+/g, ' ');
  if (cron.length > limits.cronChars || !/^[\w*/,#-]+(?: [\w*/,#-]+){4}$/.test(cron)) throw wrong(field);
  try {
    if (nextCronTime(cron, 'UTC', 0) !== undefined) return cron;
  } catch (error) {
    throw wrong(field, (error as Error).message.replace(/^CronPattern: /, ''));
  }
  throw wrong(field, 'there is no such day');
}

const wrong = (field: string, reason?: string) =>
  badField(
    field,
    `must be the five fields of cron (minute, hour, day of the month, month, day of the week), as in 0 3 * * 1-5${reason ? `: ${reason}` : ''}`,
  );

/**
 * The first time after `after`, in Unix milliseconds; undefined if there is none. A time that the wall clock skips in spring is
 * at the end of the gap or shifted by it; one that comes twice in autumn counts once, unless the hour is a wildcard.
 */
export const nextCronTime = (cron: string, timeZone: string, after: number): number | undefined =>
  new Cron(cron, { timezone: timeZone, mode: '5-part' }).nextRun(new Date(after))?.getTime();
