/** A tenant's short name as its title suggests it: "Plant 2, Hall B" is plant-2-hall-b. */
export function shortNameOf(title: string): string {
  return title
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .slice(0, 63)
    .replace(/^-+|-+$/g, '');
}
