/** Whom the events of a calendar name. */
import type { OnCallPerson } from '#contract/routing/on-call.ts';
import type { CalendarEvent, Stint } from './stints.ts';

const mostErrorChars = 200;
/** A part of an address that is no secret: many paths have "calendar", and so have the errors. */
const plainWord = /^[a-z]{1,10}$/;

/** The address as it is read: webcal is HTTPS. */
export const calendarAddress = (url: string): string => url.replace(/^webcals?:/i, 'https:');

/** Why a calendar cannot be read, without addresses, the secret parts of its own, and what the file says. */
export function publicError(error: string, url: string): string {
  const address = URL.canParse(url) ? new URL(calendarAddress(url)) : undefined;
  const { pathname = '', search = '', username = '', password = '' } = address ?? {};
  const parts = pathname.split('/').filter((each) => !plainWord.test(each));
  const secrets = [...parts, ...search.split(/[?&=]/), username, password];
  const masked = secrets
    .filter((each) => each.length > 3)
    .sort((a, b) => b.length - a.length)
    .reduce((text, each) => text.replaceAll(each, '…'), error.replaceAll(/\w+:\/\/\S+/g, '…'));
  return masked.replace(/(cannot be read as iCalendar): .*/s, '$1').slice(0, mostErrorChars);
}

/** Events that name somebody. */
export function stintsOfCalendar(
  events: readonly CalendarEvent[],
  people: readonly OnCallPerson[],
): readonly Stint[] {
  const find = namesIn(people);
  return events.flatMap(({ from, until, text }) => {
    const named = find(text);
    return named.length > 0 ? [{ from, until, people: named }] : [];
  });
}

/** The titles of events that name nobody, each once. */
export function unknownTitles(
  events: readonly CalendarEvent[],
  people: readonly OnCallPerson[],
  most: number,
): string[] {
  const find = namesIn(people);
  const unknown = events.filter(({ text }) => find(text).length === 0);
  return [...new Set(unknown.map(({ text }) => text.split('\n', 1)[0] || '-'))].slice(0, most);
}

/**
 * The people whose name, other name or address is in a text as whole words. Of names that contain each other, as Ana and Ana Maria,
 * the longest counts. A name that is only a part of a mail address does not.
 */
function namesIn(people: readonly OnCallPerson[]): (text: string) => string[] {
  const known = people.flatMap(({ name, calendarNames = [] }) =>
    [name, ...calendarNames].map((each) => ({ name, each: fold(each) })),
  );
  const [addresses, names] = [true, false].map((isAddress) =>
    Map.groupBy(
      known.filter(({ each }) => each.includes('@') === isAddress),
      ({ each }) => each.match(word)?.[0] ?? '',
    ),
  );
  const cache = new Map<string, string[]>();
  return (text) => {
    const before = cache.get(text);
    if (before) return before;
    const found = new Set<string>();
    const search = (within: string, byFirstWord: Map<string, typeof known> | undefined) => {
      let left = within;
      // Only names whose first word is in the text: a schedule may have a thousand names, and a calendar as many events.
      const possible = new Set(['', ...(within.match(words) ?? [])]);
      const some = [...possible].flatMap((first) => byFirstWord?.get(first) ?? []);
      for (const { name, each } of some.sort((a, b) => b.each.length - a.each.length)) {
        const without = cut(left, each);
        if (without !== left) found.add(name);
        left = without;
      }
      return left;
    };
    search(search(fold(text), addresses).replaceAll(/(?<!\S)\S*@\S*/g, '\n'), names);
    const result = [...found];
    cache.set(text, result);
    return result;
  };
}

const fold = (text: string): string =>
  text
    .normalize('NFKC')
    .toLowerCase()
    .replaceAll(/[^\S\n]+/g, ' ')
    .trim();
const word = /[\p{L}\p{N}]+/u;
const words = /[\p{L}\p{N}]+/gu;
const isPartOfWord = (char: string | undefined): boolean => char !== undefined && word.test(char);

/** The text without each place where `name` stands as whole words. */
function cut(text: string, name: string): string {
  let result = text;
  for (let at = result.indexOf(name); at >= 0; at = result.indexOf(name, at + 1)) {
    if (isPartOfWord(result[at - 1]) || isPartOfWord(result[at + name.length])) continue;
    result = `${result.slice(0, at)}\n${result.slice(at + name.length)}`;
  }
  return result;
}
