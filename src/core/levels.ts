import { builtInLevels } from '#contract/level-styles.ts';

export function isBuiltInLevel(name: string): boolean {
  return (builtInLevels as readonly string[]).includes(name);
}

/** Built-in levels first, as they are listed in the contract, then the others by name. */
export function compareLevels(a: { readonly name: string }, b: { readonly name: string }): number {
  const place = (name: string) => {
    const index = (builtInLevels as readonly string[]).indexOf(name);
    return index === -1 ? builtInLevels.length : index;
  };
  return place(a.name) - place(b.name) || (a.name < b.name ? -1 : a.name > b.name ? 1 : 0);
}
