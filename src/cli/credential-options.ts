/** Options that tokens and keys share. */
import { InvalidArgumentError, Option } from 'commander';
import { parseDuration } from './duration.ts';

export const tenantOption = () =>
  new Option('-t, --tenant <name>', 'tenant it belongs to').default('default');

export const nameOption = () =>
  new Option('-n, --name <name>', 'what it is for, as lists and logs show it').makeOptionMandatory();

export const jsonOption = (what: string) => new Option('--json', `print JSON: ${what}`);

export const expiresOption = () =>
  new Option('--expires <duration>', 'it ends after this time: 12h, 90d, 52w (default: never)').argParser(
    readExpiry,
  );

export const allowFromOption = () =>
  new Option(
    '--allow-from <addresses>',
    'addresses or CIDR blocks it may be used from, between commas (default: any)',
  ).argParser(readList);

function readExpiry(text: string): number {
  const ms = parseDuration(text);
  if (ms === undefined || ms === 0) {
    throw new InvalidArgumentError('Write a whole number and a unit: 30s, 15m, 12h, 90d or 52w.');
  }
  if (ms > 100 * 366 * 86_400_000)
    throw new InvalidArgumentError('A hundred years is the longest; leave it out for no end.');
  return ms;
}

/** The words between commas. */
export function readList(text: string): string[] {
  const words = text.split(',').map((word) => word.trim());
  if (words.includes('')) throw new InvalidArgumentError('Write at least one, and only commas between them.');
  return words;
}

export function readName(text: string): string {
  const name = text.trim();
  if (name === '' || name.length > 100) throw new InvalidArgumentError('A name has 1 to 100 characters.');
  return name;
}

/** When something that lasts `ms` from now on ends, as the API writes times. */
export function endOf(ms: number, now: number): string {
  return new Date(now + ms).toISOString();
}
