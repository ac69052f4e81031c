/** Suggests names when a search contains an unknown one. */

/** Only this many characters of a name are compared. */
const comparedChars = 64;
/** How many names are offered when none is similar. */
const offered = 5;

export interface Offer {
  /** The one similar name, otherwise some of the known names. */
  readonly nearest: readonly string[];
  /** The same as a clause for an error: starts with "; ", or is empty. */
  readonly clause: string;
}

export function offerNearest(given: string, names: readonly string[]): Offer {
  // Several deleted panels or rules may have had the same name.
  const known = [...new Set(names)];
  if (known.length === 0) return { nearest: [], clause: '' };
  const ranked = rank(given, known);
  const best = ranked[0] as { name: string; distance: number };
  if (best.distance <= Math.max(1, Math.floor(given.length / 2)))
    return { nearest: [best.name], clause: `; did you mean "${best.name}"?` };
  const nearest = ranked.slice(0, offered).map(({ name }) => name);
  const start = known.length > nearest.length ? 'the nearest are' : 'it is one of';
  return { nearest, clause: `; ${start} ${nearest.map((name) => `"${name}"`).join(', ')}` };
}

function rank(given: string, known: readonly string[]): { name: string; distance: number }[] {
  const text = [...given.toLowerCase()].slice(0, comparedChars);
  return known
    .map((name) => ({ name, distance: editDistance(text, [...name.toLowerCase()].slice(0, comparedChars)) }))
    .sort((a, b) => a.distance - b.distance);
}

/** Insertions, deletions, replacements, and swaps of neighbours (optimal string alignment). */
function editDistance(a: readonly string[], b: readonly string[]): number {
  let older: number[] = [];
  let previous = b.map((_, j) => j);
  previous.push(b.length);
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    for (let j = 1; j <= b.length; j++) {
      const same = a[i - 1] === b[j - 1];
      let cost = Math.min(
        (previous[j] as number) + 1,
        (row[j - 1] as number) + 1,
        (previous[j - 1] as number) + (same ? 0 : 1),
      );
      const swapped = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1];
      if (swapped) cost = Math.min(cost, (older[j - 2] as number) + 1);
      row.push(cost);
    }
    older = previous;
    previous = row;
  }
  return previous[b.length] as number;
}
