/** Options and arguments that several commands share. */
import { InvalidArgumentError, Option } from 'commander';

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
