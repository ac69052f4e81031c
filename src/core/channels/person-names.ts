/** How people of other systems are named here. */
const personChars = 80;
const noteChars = 500;
/** As {@link personIn} makes it with the longest name of a channel. */
const byChars = personChars + 100 + ' ()'.length;

/** A person as another system names them, and the system. Without a name: the system. */
export function personIn(system: string, name: unknown): string {
  const cleaned = typeof name === 'string' ? cleanLine(name, personChars) : '';
  return cleaned === '' ? system : `${cleaned} (${system})`;
}

/** One line without control characters, and without those that change the direction of what follows. */
function cleanLine(text: string, most: number): string {
  const line = text
    .slice(0, 4 * most)
    .toWellFormed()
    .replaceAll(/[\p{C}\p{Z}]+/gu, ' ')
    .trim();
  const characters = [...line];
  return characters.length <= most ? line : `${characters.slice(0, most - 1).join('')}…`;
}

/** Who did something, as entries of the log have it. */
export const byOf = (person: string): string => cleanLine(person, byChars);

export const noteOf = (note: string | null): string | null =>
  note === null ? null : cleanLine(note, noteChars) || null;

/** The system in a name as {@link personIn} makes it. */
export const systemOf = (by: string): string => /\(([^()]+)\)$/.exec(by)?.[1] ?? by;
