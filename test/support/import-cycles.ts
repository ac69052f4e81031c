/** The rounds in a graph of imports, each once, as the path that leads back to its beginning. */
export function findCycles(importsOf: ReadonlyMap<string, readonly string[]>): readonly string[][] {
  const cycles: string[][] = [];
  const done = new Set<string>();
  const walk = (file: string, way: readonly string[]) => {
    const back = way.indexOf(file);
    if (back >= 0) cycles.push([...way.slice(back), file]);
    if (back >= 0 || done.has(file)) return;
    for (const next of importsOf.get(file) ?? []) walk(next, [...way, file]);
    done.add(file);
  };
  for (const file of importsOf.keys()) walk(file, []);
  return cycles;
}
