/** Options and arguments that several commands share. */
import { InvalidArgumentError, Option } from 'commander';
import { parseDuration } from '#contract/time.ts';

export const tenantOption = () =>
  new Option('-t, --tenant <name>', 'tenant it belongs to').default('default');

export const nameOption = (what = 'what it is for, as lists and logs show it') =>
  new Option('-n, --name <name>', what).argParser(readName).makeOptionMandatory();

export const jsonOption = (what: string) => new Option('--json', `print JSON: ${what}`);

export function readName(text: string): string {
  const name = text.trim();
  if (name === '' || name.length > 100) throw new InvalidArgumentError('A name has 1 to 100 characters.');
  return name;
}

/** The words between commas, each one of `allowed`. */
export function readWords<T extends string>(text: string, allowed: readonly T[]): T[] {
  const words = readList(text);
  const unknown = words.find((word) => !(allowed as readonly string[]).includes(word));
  if (unknown !== undefined)
    throw new InvalidArgumentError(`"${unknown}" is not one of ${allowed.join(', ')}.`);
  return words as T[];
}

/** The words between commas. */
export function readList(text: string): string[] {
  const words = text.split(',').map((word) => word.trim());
  if (words.includes('')) throw new InvalidArgumentError('Write at least one, and only commas between them.');
  return words;
}

/** A time from now, in milliseconds. */
export function readTimeSpan(text: string): number {
  const ms = parseDuration(text);
  if (ms === undefined || ms === 0)
    throw new InvalidArgumentError('Write a whole number and a unit: 30s, 15m, 12h, 90d or 52w.');
  return ms;
}
