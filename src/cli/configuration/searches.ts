/** The searches of a file, read before anything is changed. */
import { Failure } from '../failure.ts';
import type { Current } from './entries.ts';
import type { ConfigurationFile } from './file.ts';
import type { Plan } from './plan.ts';

/** For a name that only the server can know: of a deleted panel, a former rule. */
const unknownName = 'query.unknown-value';
/** A deleted level may rank above or below all others. */
const deletedLevels = [
  { name: '(highest)', rank: Number.POSITIVE_INFINITY },
  { name: '(lowest)', rank: Number.NEGATIVE_INFINITY },
];

/** @throws Failure with line and column of each new or changed search that cannot be read, whatever names the server knows. */
export async function requireReadable(plan: Plan, current: Current, file: ConfigurationFile): Promise<void> {
  const searches = [...plan.searches.created, ...plan.searches.updated];
  if (searches.length === 0) return;
  // Imported only if searches differ, because it loads the server.
  const { parseQuery } = await import('#app.ts');
  const context = contextOf(plan, current);
  const problems: Failure[] = [];
  for (const { entry, index } of searches.toSorted((a, b) => a.index - b.index)) {
    try {
      parseQuery(entry.q, context);
    } catch (error) {
      const { code, message } = error as Error & { readonly code?: string };
      if (!code?.startsWith('query.')) throw error;
      if (code === unknownName) continue;
      problems.push(file.problem(['searches', index, 'q'], message.replace(/^q: /, '')));
    }
  }
  if (problems.length > 0) throw new Failure(problems.map(({ message }) => message).join('\n'), 2);
}

/** The names that there will be. */
function contextOf({ levels, panels, rules }: Plan, current: Current) {
  const created = <T extends { readonly name: string }>(section: { created: readonly { entry: T }[] }) =>
    section.created.map(({ entry: { name } }) => ({ id: name, name, tags: [], rank: 0 }));
  return {
    now: Date.now(),
    timeZone: 'UTC',
    levels: [...current.levels, ...created(levels), ...deletedLevels],
    panels: [...current.panels, ...created(panels)],
    deletedPanels: [],
    tokens: current.tokens,
    rules: [...current.rules, ...created(rules)],
  };
}
